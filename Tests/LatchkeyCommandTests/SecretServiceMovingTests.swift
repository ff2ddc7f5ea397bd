import Foundation
import KeychainModel
import KeychainTestSupport
import SecretServiceItems
import Testing

/// An item whose lookup attributes a program of the bus changes goes by its new names at the
/// command line and to git as well, and by the former ones no longer.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceMovingTests {
    private let scene: SecretServiceScene
    private var programs: BuiltPrograms { scene.programs }

    init() throws { scene = try SecretServiceScene() }

    /// What `latchkey get` says.
    private func value(_ names: String...) throws -> String {
        try programs.run(BuiltPrograms.folder + "/latchkey", ["get"] + names).text
    }

    private func git(_ action: String, _ host: String, _ lines: String = "") throws -> String {
        try programs.run(
            "\(BuiltPrograms.folder)/git-credential-latchkey", [action],
            input: Data("protocol=https\nhost=\(host)\n\(lines)".utf8)
        ).text
    }

    /// With Python's secretstorage: `item` is the one that has the attributes of `found`.
    private func secretstorage(_ found: String, _ script: String) throws {
        let outcome = try scene.python(
            """
            import secretstorage
            connection = secretstorage.dbus_init()
            login = secretstorage.get_default_collection(connection)
            item, = login.search_items(\(found))
            path, created = item.item_path, item.get_created()
            \(script)
            assert (item.item_path, item.get_created()) == (path, created) and item.get_label()
            print('done')
            """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    @Test func theNamesOfTheCommandLineFollow() throws {
        let names = ["service", "mail", "username", "alice", "colour", "red"]
        #expect(try scene.client("/usr/bin/secret-tool", ["store", "--label=L"] + names, typed: "theirs").status == 0)
        try secretstorage(
            "{'colour': 'red'}", "item.set_attributes({'service': 'post', 'username': 'bob', 'colour': 'red'})")
        #expect(try value("post", "bob") == "theirs")
        #expect(try programs.latchkey("get", "mail", "alice").status == 1)
        // Who stores under the former name writes over nothing.
        #expect(try programs.latchkey("set", "mail", "alice", input: Data("ours".utf8)).status == 0)
        #expect(try scene.secretTool("lookup", "service", "post", "username", "bob").text == "theirs")
        #expect(try scene.secretTool("lookup", "service", "mail", "username", "alice").text == "ours")
        // A name that is taken stays whose it is.
        try secretstorage(
            "{'service': 'post'}", "item.set_attributes({'service': 'mail', 'username': 'alice', 'colour': 'blue'})")
        #expect(try value("mail", "alice") == "ours")
        #expect(try scene.secretTool("lookup", "service", "mail", "colour", "blue").text == "theirs")
        #expect(try programs.latchkey("get", "post", "bob").status == 1)
        // Once it is free another change has it.
        #expect(try programs.latchkey("edit", "mail", "alice", "--to-account", "me").status == 0)
        try secretstorage(
            "{'colour': 'blue'}", "item.set_attributes({'service': 'mail', 'username': 'alice', 'colour': 'green'})")
        #expect(try value("mail", "alice") == "theirs")
        // Attributes that say no name leave none.
        try secretstorage("{'colour': 'green'}", "item.set_attributes({'colour': 'grey'})")
        #expect(try programs.latchkey("get", "mail", "alice").status == 1)
        #expect(try scene.secretTool("lookup", "colour", "grey").text == "theirs")
        // The very same as another's, which stays.
        #expect(try scene.secretTool("store", "--label=M", "colour", "white", typed: "other").status == 0)
        try secretstorage(
            "{'colour': 'grey'}", "item.set_attributes({'colour': 'white'}); item.set_label('second')")
        let both = try scene.secretTool("search", "--all", "--unlock", "colour", "white").text
        #expect(both.contains("secret = theirs") && both.contains("secret = other"), "\(both)")
    }

    /// `latchkey set` and `latchkey edit` name it; attributes without a name take it from nobody.
    @Test func whatAPersonNamedKeepsItsNameUntilAnotherIsSaid() throws {
        #expect(try programs.latchkey("set", "wiki", "bob", input: Data("ours".utf8)).status == 0)
        try secretstorage("{'service': 'wiki'}", "item.set_attributes({'colour': 'red'})")
        #expect(try value("wiki", "bob") == "ours")
        try secretstorage("{'colour': 'red'}", "item.set_attributes({'colour': 'blue'})")
        #expect(try value("wiki", "bob") == "ours")
        try secretstorage("{'colour': 'blue'}", "item.set_attributes({'service': 'post', 'username': 'bob'})")
        #expect(try value("post", "bob") == "ours")
        #expect(try programs.latchkey("get", "wiki", "bob").status == 1)
        #expect(try programs.latchkey("set", "mail", "eve", input: Data("hers".utf8)).status == 0)
        try secretstorage("{'service': 'mail'}", "item.set_attributes({'service': 'letters', 'username': 'mallory'})")
        #expect(try value("letters", "mallory") == "hers")
        #expect(try programs.latchkey("get", "mail", "eve").status == 1)
    }

    /// Whoever stores over it says more of it than the person did, who finds it under their own words.
    @Test func whatReplacesAPersonsItemLeavesItItsName() throws {
        let names = ["xdg:schema", "org.gnome.keyring.NetworkPassword", "protocol", "https", "user", "alice"]
        for label in ["L", "M"] {
            let (ours, theirs) = ("ours of \(label)", "theirs of \(label)")
            _ = try programs.latchkey("set", "--internet", "git.example", "alice", input: Data(ours.utf8))
            let stored = try scene.client(
                "/usr/bin/secret-tool", ["store", "--label=\(label)", "server", "git.example"] + names,
                typed: theirs)
            #expect(stored.status == 0, "\(stored.errors)")
            let item = try programs.latchkey("info", "--json", "git.example", "alice")
            #expect(item.status == 0 && !item.text.contains("htps"), "\(item.text)")
            #expect(try value("git.example", "alice") == theirs)
        }
        _ = try programs.latchkey("set", "--internet", "git.example", "alice", input: Data("again".utf8))
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + names).text == "again")
    }

    @Test func gitIsGivenItForTheServerThatItNames() throws {
        let names = ["xdg:schema", "org.gnome.keyring.NetworkPassword", "protocol", "https", "user", "u"]
        let stored = try scene.client(
            "/usr/bin/secret-tool",
            ["store", "--label=L"] + names + ["server", "old.example", "port", "8443", "object", "a.git"],
            typed: "the password")
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try git("get", "old.example:8443", "path=a.git\n") == "username=u\npassword=the password\n")
        try secretstorage(
            "{'user': 'u'}",
            """
            item.set_attributes({'xdg:schema': 'org.gnome.keyring.NetworkPassword', 'protocol': 'https', 'user': 'u', \
            'server': 'new.example'})
            """)
        #expect(try git("get", "old.example:8443", "path=a.git\n") == "")
        #expect(try git("get", "new.example") == "username=u\npassword=the password\n")
        // Another schema, of which items are of another class: its path is the same, and so its class.
        try secretstorage("{'user': 'u'}", "item.set_attributes({'service': 'mail', 'username': 'alice'})")
        #expect(try git("get", "new.example") == "")
        #expect(try value("mail", "alice") == "the password")
        #expect(try git("get", "mail") == "")
    }

    @Test func aGenericOneBecomesGits() throws {
        #expect(
            try scene.secretTool("store", "--label=L", "service", "mail", "username", "alice", typed: "v").status == 0)
        try secretstorage(
            "{'service': 'mail'}",
            """
            item.set_attributes({'xdg:schema': 'org.git.Password', 'protocol': 'https', 'user': 'u', \
            'server': 'git.example'})
            """)
        #expect(try value("git.example", "u") == "v")
        #expect(try git("get", "git.example") == "username=u\npassword=v\n")
        #expect(try programs.latchkey("get", "mail", "alice").status == 1)
    }

    /// At no moment it has neither name, or attributes that say the other.
    @Test func whateverEndsTheDaemonItGoesByOneName() throws {
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                import json, os, random, signal, subprocess, threading
                def latchkey(*arguments): return subprocess.run(
                    ['\(BuiltPrograms.folder)/latchkey', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                def names(service): return dbus.Dictionary(
                    {'service': service, 'username': 'u'}, signature='ss', variant_level=1)
                item, _ = at(LOGIN, S + 'Collection').CreateItem(
                    props(S + 'Item.Label', 'L', S + 'Item.Attributes', names('a')), secret(session(), b'v'), False)
                properties = at(item, 'org.freedesktop.DBus.Properties')
                moved, refused = 0, 0
                for _ in range(8):
                    daemon = json.loads(latchkey('status', '--json').stdout)['daemon']['pid']
                    end = threading.Timer(random.random() / 50, os.kill, (daemon, signal.SIGKILL))
                    end.start()
                    for number in range(12):
                        try: properties.Set(S + 'Item', 'Attributes', names('ab'[number % 2])); moved += 1
                        except dbus.DBusException: refused += 1
                    end.join()
                    found = [name for name in 'ab' if latchkey('get', name, 'u').stdout == b'v']
                    assert len(found) == 1, found
                    assert properties.Get(S + 'Item', 'Attributes')['service'] == found[0]
                    assert service.SearchItems({'service': found[0]})[0] == [item]
                print('done', moved > 0)
                """)
        #expect(outcome.text == "done True\n", "\(outcome.text)\(outcome.errors)")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
    }

    /// Chromium's is called by its label.
    @Test func aNameThatIsTheLabelFollowsIt() throws {
        let schema = ["xdg:schema", "chrome_libsecret_os_crypt_password_v2", "application", "chromium"]
        #expect(try scene.client("/usr/bin/secret-tool", ["store", "--label=Safe"] + schema, typed: "k").status == 0)
        try secretstorage("{'application': 'chromium'}", "item.set_label('Chromium Safe Storage')")
        #expect(try value("Chromium Safe Storage", "chromium") == "k")
        #expect(try programs.latchkey("get", "Safe", "chromium").status == 1)
        // Of a person's own item it is no name.
        #expect(try programs.latchkey("set", "mail", "eve", input: Data("hers".utf8)).status == 0)
        try secretstorage("{'service': 'mail'}", "item.set_label('Letters')")
        #expect(try value("mail", "eve") == "hers")
    }
}

/// The places themselves.
@Suite struct MovingPlacesTests {
    private func lookup(_ pairs: [String: String]) throws -> LookupAttributes {
        try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) }))
    }

    private func held(_ pairs: [(AttributeCode, AttributeValue)]) -> AttributeMap {
        var map = AttributeMap()
        for (code, value) in pairs { map[code] = value }
        return map
    }

    @Test func whatIsNotSaidAnyMoreGoes() throws {
        let network = ["xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "a", "user": "u"]
        let old = try lookup(network.merging(["port": "8443", "protocol": "https", "object": "p"]) { $1 })
        let places = ItemPlace.moves(
            of: held([
                (.server, .string("a")), (.account, .string("u")), ("port", .integer(8443)), ("ptcl", .string("htps")),
                ("path", .string("p")),
            ]), .internetPassword, from: ItemNaming(old, label: ""), to: ItemNaming(try lookup(network), label: ""),
            serial: { "1" })
        let whole = try #require(places.first).whole
        #expect(whole.contains { $0 == ("port", .integer(0)) } && whole.contains { $0 == ("ptcl", .string("")) })
        #expect(whole.contains { $0 == ("path", .string("")) } && places.count == 3)
        #expect(places.allSatisfy { $0.itemClass == .internetPassword })
    }

    @Test func whatSaysTheSameNameMovesNothing() throws {
        let mail = ["service": "mail", "username": "alice"]
        let (old, new) = (try lookup(mail), try lookup(mail.merging(["colour": "red"]) { $1 }))
        func moves(_ service: String) -> [ItemPlace] {
            ItemPlace.moves(
                of: held([(.service, .string(service)), (.account, .string("alice"))]), .genericPassword,
                from: ItemNaming(old, label: ""), to: ItemNaming(new, label: "x"), serial: { "1" })
        }
        #expect(moves("mail").isEmpty && moves("another").isEmpty)
    }
}
