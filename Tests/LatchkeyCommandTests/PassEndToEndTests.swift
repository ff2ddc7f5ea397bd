import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// A store that the real `pass` filled, read by the real programs.
@Suite(.enabled(if: PassProgram.isInstalled, "pass or setpriv is missing"))
final class PassEndToEndTests {
    private let programs: BuiltPrograms
    private var store: String { programs.home + "/.password-store" }

    init() throws {
        programs = try BuiltPrograms()
        try programs.shell(
            """
            mkdir -m 700 "$HOME/.gnupg" && gpg --batch --quiet --pinentry-mode loopback --passphrase '' \
            --quick-generate-key 'Test <t@example.org>' default default never && pass init t@example.org
            """)
        try insert("top", "p1")
        try insert("sub/x", "p2")
    }

    deinit {
        // Its agent would outlive it, and a folder that nobody may enter would stay.
        _ = try? programs.shell("chmod -R u+rwX \"$HOME/.password-store\"; gpgconf --kill all")
    }

    private func insert(_ name: String, _ value: String) throws {
        let made = try programs.run("/usr/bin/pass", ["insert", "-m", "-f", name], input: Data("\(value)\n".utf8))
        #expect(made.status == 0, "\(made.errors)")
    }

    /// As a person's: root may read whatever its mode says.
    private func person(_ program: String, _ arguments: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(
            "/usr/bin/setpriv", ["--bounding-set=-all", "--inh-caps=-all", program] + arguments)
    }

    private func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(store)/\(name)")
    }

    /// `pass show` reads through a folder of mode 300 without listing it; we cannot.
    @Test(arguments: [
        (0o000, "sub: this folder cannot be read (open: Permission denied)"),
        (0o300, "sub: this folder cannot be read (open: Permission denied)"),
        (0o400, "sub/x.gpg: it cannot be reached (fstatat: Permission denied)"),
    ])
    func whatMayNotBeReadIsNamedAndNothingElseIsLost(_ mode: Int, _ words: String) throws {
        try setMode(mode, of: "sub")
        let first = try person(BuiltPrograms.latchkey, "import", store)
        #expect(first.status == 1 && first.text.contains("Has added 1."), "\(first.text)\(first.errors)")
        #expect(first.text.contains("Not read in whole:\n  \(words)\n"), "\(first.text)")
        let report = try person(BuiltPrograms.latchkey, "import", "--json", store)
        #expect(report.status == 1 && report.text.contains(#""flaws":[{"place":"sub"#), "\(report.text)")
        try setMode(0o700, of: "sub")
        let whole = try person(BuiltPrograms.latchkey, "import", store)
        #expect(whole.status == 0 && whole.text.contains("added 1, left 1 unchanged"), "\(whole.text)\(whole.errors)")
        #expect(try programs.latchkey("get", "sub/x").text == "p2")
    }

    @Test(arguments: [0o000, 0o300, 0o400]) func aStoreThatMayNotBeReadIsNoOtherFolder(_ mode: Int) throws {
        try setMode(mode, of: "")
        let refused = try person(BuiltPrograms.latchkey, "import", store)
        #expect(refused.status == 2 && refused.errors.contains("Permission denied"), "\(refused.errors)")
        #expect(!refused.errors.contains("no password store"), "\(refused.errors)")
    }

    /// `pass ls` hides them, `pass show` and `pass grep` do not.
    @Test func hiddenEntriesAreEntries() throws {
        try insert(".dot/y", "p3")
        try insert(".secret", "p4")
        try programs.shell(
            """
            cd "$HOME/.password-store" && mkdir .git .extensions .public-keys && echo x >.gitignore &&
            for folder in .git .extensions .public-keys; do cp top.gpg $folder/top.gpg; done
            """)
        #expect(try programs.run("/usr/bin/pass", ["show", ".dot/y"]).text == "p3\n")
        let outcome = try programs.latchkey("import", store)
        #expect(outcome.status == 0 && outcome.text.contains("Has added 4."), "\(outcome.text)\(outcome.errors)")
        #expect(try programs.latchkey("get", ".dot/y").text == "p3")
        #expect(try programs.latchkey("get", ".secret").text == "p4")
    }

    @Test func whatIsNoEntryIsSaidToBeWhatItIs() throws {
        try programs.shell(
            """
            cd "$HOME/.password-store" && cp top.gpg UP.GPG && ln -s sub round && ln -s gone lost && mkfifo pipe &&
            cp top.gpg "$(printf 'caf\\351.gpg')"
            """)
        let outcome = try programs.latchkey("import", store)
        #expect(outcome.status == 1 && outcome.text.contains("Has added 2."), "\(outcome.text)\(outcome.errors)")
        for line in [
            "UP.GPG: its name does not end in .gpg", "round: this is a link to a folder, which is not followed",
            "lost: this is a link that leads nowhere", "pipe: this is no file, but a pipe, a socket or a device",
            "caf\u{fffd}.gpg: its name is no UTF-8",
        ] { #expect(outcome.text.contains("\n  \(line)\n"), "\(outcome.text)") }
    }
}

private enum PassProgram {
    static var isInstalled: Bool {
        ["/usr/bin/pass", "/usr/bin/setpriv"].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }
}
