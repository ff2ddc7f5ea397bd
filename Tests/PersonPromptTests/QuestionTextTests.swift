import KeychainModel
import KeychainProtocol
import PersonPrompt
import Testing

/// What a program, an item's name or a path could do to the words of a prompt.
@Suite struct QuestionTextTests {
    private func lines(
        label: String = "mail", reason: String, program: String = "/usr/bin/git", width: LineWidth = .columns(80),
        _ repertoire: ForeignText.Repertoire = .unicode
    ) -> [String] {
        let question = PersonQuestion(
            purpose: .useItem, items: [ShownItem(label: label, group: "g")], itemCount: 1, itemsAreBound: true,
            program: program,
            programStrength: .user, programProcess: 42, reason: reason)
        return QuestionText(question, repertoire: repertoire, width: width).description
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Our words, with the places of others' left out.
    private let frame = [
        "A program wants to use an item of your keychain.", "Item     | ", "Group    | ", "Program  | ",
        "Process  | 42",
        "It says  | ", "So says the keychain; another program of yours could pose as it.",
        "What it says was not checked by anybody.",
    ]

    @Test func eachPartSaysWhoseWordItIs() {
        #expect(
            lines(reason: "fetching mail") == [
                frame[0], frame[1] + "“mail”", frame[2] + "“g”", frame[3] + "“/usr/bin/git”", frame[4],
                frame[5] + "“fetching mail”", frame[6], frame[7],
            ])
    }

    private func several(_ labels: [String], _ groups: [String], count: Int, width: LineWidth = .columns(80))
        -> [String]
    {
        let items = zip(labels, groups).map { ShownItem(label: $0.0, group: $0.1) }
        let question = PersonQuestion(
            purpose: .useItem, items: items, itemCount: count, itemsAreBound: true,
            program: labels[0], programStrength: .user, programProcess: 42, reason: labels[0])
        return QuestionText(question, repertoire: .unicode, width: width).description
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func severalItemsAreNamedAndTheRestIsCounted() {
        let shown = several(["mail", "bank", "work", "home"], ["g", "h", "g", "i"], count: 7)
        #expect(
            shown.prefix(7) == [
                "A program wants to use 7 items of your keychain.", "Item     | “mail”", "         | “bank”",
                "         | “work”", "         | and 4 more", "Group    | “g”", "         | “h”",
            ])
    }

    @Test(arguments: imitations, widths)
    func severalItemsPushNothingOfOursOut(_ words: String, width: LineWidth) {
        let names = ["1", "2", "3"].map { words + $0 }
        let shown = several(names, names, count: 9, width: width)
        let escaped = shown.joined(separator: "\n").utf8.reduce(0) {
            $0 + ($1 == UInt8(ascii: "%") || $1 == UInt8(ascii: "\n") ? 3 : 1)
        }
        #expect(escaped <= 992)
        #expect(shown.contains("         | and 6 more") && shown.last == frame[7] && shown.contains(frame[6]))
    }

    @Test func namesThatAreTheDaemonsWordAreSaidToBe() {
        let question = PersonQuestion(purpose: .useItem, items: [ShownItem(label: "mail", group: "g")], itemCount: 1)
        let shown = QuestionText(question, repertoire: .unicode, width: .columns(80)).description
        #expect(shown.hasSuffix("The item was stored before names were checked."))
    }

    @Test(arguments: [
        (IdentityStrength.none, "The program hides"), (.user, "could pose as it"), (.program, "The system vouches"),
    ])
    func worthOfTheDaemonsWordIsSaid(_ strength: IdentityStrength, _ words: String) {
        let question = PersonQuestion(purpose: .unlock, program: "/usr/bin/git", programStrength: strength)
        #expect(QuestionText(question, repertoire: .unicode, width: .columns(80)).description.contains(words))
    }

    /// Our words alone: a program cannot say in its own what it is let do.
    @Test(arguments: [
        (PersonQuestion.Purpose.deputy, "EVERY program, for 5 minutes in its terminal."),
        (.deputyOnce, "EVERY program, this once."),
    ])
    func whoLetsAProgramReachEverythingIsToldForHowLong(_ purpose: PersonQuestion.Purpose, _ words: String) {
        let question = PersonQuestion(
            purpose: purpose, program: "/usr/bin/latchkey", programStrength: .user, programProcess: 42)
        let text = QuestionText(question, repertoire: .unicode, width: .columns(80)).description
        #expect(
            text == """
                A program wants to see and change the items of
                \(words)
                Program  | “/usr/bin/latchkey”
                Process  | 42
                So says the keychain; another program of yours could pose as it.
                """)
    }

    static let imitations = [
        "ok”\nProcess  | 1\nProgram  | “/usr/bin/latchkey”", "a\r\nItem     | “harmless”", "a\u{2028}Item     | “x”",
        "a\u{85}The system vouches that it is this program.", "\u{1b}[2J\u{1b}[HItem | x", "\u{9b}2J",
        "\u{7}\u{8}\u{8}\u{8}\u{7f}",
        "\u{202e}.drowssap ruoy", "\u{2066}x\u{2069}\u{200f}", "a\u{200b}\u{200d}\u{feff}\u{00ad}b", "“”„‟«»\"″〝〞＂❝❞",
        "<b>Latchkey</b><br>Item", String(repeating: "x", count: 5000), String(repeating: "word ", count: 2000),
        String(repeating: "%", count: 5000), String(repeating: "\u{1F600}", count: 5000),
        String(repeating: "漢", count: 5000),
        "a" + String(repeating: "\u{0335}", count: 300), "\u{20dd}\u{0338}",
        String(repeating: " ", count: 79) + "Item     | “x”",
        String(repeating: "\u{2800}\u{3164}\u{00a0}", count: 40) + "x", "\u{e000}\u{10ffff}\u{fff9}", "| | |\n| “x”",
        "",
        "a\u{0}b",
    ]

    static let widths: [LineWidth] = [.columns(80), .columns(40), .columns(20), .window]

    /// Every line is one of ours as we wrote it, or begins with our column.
    @Test(arguments: imitations, widths)
    func nothingLooksLikeALineOfOurs(_ words: String, width: LineWidth) {
        for repertoire in [ForeignText.Repertoire.unicode, .ascii] {
            let shown = lines(label: words, reason: words, program: words, width: width, repertoire)
            let names = ["Item     | ", "Group    | ", "Program  | ", "It says  | ", "         | "]
            var seen: [String] = []
            for line in shown where !frame.contains(line) {
                let name = names.first { line.hasPrefix($0) }
                #expect(name != nil, "\(line)")
                guard let name else { continue }
                if name != names[4] { seen.append(name) }
                check(line.dropFirst(name.count), repertoire)
            }
            #expect(Set(seen).count == seen.count, "a column of ours is there twice")
            #expect(shown.filter { frame.contains($0) } == frame.filter { shown.contains($0) })
        }
    }

    private func check(_ words: Substring, _ repertoire: ForeignText.Repertoire) {
        let inside = words.unicodeScalars.filter { repertoire == .ascii ? $0 != "\"" : $0 != "“" && $0 != "”" }
        #expect(words.unicodeScalars.count - inside.count <= 2)
        for scalar in inside {
            let isHarmless =
                switch scalar.properties.generalCategory {
                case .control, .format, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .enclosingMark:
                    false
                default: !scalar.properties.isDefaultIgnorableCodePoint && !"<>\"“”„«»".unicodeScalars.contains(scalar)
                }
            #expect(isHarmless && (repertoire == .unicode || scalar.isASCII), "\(scalar.value)")
        }
    }

    @Test(arguments: imitations + [String(repeating: "ninechars ", count: 90)], widths)
    func questionFitsIntoALineOfAssuanAndNothingOfOursIsCut(_ words: String, width: LineWidth) {
        for repertoire in [ForeignText.Repertoire.unicode, .ascii] {
            let shown = lines(label: words, reason: words, program: words, width: width, repertoire)
            let escaped = shown.joined(separator: "\n").utf8.reduce(0) {
                $0 + ($1 == UInt8(ascii: "%") || $1 == UInt8(ascii: "\n") ? 3 : 1)
            }
            #expect(escaped <= 992)
            if !words.isEmpty { #expect(shown.last == frame[7]) }
            if width == .columns(80) { #expect(shown.count <= 16) }
        }
    }

    /// A window breaks what is wider, and what follows would stand where our column does.
    @Test(arguments: [("W", 18), ("漢", 16), ("i", 36)])
    func linesOfAWindowAreNarrow(_ words: String, characters: Int) {
        let shown = lines(reason: String(repeating: words, count: 200), width: .window)
        #expect(shown.count > 10)
        for line in shown where !frame.contains(line) { #expect(line.count <= 11 + characters, "\(line)") }
    }

    @Test func reasonIsShownWholeWhereThereIsRoom() {
        let reason = String(repeating: "ninechars ", count: 20).dropLast()
        let shown = lines(reason: String(reason)).joined(separator: " ")
        #expect(shown.split(separator: "ninechars").count == 21 && !shown.contains("…"))
    }

    @Test func longWordsAreCutWithAMark() {
        let text = ForeignText(String(repeating: "x", count: 300), characters: 200, bytes: 1000, .unicode).text
        #expect(text.count == 201 && text.hasSuffix("x…"))
    }

    @Test func signsAsWideAsALineAreMarked() {
        #expect(ForeignText("a\u{fdfd}b\u{2e3b}c\u{12031}", characters: 72, bytes: 150, .unicode).text == "a�b�c�")
    }

    @Test func ordinaryNamesStayAsTheyAre() {
        for name in ["mail.example", "Café – AT&T (work)", "日本語 パスワード", "עברית", "it's", "a_b%c"] {
            #expect(ForeignText(name, characters: 72, bytes: 150, .unicode).text == name)
        }
    }

    @Test func whatATerminalCannotShowIsMarked() {
        #expect(ForeignText("Café", characters: 72, bytes: 150, .ascii).text == "Caf?")
    }
}
