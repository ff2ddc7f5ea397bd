import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Items of the real gnome-keyring, taken over by the real programs, and then asked for by
/// real clients of our own service on another bus.
@Suite(.enabled(if: KeyringScene.isInstalled, "gnome-keyring, dbus, libsecret-tools or python3-dbus is missing"))
struct MigrationEndToEndTests {
    private let ours: SecretServiceScene
    private let theirs: KeyringScene
    private var programs: BuiltPrograms { ours.programs }

    init() throws {
        ours = try SecretServiceScene()
        theirs = try KeyringScene(ours.programs)
    }

    private func json(_ outcome: BuiltPrograms.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any], "\(outcome.errors)")
    }

    /// What programs of several kinds store.
    private func fill() throws {
        let mail = try theirs.secretTool(
            "store", "--label=My mail", "service", "mail", "username", "alice", typed: "mail sécret")
        #expect(mail.status == 0, "\(mail.errors)")
        try theirs.store(
            "Nétwork",
            [
                "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "git.example", "user": "bob",
                "protocol": "https", "port": "8443", "object": "/repo",
            ], Array("net secret".utf8))
        try theirs.store(
            "Chrome Safe Storage",
            [
                "xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome",
            ], Array("peanuts".utf8))
        try theirs.store("Binary", ["kind": "binary", "empty": ""], Array(0...255))
        try theirs.store("Nothing", ["kind": "nothing"], [])
        try theirs.store("", ["kind": "no label"], Array("x".utf8))
        // Two that have the very same attributes, and one whose place the first has.
        try theirs.store("Twin", ["twin": "yes"], Array("one".utf8))
        try theirs.store("Twin", ["twin": "yes"], Array("two".utf8))
        try theirs.store("Other mail", ["service": "mail", "username": "alice", "more": "1"], Array("third".utf8))
        try theirs.makeCollection("My Work")
        try theirs.store(
            "At work", ["service": "mail", "username": "alice"], Array("work secret".utf8), in: "My_5fWork")
        try theirs.store("Kept nowhere", ["kind": "session"], Array("s".utf8), in: "session")
    }

    // MARK: Over the bus

    @Test func everyItemIsFoundAsBefore() throws {
        try fill()
        let (before, files) = (try theirs.everything(), try theirs.files())
        #expect(before.count == 10 && files.keys.contains("login.keyring"), "\(before)")
        let first = try theirs.latchkey("import", "--from", "gnome-keyring")
        #expect(first.status == 0 && first.text.contains("Has added 10."), "\(first.text)\(first.errors)")
        #expect(first.text.contains("they end with the session"))
        #expect(try theirs.everything() == before && theirs.files() == files, "the source was changed")
        // Not only as our own report says: what a client of each sees is the same, dates and all.
        ours.end()
        try ours.startService()
        #expect(try ours.everything() == before)
        // Three items answer; which is first is nobody's promise.
        let answers = ["mail sécret", "third", "work secret"]
        #expect(answers.contains(try ours.secretTool("lookup", "service", "mail", "username", "alice").text))
        #expect(try ours.secretTool("lookup", "more", "1").text == "third")
        #expect(try ours.secretTool("lookup", "application", "chrome").text == "peanuts")
        #expect(try ours.secretTool("lookup", "server", "git.example", "user", "bob").text == "net secret")
        #expect(try programs.latchkey("get", "mail", "alice").text == "mail sécret")
        #expect(try programs.latchkey("get", "--internet", "git.example", "bob").text == "net secret")
        #expect(
            try programs.latchkey("get", "--group", "secret-service.My_5fWork", "mail", "alice").text == "work secret")
    }

    @Test func aSecondRunChangesNothing() throws {
        try fill()
        #expect(try theirs.latchkey("import", "--from", "gnome-keyring").status == 0)
        let before = try programs.latchkey("list", "--all", "--json").text
        for source in [
            ["--from", "gnome-keyring"], ["--from", "secret-service"],
            ["--from", "gnome-keyring", "--on-conflict", "rename"],
        ] {
            let again = try json(try theirs.client(BuiltPrograms.latchkey, ["import", "--json"] + source))
            #expect(again["unchanged"] as? Int == 10 && again["added"] as? Int == 0, "\(again)")
            #expect(again["renamed"] as? Int == 0 && again["conflicts"] as? Int == 0, "\(again)")
        }
        #expect(try programs.latchkey("list", "--all", "--json").text == before)
    }

    @Test func aDryRunNamesItemsWithoutValuesAndChangesNothing() throws {
        try fill()
        let dry = try theirs.latchkey("import", "--dry-run", "--from", "gnome-keyring")
        #expect(dry.status == 0 && dry.text.contains("Would have added 10."), "\(dry.text)\(dry.errors)")
        #expect(dry.text.contains("mail, alice") && dry.text.contains("(secret-service.My_5fWork)"), "\(dry.text)")
        for value in ["sécret", "peanuts", "net secret", "work secret"] { #expect(!dry.text.contains(value)) }
        #expect(try programs.latchkey("list", "--all").text.isEmpty)
    }

    @Test func aConflictIsDecidedAsInOtherImports() throws {
        try theirs.store("L", ["service": "mail", "username": "alice"], Array("first".utf8))
        #expect(try theirs.latchkey("import", "--from", "gnome-keyring").status == 0)
        try theirs.store("L", ["service": "mail", "username": "alice"], Array("second".utf8), replacing: true)
        let kept = try theirs.latchkey("import", "--from", "gnome-keyring")
        #expect(kept.status == 1 && kept.text.contains("kept what was there for 1"), "\(kept.text)")
        #expect(try programs.latchkey("get", "mail", "alice").text == "first")
        #expect(try theirs.latchkey("import", "--from", "gnome-keyring", "--on-conflict", "rename").status == 0)
        #expect(try programs.latchkey("get", "mail", "alice (2)").text == "second")
        #expect(try theirs.latchkey("import", "--from", "gnome-keyring", "--on-conflict", "replace").status == 0)
        #expect(try programs.latchkey("get", "mail", "alice").text == "second")
    }

    /// Programs tell them apart by nothing: one that goes, changes or comes moves no other.
    @Test func ofItemsOfTheSameAttributesEachFindsItsOwn() throws {
        func values() throws -> [String] {
            let items = try JSONSerialization.jsonObject(with: try programs.latchkey("list", "--json").output)
            return try #require(items as? [[String: Any]]).map { item in
                let account = try #require(item["account"] as? String)
                return try programs.latchkey("get", "org.freedesktop.Secret.Generic", account).text
            }.sorted()
        }
        func counts(_ arguments: String...) throws -> [Int?] {
            let report = try json(
                try theirs.client(BuiltPrograms.latchkey, ["import", "--json", "--from", "gnome-keyring"] + arguments))
            return ["added", "unchanged", "replaced", "renamed", "conflicts"].map { report[$0] as? Int }
        }
        for (label, value) in [("A", "v0"), ("B", "v1"), ("C", "v2")] {
            try theirs.store(label, ["twin": "yes"], Array(value.utf8))
        }
        #expect(try counts() == [3, 0, 0, 0, 0])
        try theirs.change("A", "dbus.Interface(bus.get_object(NAME, path), 'org.freedesktop.Secret.Item').Delete()")
        for policy in ["keep", "rename", "replace"] {
            #expect(try counts("--on-conflict", policy) == [0, 2, 0, 0, 0], "\(policy)")
        }
        #expect(try values() == ["v0", "v1", "v2"])
        let secret = "(session, dbus.ByteArray(b''), dbus.ByteArray(b'changed'), 'text/plain')"
        try theirs.change(
            "C", "dbus.Interface(bus.get_object(NAME, path), 'org.freedesktop.Secret.Item').SetSecret(\(secret))")
        #expect(try counts() == [0, 1, 0, 0, 1])
        #expect(try counts("--dry-run", "--on-conflict", "replace") == [0, 1, 1, 0, 0])
        #expect(try counts("--on-conflict", "replace") == [0, 1, 1, 0, 0])
        #expect(try values() == ["changed", "v0", "v1"])
        // Of another second than all before it, as any that comes after an import.
        try theirs.waitForAnotherSecond()
        try theirs.store("D", ["twin": "yes"], Array("v9".utf8))
        #expect(try counts("--dry-run") == [1, 2, 0, 0, 0])
        #expect(try counts() == [1, 2, 0, 0, 0])
        #expect(try counts() == [0, 3, 0, 0, 0])
        #expect(try values() == ["changed", "v0", "v1", "v9"])
    }

    /// What a person stored there is not lost, and the program finds its own nevertheless.
    @Test func anItemOfAPersonKeepsItsPlace() throws {
        try programs.latchkey("set", "mail", "alice", input: Data("of a person\n".utf8))
        try theirs.store("L", ["service": "mail", "username": "alice", "more": "1"], Array("of a program".utf8))
        #expect(try theirs.latchkey("import", "--from", "gnome-keyring").status == 0)
        #expect(try programs.latchkey("get", "mail", "alice").text == "of a person")
        #expect(try ours.secretTool("lookup", "more", "1").text == "of a program")
    }

    /// KeePassXC gives every field of an entry out as an attribute.
    @Test func whatKeePassXCCallsNotesIsAValueAndNoAttribute() throws {
        let fields = [
            "Title": "Mail", "UserName": "alice", "URL": "https://mail.example", "Path": "/Mail",
            "Uuid": "ff440702e7b911f1a4b602fc00000001", "service": "mail",
        ]
        try theirs.store("Mail", fields.merging(["Notes": "PIN 4711"]) { first, _ in first }, Array("pw".utf8))
        // Another program's are its own names.
        try theirs.store("Else", ["Notes": "an index", "Title": "Else"], Array("x".utf8))
        for words in ["Has added 3.", "Has left 3 unchanged."] {
            let outcome = try theirs.latchkey("import", "--from", "secret-service")
            #expect(outcome.status == 0 && outcome.text.contains(words), "\(outcome.text)\(outcome.errors)")
        }
        #expect(try programs.latchkey("get", "Mail", "alice (note)").text == "PIN 4711")
        #expect(try !programs.latchkey("list", "--all", "--json").text.contains("4711"))
        ours.end()
        try ours.startService()
        #expect(try ours.secretTool("lookup", "service", "mail").text == "pw")
        #expect(try ours.secretTool("lookup", "Notes", "an index").text == "x")
        let search = try ours.secretTool("search", "--all", "Title", "Mail")
        #expect(search.text.contains("attribute.Uuid") || search.errors.contains("attribute.Uuid"))
        #expect(!(search.text + search.errors).contains("4711"), "\(search.text)\(search.errors)")
    }

    @Test func aLockedCollectionIsNamedAndTheOthersAreTaken() throws {
        try fill()
        try theirs.lock("My_5fWork")
        let outcome = try theirs.latchkey("import", "--from", "gnome-keyring")
        #expect(outcome.status == 1 && outcome.text.contains("Has added 9."), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("My Work (My_5fWork): the collection is locked"), "\(outcome.text)")
    }

    /// The keyring of the login is another than one that is called like it.
    @Test func aLockedCollectionOfTheSameLabelIsToldFromTheOther() throws {
        try theirs.store("Mail", ["service": "mail"], Array("pw".utf8))
        try theirs.makeCollection("login")
        let made = try theirs.python(
            KeyringScene.preamble + """
                paths = at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')
                print(*{path.split('/')[-1] for path in paths} - {'login', 'session'})
                """)
        let name = made.text.trimmingCharacters(in: .newlines)
        #expect(!name.isEmpty && !name.contains(" "), "\(made.text)\(made.errors)")
        try theirs.lock(name)
        let outcome = try theirs.latchkey("import", "--from", "gnome-keyring")
        #expect(outcome.status == 1 && outcome.text.contains("Has added 1."), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("login (\(name)): the collection is locked"), "\(outcome.text)")
    }

    // MARK: Who is asked

    @Test func ourOwnServiceIsNoSource() throws {
        let refused = try ours.client(BuiltPrograms.latchkey, ["import", "--from", "secret-service"])
        #expect(refused.status != 0 && refused.errors.contains("Latchkey itself"), "\(refused.errors)")
        let other = try ours.client(BuiltPrograms.latchkey, ["import", "--from", "gnome-keyring"])
        #expect(other.status != 0 && other.errors.contains("gnome-keyring does not run"), "\(other.errors)")
    }

    @Test func withoutABusTheFilesAreNamed() throws {
        let refused = try programs.latchkey(
            "import", "--from", "gnome-keyring",
            changing: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(programs.home)/none"])
        #expect(refused.status == 69 && refused.errors.contains(".keyring"), "\(refused.errors)")
        #expect(try programs.latchkey("list").text.isEmpty)
    }

    // MARK: Files

    @Test func aKeyringsFileGivesTheSameItems() throws {
        try fill()
        let (before, files) = (try theirs.everything(), try theirs.files())
        for (name, count) in [("login", 9), ("My_Work", 1)] {
            let path = "\(theirs.folder)/\(name).keyring"
            let outcome = try programs.latchkey(
                "import", "--json", "--passphrase-fd", "0", path, input: Data(KeyringScene.password.utf8))
            #expect(
                try outcome.status == 0 && json(outcome)["added"] as? Int == count, "\(outcome.text)\(outcome.errors)")
        }
        #expect(try theirs.files() == files)
        // The very same as over the bus.
        let again = try json(try theirs.latchkey("import", "--json", "--from", "gnome-keyring"))
        #expect(again["added"] as? Int == 0 && again["unchanged"] as? Int == 10, "\(again)")
        ours.end()
        try ours.startService()
        #expect(try ours.everything() == before)
    }

    @Test func aFileThatDoesNotOpenChangesNothing() throws {
        try fill()
        let path = "\(theirs.folder)/login.keyring"
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        func refused(_ content: Data, _ password: String, _ words: String) throws {
            let copy = programs.home + "/copy.keyring"
            try content.write(to: URL(fileURLWithPath: copy))
            let outcome = try programs.latchkey("import", "--passphrase-fd", "0", copy, input: Data(password.utf8))
            #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome.errors)\(outcome.text)")
        }
        try refused(content, "another password", "does not open with this password")
        var changed = content
        changed[content.count - 20] ^= 1
        try refused(changed, KeyringScene.password, "or its file was changed")
        try refused(content.prefix(content.count - 16), KeyringScene.password, "damaged or cut short")
        try refused(content.prefix(40), KeyringScene.password, "damaged or cut short")
        changed = content
        changed[16] = 1
        try refused(changed, KeyringScene.password, "version")
        #expect(try programs.latchkey("list", "--all").text.isEmpty)
        let nobody = try programs.latchkey("import", path)
        #expect(nobody.status == 3 && nobody.errors.contains("--passphrase-fd"), "\(nobody.errors)")
    }

    @Test func whatNoItemCanHaveIsSaid() throws {
        func item(_ number: Int, _ names: [String]) -> String {
            let attributes = names.enumerated().map { index, name in
                "[\(number):attribute\(index)]\nname=\(name)\ntype=string\nvalue=v\n"
            }
            return "[\(number)]\nitem-type=0\ndisplay-name=L\nsecret=s\nmtime=1\nctime=1\n\n" + attributes.joined()
        }
        let path = programs.home + "/odd.keyring"
        let text =
            "[keyring]\ndisplay-name=odd\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n\n"
            + item(1, ["a", "a"]) + item(2, (0..<256).map { "n\($0)" }) + item(3, (0..<300).map { "n\($0)" })
            + item(4, (0..<255).map { "n\($0)" }) + item(5, ["long" + String(repeating: "x", count: 70_000)])
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try programs.latchkey("import", path)
        #expect(outcome.status == 1 && outcome.text.contains("added 1, failed with 1."), "\(outcome.errors)")
        for (words, count) in [
            ("it has an attribute twice", 1), ("it has more than 256 attributes", 2),
            ("the list of attributes has ", 1), ("kSecAttr", 0),
        ] { #expect(outcome.text.ranges(of: words).count == count, "\(outcome.text)") }
    }

    /// gnome-keyring 42.1 writes none of these; this is what it says over its bus of a file with them.
    @Test func escapesThatGnomeKeyringDoesNotKnowStayAsItReadsThem() throws {
        let path = programs.home + "/escape.keyring"
        let text = #"""
            [keyring]
            display-name=escape

            [1]
            item-type=0
            display-name=caf\u00e9\n\;
            secret=\s\q\tx\

            [1:attribute0]
            name=service
            type=string
            value=a\;b\

            [1:attribute1]
            name=username
            type=string
            value=u
            """#
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try programs.latchkey("import", path)
        #expect(outcome.status == 0 && outcome.text.contains("Has added 1."), "\(outcome.text)\(outcome.errors)")
        let listed = try programs.latchkey("list", "--all", "--json").text
        #expect(listed.contains(#""label":"caf\\u00e9\n\\;""#) && listed.contains(#""a\\;b""#), "\(listed)")
        let group = "secret-service.escape"
        #expect(try programs.latchkey("get", "--group", group, #"a\;b"#, "u").text == " \\q\tx")
    }

    /// gnome-keyring keeps a keyring without a password in the clear.
    @Test func aKeyringWithoutAPasswordIsRead() throws {
        try theirs.makeCollection("Open", password: "")
        try theirs.store(
            "A tab\\there", ["service": "open", "username": "alice"], Array("a = b; #c ]".utf8), in: "Open")
        try theirs.store("Bytes", ["kind": "bytes"], [0xff, 0x00, 0x0a], in: "Open")
        let before = try theirs.everything()
        let path = "\(theirs.folder)/Open.keyring"
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("[keyring]"))
        let outcome = try programs.latchkey("import", path)
        #expect(outcome.status == 0 && outcome.text.contains("Has added 2."), "\(outcome.text)\(outcome.errors)")
        ours.end()
        try ours.startService()
        #expect(try ours.everything() == before)
    }
}
