import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

enum SecretServiceClients {
    static var areInstalled: Bool {
        let modules = ["secretstorage", "keyring", "dbus"].map { "/usr/lib/python3/dist-packages/\($0)" }
        return PrivateSession.isInstalled
            && (modules + ["/usr/bin/secret-tool"]).allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    /// git's own helper, which Debian ships as source.
    static let gitsHelper = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

    static let dockersHelper = "/usr/bin/docker-credential-secretservice"

    static var hasDockersHelper: Bool { FileManager.default.fileExists(atPath: dockersHelper) }

    static var canBuildGitsHelper: Bool {
        [gitsHelper, "/usr/include/libsecret-1/libsecret/secret.h"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
    }
}

/// Real clients of `org.freedesktop.secrets` on a bus of the test's own, with the real
/// service, daemon and enclave.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceEndToEndTests {
    private let scene: SecretServiceScene
    private var programs: BuiltPrograms { scene.programs }

    init() throws { scene = try SecretServiceScene() }

    // MARK: Being started

    @Test func theBusStartsItForWhoeverAsks() throws {
        scene.end()
        let enabled = try programs.latchkey("secret-service", "enable")
        let file = programs.home + "/data/dbus-1/services/org.freedesktop.secrets.service"
        #expect(enabled.status == 0 && enabled.errors.contains("Wrote \(file)"), "\(enabled.errors)")
        let own = try PrivateSession(
            startingFrom: programs.home + "/data/dbus-1/services", environment: programs.environment)
        let stored = try programs.run(
            "/usr/bin/secret-tool", ["store", "--label=L", "service", "mail", "user", "alice"],
            input: Data("started".utf8), changing: ["DBUS_SESSION_BUS_ADDRESS": own.address])
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try programs.latchkey("get", "mail", "alice").text == "started")
        let again = try programs.latchkey(
            "secret-service", "enable", changing: ["DBUS_SESSION_BUS_ADDRESS": own.address])
        #expect(again.status == 0 && !again.errors.contains("until it ends"), "\(again.errors)")
    }

    // MARK: secret-tool

    @Test func secretToolStoresFindsReplacesAndClears() throws {
        let place = ["service", "mail", "user", "alice"]
        let stored = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=My mail"] + place, typed: "first secret")
        #expect(stored.status == 0 && stored.errors == "", "\(stored.errors)")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "first secret")
        #expect(try scene.secretTool("lookup", "user", "alice").text == "first secret")
        #expect(
            try scene.client("/usr/bin/secret-tool", ["store", "--label=Other"] + place, typed: "second").status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "second")
        let all = try scene.secretTool("search", "--all", "--unlock", "service", "mail")
        #expect(all.text.contains("label = Other\nsecret = second\n"), "\(all.text)")
        #expect(all.text.components(separatedBy: "label = ").count == 2)
        #expect(try scene.secretTool("lookup", "service", "mail", "user", "bob").status == 1)
        #expect(try scene.client("/usr/bin/secret-tool", ["clear"] + place).status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).status == 1)
    }

    @Test func theCommandLineAndItsClientsFindEachOthersItems() throws {
        #expect(
            try scene.secretTool("store", "--label=L", "service", "mail", "username", "alice", typed: "theirs").status
                == 0)
        #expect(try programs.latchkey("get", "mail", "alice").text == "theirs")
        #expect(try programs.latchkey("set", "wiki", "bob", input: Data("ours".utf8)).status == 0)
        #expect(try scene.secretTool("lookup", "service", "wiki", "username", "bob").text == "ours")
        #expect(try scene.secretTool("lookup", "service", "wiki").text == "ours")
        #expect(try scene.secretTool("lookup", "service", "wiki", "colour", "red").status == 1)
        // By a part of what it shows, as everything.
        for name in ["username", "user"] {
            #expect(try scene.secretTool("lookup", name, "bob").text == "ours")
            #expect(try scene.secretTool("lookup", name, "bob", "colour", "red").status == 1)
        }
        // git-credential-libsecret's attributes, for what `latchkey set` stored.
        #expect(try programs.latchkey("set", "--internet", "example.com", "eve", input: Data("git".utf8)).status == 0)
        let git = ["xdg:schema", "org.gnome.keyring.NetworkPassword", "server", "example.com", "protocol", "https"]
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + git).text == "git")
        #expect(try scene.secretTool("lookup", "user", "eve").text == "git")
        #expect(try scene.secretTool("lookup", "user", "eve", "protocol", "https").text == "git")
        // What names no account replaces nobody's.
        #expect(try programs.latchkey("set", "wiki", "carol", input: Data("carol's".utf8)).status == 0)
        #expect(try scene.secretTool("store", "--label=L", "service", "wiki", typed: "of no account").status == 0)
        #expect(try programs.latchkey("get", "wiki", "bob").text == "ours")
        #expect(try programs.latchkey("get", "wiki", "carol").text == "carol's")
        let all = try scene.secretTool("search", "--all", "--unlock", "service", "wiki")
        #expect(all.text.components(separatedBy: "secret = ").count == 4, "\(all.text)")
        // In a list (Seahorse's, say) what has no label of its own is called by its service.
        let labels = all.text.split(separator: "\n").filter { $0.hasPrefix("label = ") }.sorted()
        #expect(labels == ["label = L", "label = wiki", "label = wiki"])
        // And of what it stores in its place there is one.
        let replaced = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=Git"] + git + ["user", "eve"], typed: "from git")
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(try programs.latchkey("get", "example.com", "eve").text == "from git")
    }

    /// The calls of Chromium, and of Electron's programs, which have its code, in their order
    /// (`make test-peers` has Chromium itself): they speak D-Bus themselves, and `plain`.
    @Test(arguments: ["chromium", "Code"]) func chromiumsCallsAreAnswered(application: String) throws {
        let run =
            SecretServiceScene.objects + """
                assert bus.name_has_owner(NAME)
                collection = service.ReadAlias('default')
                get = at(collection, 'org.freedesktop.DBus.Properties').Get
                assert get(S + 'Collection', 'Label') == 'Login'
                assert service.Unlock([collection]) == ([collection], '/')
                mine = session()
                names = dbus.Dictionary({'application': '\(application)'}, signature='ss')
                found = at(collection, S + 'Collection').SearchItems(names)
                if not found:
                    names['xdg:schema'] = 'chrome_libsecret_os_crypt_password_v2'
                    made, prompt = at(collection, S + 'Collection').CreateItem(
                        props(S + 'Item.Label', 'Chromium Safe Storage', S + 'Item.Attributes', names),
                        secret(mine, b'c2l4dGVlbiBieXRlcyEhIQ=='), False)
                    assert prompt == '/'
                    print('stored')
                else:
                    item, = found
                    assert service.Unlock([item]) == ([item], '/')
                    print(bytes(service.GetSecrets([item], mine)[item][2]).decode())
                at(mine, S + 'Session').Close()
                """
        #expect(try scene.python(run).text == "stored\n")
        #expect(try scene.python(run).text == "c2l4dGVlbiBieXRlcyEhIQ==\n")
        #expect(try programs.latchkey("get", "Chromium Safe Storage", application).status == 0)
    }

    /// As gnome-keyring has it, whatever the collection: secret-tool and libsecret take the first.
    @Test func whatWasChangedLastIsFoundFirst() throws {
        let run =
            SecretServiceScene.objects + """
                mine = session()
                work, prompt = service.CreateCollection(props(S + 'Collection.Label', 'Work'), '')
                names = dbus.Dictionary({'service': 'mail'}, signature='ss')
                def make(collection, user, value):
                    own = dbus.Dictionary({'service': 'mail', 'user': user}, signature='ss')
                    return at(collection, S + 'Collection').CreateItem(
                        props(S + 'Item.Label', user, S + 'Item.Attributes', own), secret(mine, value), True)[0]
                def found(*collection):
                    if collection: return list(at(collection[0], S + 'Collection').SearchItems(names))
                    return list(service.SearchItems(names)[0])
                def relabel(item, label): at(item, 'org.freedesktop.DBus.Properties').Set(
                    S + 'Item', 'Label', dbus.String(label, variant_level=1))
                alice = make(LOGIN, 'alice', b'1')
                bob = make(work, 'bob', b'2')
                carol = make(LOGIN, 'carol', b'3')
                dave = make(ROOT + '/collection/session', 'dave', b'4')
                assert found() == [dave, carol, bob, alice], found()
                assert found(LOGIN) == [carol, alice], found(LOGIN)
                assert make(LOGIN, 'alice', b'5') == alice
                assert found() == [alice, dave, carol, bob], found()
                at(bob, S + 'Item').SetSecret(secret(mine, b'6'))
                assert found() == [bob, alice, dave, carol], found()
                relabel(carol, 'Carol')
                relabel(alice, 'alice')
                assert found() == [carol, bob, alice, dave], 'what is said again is no change'
                assert found(LOGIN) == [carol, alice], found(LOGIN)
                """
        let outcome = try scene.python(run)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try scene.secretTool("lookup", "service", "mail").text == "3")
        #expect(try scene.secretTool("store", "--label=B", "service", "mail", "user", "erin", typed: "7").status == 0)
        #expect(try scene.secretTool("lookup", "service", "mail").text == "7")
    }

    /// It would be made without what it was to have, and be found by nothing.
    @Test func whatIsNoPropertyMakesNothing() throws {
        let run =
            SecretServiceScene.objects + """
                mine = session()
                own = dbus.Dictionary({'a': 'b'}, signature='ss')
                BAD = 'org.freedesktop.DBus.Error.InvalidArgs'
                login = at(LOGIN, S + 'Collection')
                for name in ['Label', 'Attributes', S + 'Item.Bogus', S + 'Item.Locked', S + 'Collection.Label']:
                    given = props(S + 'Item.Attributes', own, name, 'x')
                    refused(BAD, login.CreateItem, given, secret(mine, b'1'), False)
                for name, value in [('Locked', True), ('Created', dbus.UInt64(1)), ('Modified', dbus.UInt64(1))]:
                    given = props(S + 'Item.Attributes', own, S + 'Item.' + name, value)
                    refused(BAD, login.CreateItem, given, secret(mine, b'1'), False)
                for name in ['Label', S + 'Collection.Created', S + 'Item.Label']:
                    refused(BAD, service.CreateCollection, props(name, 'x'), '')
                # go-keychain says that an item is not locked; gnome-keyring passes that over.
                told = login.CreateItem(props(
                    S + 'Item.Attributes', dbus.Dictionary({'c': 'd'}, signature='ss'), S + 'Item.Locked', False),
                    secret(mine, b'1'), False)[0]
                assert list(login.SearchItems(own)) == []
                assert len(at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')) == 2
                # Without attributes it is of the schema that gnome-keyring says of such items.
                item = login.CreateItem(props(S + 'Item.Label', 'none'), secret(mine, b'1'), False)[0]
                assert list(login.SearchItems(dbus.Dictionary(
                    {'xdg:schema': 'org.freedesktop.Secret.Generic'}, signature='ss'))) == [item, told]
                # Nobody replaces what names no attributes, by naming none.
                none = dbus.Dictionary({}, signature='ss')
                other = login.CreateItem(props(S + 'Item.Attributes', none), secret(mine, b'2'), True)[0]
                assert other not in [item, told]
                at(item, S + 'Item').Delete()
                at(other, S + 'Item').Delete()
                """
        let outcome = try scene.python(run)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// Chromium's items are called by their label, and so the one that replaces another is.
    @Test func whatReplacesAnItemUnderAnotherLabelGoesByThat() throws {
        let names = ["xdg:schema", "chrome_libsecret_os_crypt_password_v2", "application", "Code"]
        for (label, value) in [("Safe Storage", "first"), ("New Storage", "second"), ("New Storage", "third")] {
            let stored = try scene.client(
                "/usr/bin/secret-tool", ["store", "--label=\(label)"] + names, typed: value)
            #expect(stored.status == 0, "\(stored.errors)")
            #expect(try programs.latchkey("get", label, "Code").text == value)
        }
        #expect(try programs.latchkey("get", "Safe Storage", "Code").status == 1)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + names).text == "third")
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
    }

    /// By the attributes of NetworkManager's agent.
    @Test func whatNetworkManagersAgentStoresIsFound() throws {
        let names = ["connection-uuid", "00-11", "setting-name", "802-11-wireless-security", "setting-key", "psk"]
        let schema = ["xdg:schema", "org.freedesktop.NetworkManager.Connection"]
        let stored = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=Network secret"] + schema + names, typed: "the psk")
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + Array(names.prefix(4))).text == "the psk")
        let account = "00-11/802-11-wireless-security/psk"
        #expect(try programs.latchkey("get", schema[1], account).text == "the psk")
    }

    /// By the attributes of qtkeychain (`make test-peers` has the library itself).
    @Test func whatQtkeychainStoresHasItsNames() throws {
        func place(_ key: String, _ type: String = "plaintext") -> [String] {
            ["xdg:schema", "org.qt.keychain", "server", "Cloud", "user", key, "type", type]
        }
        let stored = try scene.client("/usr/bin/secret-tool", ["store", "--label=L"] + place("alice"), typed: "theirs")
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try programs.latchkey("get", "Cloud", "alice").text == "theirs")
        #expect(try programs.latchkey("set", "Cloud", "bob", input: Data("ours".utf8)).status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place("bob")).text == "ours")
        // Bytes are stored encoded: nobody would read a person's text so.
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place("bob", "base64")).status == 1)
    }

    /// git's own helper, on the session's bus, and ours, without one.
    @Test(.enabled(if: SecretServiceClients.canBuildGitsHelper, "git's contrib or libsecret-1-dev is missing"))
    func gitsHelperAndOursHaveOneKeychain() throws {
        let theirs = programs.home + "/git-credential-libsecret"
        let built = try programs.shell(
            "gcc -o \(theirs) \(SecretServiceClients.gitsHelper) $(pkg-config --cflags --libs libsecret-1)")
        #expect(built.status == 0, "\(built.errors)")
        func ours(_ action: String, _ lines: String) throws -> String {
            try programs.run(
                "\(BuiltPrograms.folder)/git-credential-latchkey", [action], input: Data(lines.utf8)
            ).text
        }
        let places = [
            "protocol=https\nhost=git.example\n", "protocol=http\nhost=git.example:8080\n",
            "protocol=https\nhost=git.example\npath=a/b.git\n",
        ]
        for (number, place) in places.enumerated() {
            let (first, second) = ("password=first\(number)\n", "password=second\(number)\n")
            #expect(try scene.client(theirs, ["store"], typed: place + "username=alice\n" + first).status == 0)
            #expect(try ours("get", place + "username=alice\n") == "username=alice\n" + first, "\(place)")
            _ = try ours("store", place + "username=alice\n" + second)
            #expect(try scene.client(theirs, ["get"], typed: place).text == "username=alice\n" + second, "\(place)")
        }
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 3)
        for place in places.reversed() {
            _ = try ours("store", place + "username=bob\npassword=bobs\n")
            #expect(
                try scene.client(theirs, ["get"], typed: place + "username=bob\n").text
                    == "username=bob\npassword=bobs\n")
            #expect(try scene.client(theirs, ["erase"], typed: place + "username=bob\n").status == 0)
            #expect(try ours("get", place + "username=bob\n") == "")
            _ = try ours("erase", place + "username=alice\n")
            #expect(try scene.client(theirs, ["get"], typed: place + "username=alice\n").text == "username=alice\n")
        }
        // Theirs finds a host as it is spelled: ours finds it in any spelling, writes over it, and erases it.
        let spelled = "protocol=https\nhost=Mixed.Example\nusername=alice\n"
        #expect(try scene.client(theirs, ["store"], typed: spelled + "password=theirs\n").status == 0)
        #expect(try ours("get", spelled.lowercased()) == "username=alice\npassword=theirs\n")
        _ = try ours("store", spelled + "password=ours\n")
        #expect(try scene.client(theirs, ["get"], typed: spelled).text == "username=alice\npassword=ours\n")
        _ = try ours("erase", spelled + "password=ours\n")
        #expect(try ours("get", spelled) == "")
    }

    /// docker's own helper, on the session's bus, and ours, without one.
    @Test(.enabled(if: SecretServiceClients.hasDockersHelper, "golang-docker-credential-helpers is missing"))
    func dockersHelperAndOursHaveOneKeychain() throws {
        func theirs(_ action: String, _ input: String = "") throws -> BuiltPrograms.Outcome {
            try scene.client(SecretServiceClients.dockersHelper, [action], typed: input)
        }
        func ours(_ action: String, _ input: String = "") throws -> BuiltPrograms.Outcome {
            try programs.run(
                "\(BuiltPrograms.folder)/docker-credential-latchkey", [action], input: Data(input.utf8))
        }
        for url in ["https://index.docker.io/v1/", "registry.example:5000", "made-up://a"] {
            let login = { (secret: String) in #"{"ServerURL":"\#(url)","Username":"alice","Secret":"\#(secret)"}"# }
            #expect(try ours("store", login("ours")).status == 0)
            #expect(try theirs("get", url).text.contains(#""Secret":"ours""#), "\(url)")
            #expect(try theirs("store", login("theirs")).status == 0)
            #expect(try ours("get", url).text.contains(#""Username":"alice","Secret":"theirs""#), "\(url)")
        }
        let listed = try JSONSerialization.jsonObject(with: try theirs("list").output) as? [String: String]
        #expect(try listed == JSONSerialization.jsonObject(with: try ours("list").output) as? [String: String])
        #expect(listed?.count == 3)
        #expect(try theirs("erase", "made-up://a").status == 0)
        #expect(try ours("get", "made-up://a").text == "credentials not found in native keychain\n")
        #expect(try ours("erase", "registry.example:5000").status == 0)
        #expect(try theirs("get", "registry.example:5000").text.contains("credentials not found in native keychain"))
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 1)
    }

    /// By the attributes of git-credential-libsecret and docker-credential-secretservice.
    @Test(arguments: ["org.gnome.keyring.NetworkPassword", "org.git.Password"])
    func gitAndDockerFindWhatTheirHelpersStored(schema: String) throws {
        func helper(_ name: String, _ action: String, _ input: String) throws -> BuiltPrograms.Outcome {
            try programs.run(
                "\(BuiltPrograms.folder)/\(name)-credential-latchkey", [action], input: Data(input.utf8))
        }
        let place = "protocol=https\nhost=git.example:8443\npath=a/b.git\n"
        let names = ["protocol", "https", "server", "git.example", "port", "8443", "object", "a/b.git"]
        let git = ["xdg:schema", schema] + names
        #expect(try helper("git", "store", place + "username=alice\npassword=ours\n").status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + git).text == "ours")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + git + ["user", "alice"]).text == "ours")
        // As the newer helper looks.
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + names).text == "ours")
        // Over ours, with what newer versions put behind the password.
        let lines = "theirs\npassword_expiry_utc=33333333333\noauth_refresh_token=t"
        let stored = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=Git"] + git + ["user", "alice"], typed: lines)
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(
            try helper("git", "get", place).text
                == "username=alice\npassword=theirs\npassword_expiry_utc=33333333333\noauth_refresh_token=t\n")
        #expect(try helper("git", "store", place + "username=alice\npassword=again\n").status == 0)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + git).text == "again")
        #expect(try helper("git", "erase", place + "username=alice\npassword=again\n").status == 0)
        #expect(try programs.latchkey("list").output.isEmpty)
        // No host, as of a certificate's key.
        let key = ["xdg:schema", schema, "protocol", "cert", "object", "/a/key", "user", ""]
        #expect(
            try scene.client("/usr/bin/secret-tool", ["store", "--label=Git"] + key, typed: "of a key").status == 0)
        #expect(
            try helper("git", "get", "protocol=cert\npath=/a/key\nusername=\n").text == "username=\npassword=of a key\n"
        )

        for (url, other) in [("https://index.docker.io/v1/", "registry.example:5000"), ("made-up://a", "a.example/v1")]
        {
            func docker(_ url: String) -> [String] {
                [
                    "xdg:schema", "io.docker.Credentials", "label", "Docker Credentials", "server", url, "docker_cli",
                    "1",
                ]
            }
            let login = #"{"ServerURL":"\#(url)","Username":"alice","Secret":"ours"}"#
            #expect(try helper("docker", "store", login).status == 0)
            #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + docker(url)).text == "ours", "\(url)")
            let theirs = try scene.client(
                "/usr/bin/secret-tool", ["store", "--label=\(other)"] + docker(other) + ["username", "bob"],
                typed: "theirs")
            #expect(theirs.status == 0, "\(theirs.errors)")
            #expect(
                try helper("docker", "get", other).text.contains(#""Username":"bob","Secret":"theirs""#), "\(other)")
        }
        let listed = try helper("docker", "list", "").output
        #expect((try JSONSerialization.jsonObject(with: listed) as? [String: String])?.count == 4)
    }

    /// go-keyring and Java's secret-service store text with a charset, which libsecret, to whom
    /// text is "text/plain" alone, has to be given; what names no attributes replaces nothing;
    /// Type is the schema, as libgnome-keyring's heirs say it. As gnome-keyring has all of it.
    @Test func whatOtherLibrariesSayOfItemsIsUnderstood() throws {
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine = session()
                login = at(LOGIN, S + 'Collection')
                def names(**pairs): return dbus.Dictionary(pairs, signature='ss')
                def typed(value, kind): return dbus.Struct((mine, dbus.ByteArray(b''), dbus.ByteArray(value), kind))
                gh, _ = login.CreateItem(
                    props(S + 'Item.Label', 'L',
                          S + 'Item.Attributes', names(service='gh:github.com', username='alice')),
                    typed(b'gho_token', 'text/plain; charset=utf8'), True)
                assert at(gh, S + 'Item').GetSecret(mine)[3] == 'text/plain'
                at(gh, S + 'Item').SetSecret(typed(b'binary', 'application/octet-stream'))
                assert at(gh, S + 'Item').GetSecret(mine)[3] == 'application/octet-stream'
                at(gh, S + 'Item').SetSecret(typed(b'gho_token', 'TEXT/plain;charset=UTF-8'))
                assert at(gh, S + 'Item').GetSecret(mine)[3] == 'text/plain'
                # Replaced by text it is text.
                at(gh, S + 'Item').SetSecret(typed(b'binary', 'application/octet-stream'))
                again, _ = login.CreateItem(
                    props(S + 'Item.Attributes', names(service='gh:github.com', username='alice')),
                    typed(b'gho_token', 'text/plain'), True)
                assert again == gh and at(gh, S + 'Item').GetSecret(mine)[3] == 'text/plain'
                # git-credential-libsecret of git before and from 2.42 on.
                def ofGit(schema): return names(server='h', user='u', protocol='https', **{'xdg:schema': schema})
                older = ofGit('org.gnome.keyring.NetworkPassword')
                old, _ = login.CreateItem(props(S + 'Item.Attributes', older), secret(mine, b'old'), True)
                new, _ = login.CreateItem(
                    props(S + 'Item.Attributes', ofGit('org.git.Password')), secret(mine, b'new'), True)
                assert old == new and list(login.SearchItems(names(server='h'))) == [old]
                one, _ = login.CreateItem(props(S + 'Item.Label', 'n1'), secret(mine, b'one'), True)
                two, _ = login.CreateItem(props(S + 'Item.Label', 'n2'), secret(mine, b'two'), True)
                assert one != two and bytes(at(one, S + 'Item').GetSecret(mine)[2]) == b'one'
                refused('org.freedesktop.DBus.Error.InvalidArgs', login.CreateItem,
                        props(S + 'Item.Label', 7), secret(mine, b'x'), False)
                ours, _ = login.CreateItem(
                    props(S + 'Item.Type', 'org.my.Type', S + 'Item.Attributes', names(k='7')),
                    secret(mine, b'v'), False)
                get = at(ours, 'org.freedesktop.DBus.Properties').Get
                assert get(S + 'Item', 'Type') == 'org.my.Type'
                assert list(login.SearchItems(names(k='7', **{'xdg:schema': 'org.my.Type'}))) == [ours]
                at(ours, 'org.freedesktop.DBus.Properties').Set(
                    S + 'Item', 'Type', dbus.String('org.Other', variant_level=1))
                assert get(S + 'Item', 'Attributes') == {'k': '7', 'xdg:schema': 'org.Other'}
                assert at(gh, 'org.freedesktop.DBus.Properties').Get(S + 'Item', 'Type') == S + 'Generic'
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
        #expect(try scene.secretTool("lookup", "service", "gh:github.com", "username", "alice").text == "gho_token")
    }

    /// Above 128 items after a while, and not with each.
    @Test func whoKeepsALongListHearsOfAnotherItem() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine = session()
                for n in range(131):
                    attributes = dbus.Dictionary({'n': str(n)}, signature='ss')
                    made, _ = at(LOGIN, S + 'Collection').CreateItem(
                        props(S + 'Item.Attributes', attributes), secret(mine, b'v'), False)
                print(made)
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        // Deeper than where ItemCreated names it.
        #expect(monitor.hears("      object path \"\(outcome.text.trimmingCharacters(in: .newlines))\""))
    }

    @Test func aSessionsCollectionEndsWithTheService() throws {
        #expect(
            try scene.secretTool("store", "--collection=session", "--label=s", "a", "b", typed: "short").status == 0)
        #expect(try scene.secretTool("lookup", "a", "b").text == "short")
        scene.end()
        try scene.startService()
        #expect(try scene.secretTool("lookup", "a", "b").status == 1)
    }

    @Test func itLeavesNoCoreDump() throws {
        let limits = try String(contentsOfFile: "/proc/\(scene.service.processIdentifier)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    }

    /// Whoever is on the bus may store there, and it lies in memory.
    @Test func aSessionsCollectionHasAnEnd() throws {
        let refused = try scene.python(
            SecretServiceScene.objects + """
                mine = session()
                short = at(ROOT + '/collection/session', S + 'Collection')
                def create(value): return short.CreateItem(props(), secret(mine, value), False)[0]
                def said(*words):
                    try: create(b'x' * (1 << 24) if 'bytes' in words else b'')
                    except dbus.DBusException as error:
                        assert error.get_dbus_name() == 'org.freedesktop.DBus.Error.LimitsExceeded', error
                        assert all(word in error.get_dbus_message() for word in words), error
                    else: raise SystemExit('it is stored')
                said('collection session', 'bytes', '16777216')
                made = [create(b'') for number in range(4096)]
                said('collection session', '4096 items', '4097')
                for item in made: at(item, S + 'Item').Delete()
                create(b'')
                """)
        #expect(refused.status == 0, "\(refused.errors)")
        let outcome = try scene.python(
            """
            import secretstorage
            connection = secretstorage.dbus_init()
            session = secretstorage.Collection(connection, '/org/freedesktop/secrets/aliases/session')
            count = 0
            try:
                for count in range(20): item = session.create_item('%d' % count, {'n': str(count)}, b'x' * (1 << 20))
            except Exception as error: print(count, 'bytes' in str(error) or 'limit' in str(error) or str(error))
            item.delete()
            session.create_item('again', {'n': 'again'}, b'x' * (1 << 19)); print('again')
            """)
        #expect(outcome.text.hasPrefix("15 ") && outcome.text.hasSuffix("again\n"), "\(outcome.text)\(outcome.errors)")
    }

    /// What a client encrypted for another session is no secret of this one.
    @Test func whatWasEncryptedForAnotherSessionIsNotKept() throws {
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine, login = session(), at(LOGIN, S + 'Collection')
                own = dbus.Dictionary({'a': 'b'}, signature='ss')
                vector = dbus.ByteArray(b'v' * 16)
                def other(value): return dbus.Struct((mine, vector, dbus.ByteArray(value), 'text/plain'))
                BAD = 'org.freedesktop.DBus.Error.InvalidArgs'
                given = props(S + 'Item.Attributes', own)
                refused(BAD, login.CreateItem, given, other(b'1' * 16), False)
                assert list(login.SearchItems(own)) == []
                item = at(login.CreateItem(given, secret(mine, b'kept'), False)[0], S + 'Item')
                refused(BAD, item.SetSecret, other(b'2' * 16))
                refused(BAD, login.CreateItem, given, other(b'3' * 16), True)
                assert bytes(item.GetSecret(mine)[2]) == b'kept'
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// What was said before is told again, and is no change.
    @Test func aLabelThatIsSaidAgainIsTold() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                import time
                mine, login = session(), at(LOGIN, S + 'Collection')
                own = dbus.Dictionary({'a': 'b'}, signature='ss', variant_level=1)
                item, _ = login.CreateItem(
                    props(S + 'Item.Label', 'L', S + 'Item.Attributes', own), secret(mine, b'v'), False)
                properties = at(item, 'org.freedesktop.DBus.Properties')
                before = properties.Get(S + 'Item', 'Modified')
                time.sleep(1.1)
                properties.Set(S + 'Item', 'Label', dbus.String('L', variant_level=1))
                properties.Set(S + 'Item', 'Attributes', own)
                assert properties.Get(S + 'Item', 'Modified') == before
                print(item)
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let item = outcome.text.trimmingCharacters(in: .newlines)
        let changed = "path=\(item); interface=org.freedesktop.DBus.Properties; member=PropertiesChanged"
        #expect(monitor.hears(changed, times: 2))
        #expect(monitor.hears("member=ItemChanged\n   object path \"\(item)\"", times: 2))
    }

    @Test func whileLockedWhatIsOpenOrStaysIsAnswered() throws {
        try scene.setPasscode("words words")
        try scene.lock()
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                def label(path): return at(path, 'org.freedesktop.DBus.Properties')
                short = label(ROOT + '/collection/session')
                new = dbus.String('Short lived', variant_level=1)
                assert not short.Get(S + 'Collection', 'Locked')
                short.Set(S + 'Collection', 'Label', new)
                assert short.Get(S + 'Collection', 'Label') == 'Short lived'
                refused(IS_LOCKED, label(LOGIN).Set, S + 'Collection', 'Label', new)
                # An alias that stands for it already, or for nothing.
                assert service.SetAlias('default', LOGIN) is None
                assert service.SetAlias('none', dbus.ObjectPath('/')) is None
                refused(IS_LOCKED, service.SetAlias, 'none', LOGIN)
                refused(IS_LOCKED, service.SetAlias, 'default', dbus.ObjectPath('/'))
                refused(S + 'Error.NoSuchObject', service.SetAlias, 'none', dbus.ObjectPath(ROOT + '/collection/none'))
                assert service.ReadAlias('default') == LOGIN and service.ReadAlias('none') == '/'
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(monitor.hears("string \"Short lived\""))
        let short = "/org/freedesktop/secrets/collection/session"
        #expect(monitor.hears("member=CollectionChanged\n   object path \"\(short)\""))
        try scene.unlock("words words")
    }

    @Test func aLockedKeychainSaysSoAtOnce() throws {
        #expect(try scene.secretTool("store", "--label=L", "service", "mail", typed: "before").status == 0)
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        #expect(try scene.secretTool("lookup", "service", "mail").text == "before")
        #expect(try programs.latchkey("lock").status == 0)
        let lookup = try scene.secretTool("lookup", "service", "mail")
        #expect(
            lookup.status == 1 && lookup.text == "" && lookup.errors.contains("latchkey unlock"), "\(lookup.errors)")
        let store = try scene.secretTool("store", "--label=L", "service", "wiki", typed: "no")
        #expect(store.status == 1 && store.errors.contains("latchkey unlock"), "\(store.errors)")
        // What is there is not said to be missing.
        #expect(
            try scene.secretTool("store", "--collection=session", "--label=s", "a", "b", typed: "short").status == 0)
        #expect(try scene.secretTool("lookup", "a", "b").text == "short")
        let found = try scene.python(
            """
            service = dbus.Interface(dbus.SessionBus().get_object('org.freedesktop.secrets', '/org/freedesktop/secrets'),
                                     'org.freedesktop.Secret.Service')
            print(*[len(paths) for paths in service.SearchItems({'service': 'mail'})])
            S, ROOT = 'org.freedesktop.Secret.', '/org/freedesktop/secrets'
            login = dbus.SessionBus().get_object('org.freedesktop.secrets', ROOT + '/collection/login', introspect=False)
            for call, arguments in [(dbus.Interface(login, S + 'Collection').Delete, ()),
                                    (service.CreateCollection, (dbus.Dictionary({}, signature='sv'), '')),
                                    (service.SetAlias, ('x', dbus.ObjectPath(ROOT + '/collection/login')))]:
                try: call(*arguments)
                except dbus.DBusException as error: print(error.get_dbus_name())
            # Who looks by itself whether it is locked has a prompt, which is dismissed.
            properties = dbus.Interface(login, 'org.freedesktop.DBus.Properties')
            for look in [lambda: None, lambda: properties.GetAll(S + 'Collection'),
                         lambda: properties.Get(S + 'Collection', 'Locked')]:
                look()
                try: print(*[len(paths) for paths in service.Unlock([login.object_path])[:1]], 'prompt')
                except dbus.DBusException as error: print(error.get_dbus_name())
            """)
        // How python's keyring and a search that asks nobody hear of it.
        let keyring = try scene.python(
            """
            import keyring
            from keyring.backends import SecretService
            keyring.set_keyring(SecretService.Keyring())
            try: print(keyring.get_password('mail', 'alice'))
            except keyring.errors.KeyringLocked: print('locked')
            """)
        #expect(keyring.text == "locked\n", "\(keyring.text)\(keyring.errors)")
        let search = try scene.secretTool("search", "--all", "service", "mail")
        #expect(search.status == 0 && !search.text.contains("before"), "\(search.text)\(search.errors)")
        let locked = "org.freedesktop.Secret.Error.IsLocked\n"
        let refused = "org.freedesktop.DBus.Error.NotSupported\n\(locked)\(locked)"
        #expect(found.text == "0 1\n\(refused)\(locked)\(locked)0 prompt\n", "\(found.errors)")
        #expect(try programs.latchkey("unlock", input: Data("words words".utf8)).status == 0)
        #expect(try scene.secretTool("lookup", "service", "mail").text == "before")
    }

    /// All clients together wait for it as long as one does, and hear what it is.
    @Test func aSilentDaemonKeepsManyWaitingNoLongerThanOne() throws {
        #expect(try scene.secretTool("store", "--label=L", "service", "mail", typed: "the value").status == 0)
        let daemon = try programs.daemonProcess()
        try stop(daemon)
        let outcome = try scene.python(
            """
            import subprocess, time
            begun = time.monotonic()
            clients = [subprocess.Popen(['/usr/bin/secret-tool', 'lookup', 'service', 'mail'], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE) for _ in range(6)]
            heard = [client.communicate() for client in clients]
            taken = time.monotonic() - begun
            print([client.returncode for client in clients], taken < 14 or taken,
                  all(b'no answer' in text and value == b'' for value, text in heard) or heard)
            """)
        kill(daemon, SIGCONT)
        #expect(outcome.text == "[1, 1, 1, 1, 1, 1] True True\n", "\(outcome.text)\(outcome.errors)")
        #expect(try BuiltPrograms.eventually { try scene.secretTool("lookup", "service", "mail").text == "the value" })
    }

    // MARK: What a person changes

    @Test func whatAPersonRenamesIsFoundByItsNewNames() throws {
        let names = ["service", "mail", "username", "alice", "colour", "red"]
        let stored = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=L"] + names, typed: "the value")
        #expect(stored.status == 0, "\(stored.errors)")
        let edited = try programs.latchkey("edit", "mail", "alice", "--to-service", "post", "--to-account", "bob")
        #expect(edited.status == 0, "\(edited.errors)")
        #expect(try scene.secretTool("lookup", "username", "alice").status == 1)
        #expect(try scene.secretTool("lookup", "service", "mail").status == 1)
        #expect(try scene.secretTool("lookup", "service", "post", "username", "bob").text == "the value")
        #expect(try programs.latchkey("edit", "post", "bob", "--label", "Other").status == 0)
        let shown = try scene.secretTool("search", "--all", "--unlock", "colour", "red")
        #expect(shown.text.contains("label = Other\n") && shown.errors.contains("attribute.username = bob"))
        // What the program stores under the new names takes its place.
        let again = ["service", "post", "username", "bob", "colour", "red"]
        #expect(try scene.client("/usr/bin/secret-tool", ["store", "--label=L"] + again, typed: "newer").status == 0)
        #expect(try programs.latchkey("get", "post", "bob").text == "newer")
        #expect(try scene.secretTool("search", "--all", "colour", "red").text.ranges(of: "label = ").count == 1)
    }

    // MARK: python

    @Test func pythonsKeyringKeepsPasswords() throws {
        let outcome = try scene.python(
            """
            import keyring
            from keyring.backends import SecretService
            keyring.set_keyring(SecretService.Keyring())
            assert keyring.get_password('web', 'alice') is None
            keyring.set_password('web', 'alice', 'one')
            keyring.set_password('web', 'bob', 'zwei é')
            assert keyring.get_password('web', 'alice') == 'one'
            keyring.set_password('web', 'alice', 'another')
            assert keyring.get_password('web', 'alice') == 'another'
            assert keyring.get_password('web', 'bob') == 'zwei é'
            assert keyring.get_credential('web', 'bob').password == 'zwei é'
            keyring.delete_password('web', 'alice')
            assert keyring.get_password('web', 'alice') is None
            print('done')
            """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
        #expect(try programs.latchkey("get", "web", "bob").text == "zwei é")
    }

    @Test func secretstorageChangesItemsAndCollections() throws {
        let outcome = try scene.python(
            """
            import secretstorage
            connection = secretstorage.dbus_init()
            assert secretstorage.check_service_availability(connection)
            login = secretstorage.get_default_collection(connection)
            assert login.get_label() == 'Login' and not login.is_locked()
            item = login.create_item('First', {'a': 'b', 'c': 'd'}, b'bytes \\0 \\xff')
            assert item.get_secret() == b'bytes \\0 \\xff' and item.get_label() == 'First'
            assert item.get_attributes() == {'a': 'b', 'c': 'd', 'xdg:schema': 'org.freedesktop.Secret.Generic'}
            again = login.create_item('Second', {'a': 'b', 'c': 'd'}, b'other')
            assert again.item_path != item.item_path
            assert sorted(i.get_label() for i in login.search_items({'a': 'b'})) == ['First', 'Second']
            replaced = login.create_item('Third', {'a': 'b', 'c': 'd'}, b'third', replace=True)
            assert replaced.item_path in (item.item_path, again.item_path)
            item.set_label('Renamed'); item.set_secret(b'new'); item.set_attributes({'e': 'f'})
            assert item.get_label() == 'Renamed' and item.get_secret() == b'new'
            assert [i.item_path for i in login.search_items({'e': 'f'})] == [item.item_path]
            assert item.get_created() > 1600000000 and item.get_modified() >= item.get_created()
            item.delete()
            try:
                item.get_label()
                raise SystemExit('it is still there')
            except secretstorage.exceptions.ItemNotFoundException:
                pass
            work = secretstorage.create_collection(connection, 'Work & play', 'wörk' if False else '')
            assert work.get_label() == 'Work & play'
            work.create_item('At work', {'a': 'b'}, b'w')
            assert [i.get_label() for i in work.get_all_items()] == ['At work']
            assert len(list(secretstorage.search_items(connection, {'a': 'b'}))) == 2
            work.set_label('Play')
            labels = {c.get_label() for c in secretstorage.get_all_collections(connection)}
            assert {'Login', 'Play'} <= labels, labels
            work.delete()
            assert len(list(secretstorage.search_items(connection, {'a': 'b'}))) == 1
            print('done')
            """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    // MARK: The wire itself

    @Test func callsAreAnsweredAsTheSpecificationHasThem() throws {
        let outcome = try scene.python(
            """
            bus = dbus.SessionBus()
            NAME, ROOT = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
            def at(path, interface): return dbus.Interface(bus.get_object(NAME, path, introspect=False), interface)
            def refused(name, call, *arguments):
                try: call(*arguments)
                except dbus.DBusException as error: assert error.get_dbus_name() == name, error
                else: raise SystemExit(name + ' was expected')
            S = 'org.freedesktop.Secret.'
            service = at(ROOT, S + 'Service')
            refused('org.freedesktop.DBus.Error.NotSupported', service.OpenSession, 'rot13', dbus.String('', variant_level=1))
            output, session = service.OpenSession('plain', dbus.String('', variant_level=1))
            assert output == ''
            for path in ['/org/freedesktop/secrets/collection/none', '/org/freedesktop/secrets/collection/login/g00', '/x']:
                refused('org.freedesktop.DBus.Error.UnknownMethod', at(path, S + 'Item').GetSecret, session)
            secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(b'v'), 'text/plain'), signature='oayays')
            alias = at(ROOT + '/aliases/default', S + 'Collection')
            properties = {S + 'Item.Label': 'L', S + 'Item.Attributes': dbus.Dictionary({'k': 'v'}, signature='ss')}
            item, prompt = alias.CreateItem(dbus.Dictionary(properties, signature='sv'), secret, False)
            assert prompt == '/' and item.startswith(ROOT + '/collection/login/'), item
            assert bytes(at(item, S + 'Item').GetSecret(session)[2]) == b'v'
            assert service.Unlock(dbus.Array([], signature='o')) == ([], '/')
            def paths(*texts): return dbus.Array(texts, signature='o')
            both = paths(ROOT + '/aliases/default', item)
            assert service.Unlock(both) == (both, '/')
            gone = ROOT + '/collection/login/g' + '0' * 32
            assert list(service.GetSecrets(paths(item, gone), session)) == [item]
            assert service.ReadAlias('default') == ROOT + '/collection/login' and service.ReadAlias('no') == '/'
            get = at(ROOT + '/aliases/default', 'org.freedesktop.DBus.Properties').Get
            assert get(S + 'Collection', 'Label') == 'Login' and get(S + 'Collection', 'Items') == [item]
            refused('org.freedesktop.DBus.Error.UnknownProperty', get, S + 'Collection', 'Colour')
            refused('org.freedesktop.DBus.Error.UnknownMethod', at(item, S + 'Item').Sing)
            INVALID = 'org.freedesktop.DBus.Error.InvalidArgs'
            refused(INVALID, service.SearchItems, 'x')
            refused(INVALID, service.Unlock, dbus.Array(['/a'] * 100001, signature='o'))
            deep = 'x'
            for level in range(12): deep = dbus.Array([deep], variant_level=1)
            refused(INVALID, service.OpenSession, 'plain', deep)
            many = dbus.Dictionary({str(n): '' for n in range(300)}, signature='ss')
            refused('org.freedesktop.DBus.Error.LimitsExceeded', service.SearchItems, many)
            # Another connection has no part in a session.
            other = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
            theirs = dbus.Interface(other.get_object(NAME, item, introspect=False), S + 'Item')
            refused(S + 'Error.NoSession', theirs.GetSecret, session)
            at(session, S + 'Session').Close()
            refused(S + 'Error.NoSession', at(item, S + 'Item').GetSecret, session)
            # The login collection is the command line's; an alias leads nowhere by what somebody wrote.
            refused('org.freedesktop.DBus.Error.NotSupported', alias.Delete)
            refused(INVALID, service.SetAlias, 'default', dbus.ObjectPath(ROOT + '/collection/session'))
            collections = at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')
            for label in [dbus.UInt32(3, variant_level=1), dbus.Array(['x'], variant_level=1)]:
                refused(INVALID, service.CreateCollection, {S + 'Collection.Label': label}, '')
            assert at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections') == collections
            # A label that D-Bus cannot say is said as well as it can be.
            bus.get_object(NAME, item, introspect=False).Set(
                S + 'Item', 'Label', dbus.String('new', variant_level=1), dbus_interface='org.freedesktop.DBus.Properties')
            # Nobody but the bus says that a connection has ended.
            output, mine = service.OpenSession('plain', dbus.String('', variant_level=1))
            import dbus.lowlevel
            lie = dbus.lowlevel.SignalMessage('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameOwnerChanged')
            lie.set_destination(bus.get_name_owner(NAME))
            lie.append(bus.get_unique_name(), bus.get_unique_name(), '')
            other.send_message(lie); other.flush()
            dbus.Interface(other.get_object(NAME, ROOT, introspect=False), S + 'Service').ReadAlias('default')
            assert bytes(at(item, S + 'Item').GetSecret(mine)[2]) == b'v'
            for path in [ROOT, ROOT + '/collection/login', item, ROOT + '/collection', '/', '/org']:
                assert '<node' in at(path, 'org.freedesktop.DBus.Introspectable').Introspect()
            print('done')
            """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }
}
