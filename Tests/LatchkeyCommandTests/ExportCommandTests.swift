import Foundation
import KeychainClient
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import LatchkeyTransfer
import Testing

/// `latchkey export` on a keychain in memory, with a passphrase that is cheap to try.
@Suite struct ExportCommandTests {
    private let keychain = FakeKeychain()
    private let folder: TemporaryDirectory
    private var file: String { folder.path("out") }

    init() throws { folder = try TemporaryDirectory() }

    private func run(
        _ arguments: String..., on keychain: FakeKeychain? = nil, typed: String? = nil,
        console: RecordingConsole? = nil
    ) throws -> CommandRun {
        let cost = try #require(PassphraseCost(passes: 1, kibibytes: 8))
        return CommandRun(
            list: arguments, on: keychain ?? self.keychain,
            console: console ?? RecordingConsole(inputTerminal: typed != nil, typed: typed),
            transfer: KeychainTransfer(cost: cost))
    }

    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file))) }

    private func plant() {
        keychain.plant(
            .genericPassword, ["agrp": .string("latchkey"), "svce": .string("mail"), "acct": .string("alice")],
            "CANARY-one")
        keychain.plant(
            .internetPassword,
            [
                "agrp": .string("latchkey"), "srvr": .string("a.example"), "acct": .string("bob"),
                "port": .integer(8443),
                "ptcl": .string("htps"), "path": .string("/x"), "labl": .string("Tïtle\n"), "gena": .data([0, 255]),
                "icmt": .data([1, 2, 3]),
            ], "CANARY-two\u{0}\n")
    }

    @Test func exportReadsBackLosslessly() throws {
        plant()
        #expect(try run("export", file, typed: "words").status == .done)
        let other = FakeKeychain()
        #expect(try run("import", file, on: other, typed: "words").status == .done)
        #expect(other.items.count == 2)
        for item in keychain.items {
            let back = try #require(other.items.first { $0.itemClass == item.itemClass })
            for (code, value) in item.attributes where code != "gena" {
                #expect(back.attributes[code] == value, "\(code)")
            }
            #expect(back.value?.bytes.insecureArray() == item.value?.bytes.insecureArray())
        }
    }

    @Test func fileHoldsNoSecretAndIsOurs() throws {
        plant()
        _ = try run("export", file, typed: "words")
        let text = String(decoding: try content(), as: UTF8.self)
        #expect(text.hasPrefix("LKEXPORT") && !text.contains("CANARY") && !text.contains("alice"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out"])
    }

    @Test func wrongPassphraseSaysSo() throws {
        plant()
        _ = try run("export", file, typed: "words")
        let outcome = try run("import", file, typed: "other")
        #expect(outcome.status == .usage && outcome.notes.first?.contains("passphrase is another one") == true)
    }

    @Test func emptyPassphraseAndTwoDifferentOnesWriteNothing() throws {
        #expect(try run("export", file, typed: "").status == .usage)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try run("export", file, console: RecordingConsole(typed: "x")).status == .locked)
    }

    @Test func whatIsThereIsReplacedOnlyWhereAsked() throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try run("export", file, typed: "words").status == .usage)
        #expect(try content() == Array("mine".utf8))
        #expect(try run("export", "--replace", file, typed: "words").status == .done)
        #expect(try content().starts(with: Array("LKEXPORT".utf8)))
    }

    @Test(arguments: ["/dev/tty", "/dev/null", "/tmp"]) func targetThatIsNoFileIsRefused(_ path: String) throws {
        #expect(try run("export", path, "--replace", typed: "words").status == .usage)
    }

    @Test func passphraseGivenAsAnArgumentIsNotRepeated() throws {
        for arguments in [
            ["export", "f", "CANARY"], ["import", "f", "CANARY"], ["export", "f", "--passphrase-fd", "CANARY"],
        ] {
            let outcome = CommandRun(list: arguments, on: keychain, console: RecordingConsole())
            #expect(outcome.status == .usage)
            #expect(!outcome.notes.joined().contains("CANARY") && outcome.text.isEmpty)
        }
    }

    // MARK: In the clear

    @Test func plaintextIsWrittenAfterTheWordYes() throws {
        plant()
        #expect(try run("export", "--insecure-plaintext", file, typed: "y").status == .usage)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try run("export", "--insecure-plaintext", file, typed: "yes").status == .done)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let other = FakeKeychain()
        #expect(try run("import", file, on: other).status == .done)
        #expect(other.items.count == 2)
    }

    @Test func plaintextWithoutAPersonNeedsAWord() throws {
        #expect(try run("export", "--insecure-plaintext", file).status == .usage)
        #expect(try run("export", "--insecure-plaintext", "--yes", file).status == .done)
    }

    @Test func terminalIsRefused() throws {
        plant()
        let console = RecordingConsole(terminal: true, typed: "yes")
        #expect(try run("export", "--insecure-plaintext", "-", console: console).status == .usage)
        #expect(console.output.isEmpty)
    }

    @Test func cutPlaintextIsNoticed() throws {
        plant()
        _ = try run("export", "--insecure-plaintext", "--yes", file)
        var lines = String(decoding: try content(), as: UTF8.self).split(separator: "\n")
        lines.removeLast()
        lines[1] = "broken"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try run("import", "--json", file, on: FakeKeychain())
        #expect(outcome.status == .noMatch)
        #expect(outcome.text.contains(#"{"place":"line 2","reason":"this is no JSON"}"#))
        #expect(outcome.text.contains("the end of the file is missing") && outcome.text.contains(#""added":1"#))
    }

    @Test func newerExportIsRefused() throws {
        try Data(#"{"latchkey-export":2}"#.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try run("import", file).notes.first?.contains("version 2") == true)
    }
}
