import Foundation
import KeychainPlatform
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// The finder as a machine without a terminal.
@Suite struct FinderTests {
    private func finder(_ entries: String..., typing text: String = "") -> Finder {
        var finder = Finder(entries)
        for character in text { _ = finder.handle(.key(.text(String(character)))) }
        return finder
    }

    @Test func typingNarrowsAndErasingWidens() {
        var finder = finder("mail/alice", "Mail/bob", "bank", typing: "mai")
        #expect(finder.found == [0, 1])
        _ = finder.handle(.key(.text(" b")))
        #expect(finder.found == [1] && finder.choice == 1)
        _ = finder.handle(.key(.erase))
        #expect(finder.found == [0, 1] && finder.query == "mai ")
        _ = finder.handle(.key(.eraseAll))
        #expect(finder.found == [0, 1, 2] && finder.handle(.key(.erase)) == .draw)
    }

    @Test func theChoiceStaysInTheListAndInSight() {
        var finder = finder("a", "b", "c", "d", "e")
        _ = finder.handle(.resized(columns: 40, rows: 4))
        #expect(finder.handle(.key(.up)) == .draw && finder.choice == 0)
        for _ in 0..<9 { _ = finder.handle(.key(.down)) }
        #expect(finder.choice == 4)
        #expect(finder.screen == ["find: ", "  d", "> e", "5 of 5  Enter shows, Ctrl-Y copies, Esc "])
        _ = finder.handle(.key(.pageUp))
        #expect(finder.choice == 2 && finder.screen[1] == "> c")
    }

    @Test func enterRevealsAndAnyKeyOrTheTimeHides() {
        for event in [Finder.Event.key(.text("x")), .key(.leave), .timeUp, .resized(columns: 80, rows: 24)] {
            var finder = finder("a", "b")
            _ = finder.handle(.key(.down))
            #expect(finder.handle(.key(.enter)) == .reveal(1))
            #expect(finder.handle(event) == .draw)
            #expect(finder.query == "")
            #expect(finder.handle(.key(.leave)) == .leave)
        }
    }

    @Test func whereNothingMatchesNothingIsRevealedOrCopied() {
        var finder = finder("a", typing: "zz")
        #expect(finder.choice == nil && finder.screen[1].contains("nothing"))
        #expect(finder.handle(.key(.enter)) == .nothing && finder.handle(.key(.copy)) == .nothing)
        #expect(finder.handle(.timeUp) == .nothing)
    }

    @Test func linesAreCutByColumnsAndNoCharacterIs() {
        var finder = finder("銀行口座/日本太郎の口座", "mail/e\u{301}e\u{301}e\u{301}", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "ab銀行口座/日本太郎の口座")
        _ = finder.handle(.resized(columns: 20, rows: 8))
        // 18 columns beside the mark: nine of two; an odd one stays empty.
        #expect(
            finder.screen.dropFirst().dropLast() == [
                "> 銀行口座/日本太郎", "  mail/e\u{301}e\u{301}e\u{301}", "  👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "  ab銀行口座/日本太",
            ])
        for line in finder.screen { #expect(TextColumns.count(line) <= 20) }
    }

    @Test func theCursorStandsBehindWhatIsTypedAndItsEndIsSeen() {
        var finder = finder("a", typing: "日本")
        _ = finder.handle(.resized(columns: 20, rows: 4))
        #expect(finder.screen[0] == "find: 日本" && finder.cursorColumn == 11)
        for character in "語0123456789" { _ = finder.handle(.key(.text(String(character)))) }
        // 13 columns: ten digits and one letter of two.
        #expect(finder.screen[0] == "find: 語0123456789" && finder.cursorColumn == 19)
        _ = finder.handle(.key(.text("語")))
        #expect(finder.screen[0] == "find: 0123456789語" && finder.cursorColumn == 19)
        _ = finder.handle(.key(.text("x")))
        #expect(finder.screen[0] == "find: 0123456789語x" && finder.cursorColumn == 20)
    }

    @Test func eachKeyLooksOnlyAtWhatMatchedBefore() {
        var finder = Finder((0..<10_000).map { "service-\($0)/account-\($0 % 7)" })
        var found = finder.found.count
        for letter in ["9", "9", "9", "/"] {
            let before = finder.looks
            _ = finder.handle(.key(.text(letter)))
            #expect(finder.looks - before == found)
            found = finder.found.count
        }
        #expect(found == 10)
        let before = finder.looks
        for key in [FinderKey.erase, .down, .up, .pageDown, .eraseAll] { _ = finder.handle(.key(key)) }
        #expect(finder.looks == before && finder.screen.count == 24)
    }

    @Test func keysComeOfBytesInAnyPieces() {
        let bytes: [UInt8] = Array("aé\u{1b}[A\u{1b}[B\u{1b}OA\u{1b}[6~\r\u{7f}\u{19}\u{3}\u{1b}[1;5C".utf8)
        let expected: [FinderKey] = [
            .text("a"), .text("é"), .up, .down, .up, .pageDown, .enter, .erase, .copy, .leave,
        ]
        for size in 1...bytes.count {
            var keys = FinderKeys()
            var found: [FinderKey] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                found += keys.take(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(found == expected && !keys.isWaiting)
        }
        var alone = FinderKeys()
        #expect(alone.take([0x1b]).isEmpty && alone.isWaiting && alone.end() == [.leave] && !alone.isWaiting)
        #expect(alone.take([0x1b, 0x1b]) == [.leave])
    }
}

/// The bytes of a terminal as keys.
@Suite struct FinderKeyTests {
    private func keys(_ pieces: String...) -> [FinderKey] {
        var reader = FinderKeys()
        return pieces.flatMap { reader.take(Array($0.utf8)) }
    }

    /// Its line end would show a secret.
    @Test func whatIsPastedIsTextAlone() {
        let pasted = keys("\u{1b}[200~ab\r\ncd\u{19}\u{1b}[B\u{1b}[201~\r")
        #expect(pasted == ["a", "b", "c", "d"].map { .text($0) } + [.enter])
        #expect(keys("\u{1b}[20", "0~x\r", "\u{1b}[201~", "\u{3}") == [.text("x"), .leave])
        // Nothing came for a while, in the middle of the mark.
        var slow = FinderKeys()
        #expect(slow.take(Array("\u{1b}[200~x\u{1b}".utf8)) == [.text("x")])
        #expect(slow.end().isEmpty)
        #expect(slow.take(Array("[201~\r".utf8)) == [.enter])
    }

    /// It would leave, and the rest of what is typed would be the shell's.
    @Test func aLetterWithAltIsNoKey() {
        #expect(keys("\u{1b}xa") == [.text("a")])
        #expect(keys("\u{1b}öb") == [.text("b")])
        #expect(keys("\u{1b}\r").first == .leave)
        #expect(keys("\u{1b}\u{1b}", "a") == [.leave])
    }
}

/// The finder of the real program on a pseudo-terminal.
@Suite struct FinderEndToEndTests {
    let programs: BuiltPrograms
    let terminal: PseudoTerminal

    init() throws {
        programs = try BuiltPrograms()
        terminal = try PseudoTerminal()
        for account in ["alice", "bob"] {
            try programs.latchkey("set", "mail", account, input: Data("hunter2-\(account)".utf8))
        }
    }

    private func start(of count: Int = 2) throws -> TestProcess {
        let process = try terminal.start(
            programs, arguments: [], changing: ["TERM": "xterm", "SSH_TTY": "/dev/pts/x"])
        #expect(terminal.shows("\(count) of \(count)"))
        return process
    }

    private func expectRestored() {
        #expect(terminal.shows("\u{1b}[?1049l"))
        #expect(terminal.shown.hasPrefix("\u{1b}[?1049h"))
        #expect(terminal.echoes)
    }

    @Test func aSecretIsShownOnRequestAndGoneAfterwards() throws {
        let process = try start()
        #expect(!terminal.echoes)
        terminal.type("bo")
        #expect(terminal.shows("1 of 2"))
        #expect(!terminal.shown.contains("hunter2"))
        terminal.type("\r")
        #expect(terminal.shows("hunter2-bob"))
        #expect(!terminal.shown.contains("hunter2-alice"))
        terminal.type(" ")
        #expect(BuiltPrograms.eventually { terminal.shows("hunter2-bob\u{1b}[?7l\u{1b}[Hfind: bo\u{1b}[K") })
        terminal.type("\u{1b}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        expectRestored()
        // Each screen after it is drawn over what was there and emptied below.
        let after = try #require(terminal.shown.components(separatedBy: "hunter2-bob").last)
        #expect(after.contains("\u{1b}[J") && !after.contains("hunter2"))
    }

    @Test func arrowsChooseAndControlYCopies() throws {
        let process = try start()
        terminal.type("\u{1b}[B")
        #expect(terminal.shows("> mail/bob"))
        terminal.type("\u{19}")
        #expect(terminal.shows("\u{1b}]52;c;aHVudGVyMi1ib2I=\u{7}"))
        #expect(terminal.shows("The terminal was asked to copy it for 30 s"))
        terminal.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && !terminal.shown.contains("hunter2"))
        expectRestored()
    }

    @Test func ofAOneTimeSecretTheCodeIsShown() throws {
        try programs.latchkey("set", "totp", "carol (otp)", input: Data("GEZDGNBVGY3TQOJQ".utf8))
        let process = try start(of: 3)
        terminal.type("caro")
        #expect(terminal.shows("1 of 3"))
        terminal.type("\r")
        #expect(terminal.shows("(any key hides it)"))
        #expect(
            BuiltPrograms.eventually {
                let code = terminal.shown.components(separatedBy: "hides it)").last?.filter(\.isNumber) ?? ""
                return code.count == 6
            })
        #expect(!terminal.shown.contains("GEZD"))
        terminal.type(" \u{3}")
        process.waitUntilExit()
    }

    @Test(arguments: ["TERM", "HUP", "INT"])
    func aSignalRestoresTheTerminal(name: String) throws {
        let process = try start()
        terminal.type("\r")
        #expect(terminal.shows("hunter2-alice"))
        // The shell around it is the parent of the one that is meant.
        let child = "ps -o pid= --ppid"
        let parent = process.processIdentifier
        try programs.shell("kill -\(name) $(\(child) $(\(child) \(parent)) || \(child) \(parent))")
        process.waitUntilExit()
        #expect(process.terminationStatus > 128)
        expectRestored()
    }

    @Test func wideNamesAreCutAtTheEdgeAndTheCursorStandsBehindWhatIsTyped() throws {
        let narrow = try PseudoTerminal(columns: 20, rows: 8)
        try programs.latchkey("set", "銀行口座", "日本太郎の口座", input: Data("hunter2".utf8))
        try programs.latchkey("set", "銀", "👩‍👩‍👧‍👦e\u{301}", input: Data("hunter2".utf8))
        let process = try narrow.start(programs, arguments: [], changing: ["TERM": "xterm"])
        #expect(narrow.shows("  銀/👩‍👩‍👧‍👦e\u{301}\u{1b}[K"))
        #expect(narrow.shows("  銀行口座/日本太郎\u{1b}[K") || narrow.shows("> 銀行口座/日本太郎\u{1b}[K"))
        #expect(narrow.shows("\u{1b}[J\u{1b}[1;7H"))
        // A letter in three pieces.
        for byte in Array("銀".utf8) { narrow.type([byte]) }
        #expect(narrow.shows("find: 銀\u{1b}[K") && narrow.shows("2 of 4"))
        #expect(narrow.shows("\u{1b}[J\u{1b}[1;9H"))
        narrow.type("\u{7f}")
        #expect(narrow.shows("\u{1b}[J\u{1b}[1;7H", times: 2))
        narrow.type("\u{1b}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && !narrow.shown.contains("太郎の"))
    }

    /// What a program chose as a name reaches the terminal as letters alone.
    @Test func aNameDisturbsNothing() throws {
        let evil =
            "x\u{1b}[2J\u{9b}31m\u{202e}txt\u{2066}\u{200b}\u{200d}\r\n\u{7}" + String(repeating: "\u{301}", count: 40)
        try programs.latchkey("set", evil, "\u{301}bob", input: Data("hunter2".utf8))
        let process = try start(of: 3)
        terminal.type("txt")
        #expect(terminal.shows("1 of 3"))
        terminal.type("\r")
        #expect(terminal.shows("hunter2"))
        terminal.type("\u{1b}\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let shown = "x\\u{1b}[2J\\u{9b}31m\\u{202e}txt\\u{2066}\\u{200b}\\u{200d}\\u{d}\\u{a}\\u{7}\\u{301}"
        #expect(terminal.shown.contains(shown))
        // Escapes are the finder's own.
        let own = ["[?1049h", "[?2004h", "[?2004l", "[?7l", "[?7h", "[H", "[J", "[K", "[1;", "[?1049l"]
        for part in terminal.shown.components(separatedBy: "\u{1b}").dropFirst() {
            #expect(own.contains { part.hasPrefix($0) }, "\(part.prefix(8).debugDescription)")
        }
        for scalar in terminal.shown.unicodeScalars where !"\u{1b}\r\n".unicodeScalars.contains(scalar) {
            #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(scalar.value)")
        }
    }

    /// A long token is no use where its end lies over the edge.
    @Test func aSecretIsShownToItsEnd() throws {
        let narrow = try PseudoTerminal(columns: 20, rows: 8)
        try programs.latchkey("set", "token", input: Data(String(repeating: "0123456789", count: 9).utf8))
        let process = try narrow.start(programs, arguments: [], changing: ["TERM": "xterm"])
        #expect(narrow.shows("3 of 3"))
        narrow.type("tok")
        #expect(narrow.shows("1 of 3"))
        narrow.type("\r")
        // With the terminal's own breaking of lines, so that it is copied as one.
        #expect(narrow.shows("\u{1b}[?7htoken  (any key hides it) " + " " + String(repeating: "0123456789", count: 9)))
        narrow.type("x")
        #expect(narrow.shows("0123456789\u{1b}[?7l\u{1b}[Hfind: tok"))
        narrow.type("\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func onAnythingElseItIsTheHelp() throws {
        #expect(try programs.latchkey().text.contains("SUBCOMMANDS"))
        let process = try terminal.start(programs, arguments: [], changing: ["TERM": "dumb"])
        #expect(terminal.shows("SUBCOMMANDS"))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && !terminal.shown.contains("\u{1b}"))
    }
}
