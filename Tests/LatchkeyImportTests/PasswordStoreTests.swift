import Foundation
import KeychainPlatform
import KeychainTestSupport
import LatchkeyImport
import Testing

/// A password store and a key ring of the test's own.
@Suite final class PasswordStoreTests {
    private let folder: TemporaryDirectory
    private let ring: String
    private let store: String

    init() throws {
        folder = try TemporaryDirectory()
        ring = folder.path + "/g"
        store = folder.path + "/store"
        for path in [ring, store, store + "/email"] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        try Data("test@example.org\n".utf8).write(to: URL(fileURLWithPath: store + "/.gpg-id"))
        try gpg([
            "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "Test <test@example.org>",
            "default", "default", "never",
        ])
    }

    deinit {
        // The agent would outlive its key ring.
        try? run("/usr/bin/gpgconf", ["--kill", "all"], input: Data())
    }

    private func gpg(_ arguments: [String], input: Data = Data()) throws {
        try run("/usr/bin/gpg", ["--batch", "--quiet"] + arguments, input: input)
    }

    private func run(_ program: String, _ arguments: [String], input: Data) throws {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "GNUPGHOME": ring]
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: input)
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }

    private func insert(_ name: String, _ content: [UInt8]) throws {
        try gpg(
            ["-r", "test@example.org", "--trust-model", "always", "-o", "\(store)/\(name).gpg", "-e"],
            input: Data(content))
    }

    private func read(_ progress: (Int, Int) -> Void) throws(ImportFailure) -> ImportedDocument {
        try SourceReader.passwordStore(
            store, variable: { ["GNUPGHOME": ring, "HOME": folder.path][$0] }, progress: progress)
    }

    @Test func filesBecomeEntriesAndOneThatFailsLosesNothingElse() throws {
        try insert(
            "email/work",
            Array("pw1\nUser: alice\nurl: https://example.com\notpauth://totp/x?secret=A\nfree text\r\nPIN: 12\n".utf8))
        try insert("solo", Array("only".utf8))
        try insert("binary", [0xff, 0x00, 0xfe])
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: store + "/bad.gpg"))
        try Data().write(to: URL(fileURLWithPath: store + "/readme.txt"))
        try FileManager.default.createSymbolicLink(atPath: store + "/round", withDestinationPath: store)
        var steps: [String] = []
        let document = try read { steps.append("\($0)/\($1)") }
        #expect(document.entries.map(\.title) == ["binary", "email/work", "solo"])
        let work = document.entries[1]
        #expect(work.account == "alice" && work.password.text == "pw1" && work.addresses == ["https://example.com"])
        #expect(work.oneTimeSecrets.map(\.text) == ["otpauth://totp/x?secret=A"])
        #expect(work.note.text == "free text\nPIN: 12")
        #expect(document.entries[0].password.secret().insecureArray() == [0xff, 0x00, 0xfe])
        #expect(document.flaws.map { "\($0.place)" }.sorted() == ["bad", "readme.txt", "round"])
        #expect(steps == ["0/4", "1/4", "2/4", "3/4", "4/4"])
    }

    @Test func folderWithoutAStoreIsRefused() throws {
        #expect(throws: ImportFailure.self) { try read { _, _ in } }
        // Other programs' files are not given to gpg: not those of any folder that has some.
        try insert("solo", Array("only".utf8))
        try FileManager.default.removeItem(atPath: store + "/.gpg-id")
        let refusal = #expect(throws: ImportFailure.self) { try read { _, _ in Issue.record("a file is read") } }
        #expect(refusal.map { "\($0)".contains(".gpg-id") } == true, "\(String(describing: refusal))")
        // `pass init -p email/work` writes it there alone.
        try FileManager.default.createDirectory(
            atPath: store + "/email/work", withIntermediateDirectories: false)
        try Data("test@example.org\n".utf8).write(to: URL(fileURLWithPath: store + "/email/work/.gpg-id"))
        #expect(try read { _, _ in }.entries.map(\.title) == ["solo"])
    }
}
