import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A locked keychain, and clients of the Secret Service that have it opened: by a prompt on
/// their own terminal, with the real pinentry, and by the passcode itself.
@Suite(
    .enabled(
        if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing"),
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/pinentry-curses"), "pinentry-curses is missing"))
struct SecretServicePromptTests {
    private let scene: SecretServiceScene
    private var programs: BuiltPrograms { scene.programs }
    private static let passcode = "words words"

    init() throws {
        scene = try SecretServiceScene()
        #expect(try scene.secretTool("store", "--label=L", "service", "mail", typed: "the value").status == 0)
        try scene.setPasscode(Self.passcode)
        try scene.lock()
    }

    private func lookUp(on terminal: PseudoTerminal) throws -> TestProcess {
        try terminal.start(
            programs, program: "/usr/bin/secret-tool", arguments: ["lookup", "service", "mail"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"])
    }

    private func prompts() -> [Int32] { programs.processes("latchkey-prompt") }

    // MARK: Items that need a person

    /// Nobody is asked for one over the bus, where the person could be: it is not there.
    @Test func anItemThatNeedsAPersonIsNotThere() throws {
        try scene.unlock(Self.passcode)
        let data = programs.home + "/data/latchkey"
        let client = DaemonConnectionPool(
            ClientConfiguration(
                target: .store(
                    KeychainLocations(dataDirectory: data, runDirectory: data + "/run"), autostart: false)))
        let constraint = try #require(AccessControl(protection: "ak", flags: .userPresence))
        let lookup = try #require(LookupAttributes([.init(name: "service", value: "guarded")]))
        let item: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string("guarded")), ("acct", .string("alice")),
            ("agrp", .string("latchkey")), ("accc", .accessControl(constraint)), ("look", .data(lookup.encoded)),
            ("v_Data", .secret), ("r_PersistentRef", .bool(true)),
        ]
        let value = SharedSecret(SecretBytes(copying: Array("guarded value".utf8)))
        let row = try client.perform(KeychainRequest(.add, query: QueryDictionary(item), value: value)).rows.first
        let reference = try #require(row?.persistentReference.dropFirst(4))
        let name = "g" + reference.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        let script =
            SecretServiceScene.objects + """
                path, s = dbus.ObjectPath(LOGIN + '/\(name)'), session()
                assert service.SearchItems({'service': 'guarded'}) == ([], [])
                assert path not in at(LOGIN, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Items')
                assert service.GetSecrets([path], s) == {}
                assert service.Unlock([path]) == ([path], '/')
                label = dbus.String('x', variant_level=1)
                properties = at(path, 'org.freedesktop.DBus.Properties')
                for call, arguments in [
                        (at(path, S + 'Item').GetSecret, (s,)), (properties.GetAll, (S + 'Item',)),
                        (at(path, S + 'Item').SetSecret, (secret(s, b'other'),)),
                        (properties.Set, (S + 'Item', 'Label', label))]:
                    try: call(*arguments)
                    except dbus.DBusException as error: print(error.get_dbus_name().rsplit('.', 1)[1])
                    else: print('done to it')
                made, prompt = at(LOGIN, S + 'Collection').CreateItem(
                    props(S + 'Item.Attributes', dbus.Dictionary({'service': 'guarded'}, signature='ss')),
                    secret(s, b'beside'), True)
                assert made != path and prompt == '/'
                print('over')
                """
        let environment = ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"]
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let asking = try terminal.start(
            programs, program: "/usr/bin/python3", arguments: ["-c", script], changing: environment)
        #expect(terminal.shows("over"), "\(terminal.shown)")
        asking.waitUntilExit()
        let said = terminal.shown.split(whereSeparator: \.isNewline).map(String.init)
        #expect(said == ["NoSuchObject", "UnknownMethod", "UnknownMethod", "NoSuchObject", "over"], "\(said)")
        #expect(prompts().isEmpty)
        // Where the item itself is asked for the person is, on the same terminal.
        let own = try PseudoTerminal(columns: 80, rows: 24)
        let get = try own.start(
            programs, program: BuiltPrograms.latchkey, arguments: ["get", "guarded", "alice"], changing: environment)
        #expect(own.shows("<Cancel>"), "\(own.shown)")
        own.type("\t\t\r")
        get.waitUntilExit()
        #expect(get.terminationStatus != 0 && BuiltPrograms.eventually { prompts().isEmpty })
    }

    // MARK: On the terminal

    @Test func aPromptOnTheClientsTerminalOpensIt() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let lookup = try lookUp(on: terminal)
        #expect(terminal.shows("<Cancel>") && terminal.shown.contains("secret-tool"), "\(terminal.shown)")
        terminal.type("wrong\r")
        #expect(terminal.shows("Try again"), "\(terminal.shown)")
        terminal.type("\(Self.passcode)\r")
        #expect(terminal.shows("the value"), "\(terminal.shown)")
        lookup.waitUntilExit()
        #expect(lookup.terminationStatus == 0)
        #expect(BuiltPrograms.eventually { prompts().isEmpty })
    }

    @Test func whoDismissesItKeepsItLocked() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let lookup = try lookUp(on: terminal)
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        // Past OK to Cancel; pinentry-curses takes no notice of Escape.
        terminal.type("\t\t\r")
        lookup.waitUntilExit()
        #expect(lookup.terminationStatus == 1 && !terminal.shown.contains("the value"))
        #expect(try scene.isLocked)
    }

    @Test func whoUnlocksElsewhereTakesItAway() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let lookup = try lookUp(on: terminal)
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        try scene.unlock(Self.passcode)
        #expect(terminal.shows("the value"), "\(terminal.shown)")
        lookup.waitUntilExit()
        #expect(lookup.terminationStatus == 0)
    }

    @Test func aClientThatEndsTakesItsPromptAway() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let lookup = try lookUp(on: terminal)
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        #expect(prompts().count == 1)
        let clients = programs.processes(atHome: "secret-tool")
        #expect(clients.count == 1)
        for client in clients { kill(client, SIGKILL) }
        lookup.waitUntilExit()
        #expect(BuiltPrograms.eventually { prompts().isEmpty })
        // And the next one is asked for itself.
        let next = try PseudoTerminal(columns: 80, rows: 24)
        let again = try lookUp(on: next)
        #expect(next.shows("<Cancel>"), "\(next.shown)")
        next.type("\(Self.passcode)\r")
        #expect(next.shows("the value"), "\(next.shown)")
        again.waitUntilExit()
    }

    /// Also where it never had it shown.
    @Test func aClientThatEndsLeavesNoPromptBehind() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let asking = try terminal.start(
            programs, program: "/usr/bin/python3",
            arguments: ["-c", SecretServiceScene.objects + "print(service.Unlock([LOGIN])[1], flush=True)"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"])
        #expect(terminal.shows("/org/freedesktop/secrets/prompt/"), "\(terminal.shown)")
        asking.waitUntilExit()
        let path = terminal.shown.trimmingCharacters(in: .whitespacesAndNewlines)
        let after = try scene.python(
            SecretServiceScene.objects + """
                refused('org.freedesktop.DBus.Error.UnknownMethod',
                        at(dbus.ObjectPath('\(path)'), 'org.freedesktop.DBus.Introspectable').Introspect)
                print('gone')
                """)
        #expect(after.text == "gone\n", "\(after.text)\(after.errors)")
        #expect(prompts().isEmpty)
    }

    @Test func twoClientsAreOpenedByOneOfTheirPrompts() throws {
        let (one, other) = (try PseudoTerminal(columns: 80, rows: 24), try PseudoTerminal(columns: 80, rows: 24))
        let (first, second) = (try lookUp(on: one), try lookUp(on: other))
        #expect(one.shows("<Cancel>") && other.shows("<Cancel>"), "\(one.shown)\(other.shown)")
        one.type("\(Self.passcode)\r")
        #expect(one.shows("the value") && other.shows("the value"), "\(other.shown)")
        for lookup in [first, second] { lookup.waitUntilExit() }
        #expect(BuiltPrograms.eventually { prompts().isEmpty })
    }

    /// The one that has to wait for the other's turn finds the terminal in its hands.
    @Test func twoClientsOnOneTerminalLeaveItAsItWas() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let before = terminal.settings
        let next = programs.home + "/next"
        #expect(unsafe mkfifo(next, 0o600) == 0)
        let process = try terminal.start(
            programs, program: "/bin/sh",
            arguments: [
                "-c",
                "secret-tool lookup service mail & read go < \(next); secret-tool lookup service mail; wait; echo both",
            ],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"])
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        try Data("go\n".utf8).write(to: URL(fileURLWithPath: next))
        #expect(BuiltPrograms.eventually { prompts().count == 2 })
        terminal.type("\(Self.passcode)\r")
        #expect(terminal.shows("both"), "\(terminal.shown)")
        process.waitUntilExit()
        #expect(BuiltPrograms.eventually { prompts().isEmpty } && terminal.settings == before)
    }

    /// Its prompts are shown once, and all are over with that one.
    @Test func aConnectionHasOnePromptShown() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let script =
            SecretServiceScene.objects + """
                import os
                os.mkfifo(os.environ['HOME'] + '/end')
                made = [service.Unlock([LOGIN])[1] for _ in range(3)]
                for prompt in made: at(prompt, S + 'Prompt').Prompt('')
                open(os.environ['HOME'] + '/end').read()
                """
        let process = try terminal.start(
            programs, program: "/usr/bin/python3", arguments: ["-c", script],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"])
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        #expect(BuiltPrograms.eventually { prompts().count == 1 })
        terminal.type("\(Self.passcode)\r")
        #expect(monitor.hears("member=Completed", times: 3))
        #expect(terminal.shown.components(separatedBy: "<Cancel>").count == 2)
        try programs.shell("echo > $HOME/end")
        process.waitUntilExit()
        #expect(try !scene.isLocked)
    }

    /// A collection is made and deleted once a person has opened the keychain for it, and neither
    /// where that person, or the client, does not want it, or somebody opens it elsewhere.
    @Test func whatChangesCollectionsWaitsForAPerson() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let script =
            SecretServiceScene.objects + """
                import dbus.mainloop.glib
                from gi.repository import GLib
                dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
                bus = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
                service, loop, heard = at(ROOT, S + 'Service'), GLib.MainLoop(), []
                def completed(*arguments):
                    heard.append(arguments)
                    loop.quit()
                bus.add_signal_receiver(completed, 'Completed', S + 'Prompt')
                def over(prompt, member, *arguments):
                    assert prompt.startswith(ROOT + '/prompt/'), prompt
                    getattr(at(prompt, S + 'Prompt'), member)(*arguments)
                    while not heard: loop.run()
                    return heard.pop()
                collections = lambda: at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')
                create = lambda name: service.CreateCollection(props(S + 'Collection.Label', name), '')
                before = collections()
                path, prompt = create('Unwanted')
                assert path == '/' and over(prompt, 'Dismiss')[0] == True and collections() == before
                assert over(create('Declined')[1], 'Prompt', '')[0] == True and collections() == before
                print('first is over')
                dismissed, made = over(create('Wanted')[1], 'Prompt', '')
                assert not dismissed and made.endswith('/Wanted') and made in collections(), made
                assert isinstance(made, dbus.ObjectPath)
                made = dbus.ObjectPath(str(made))
                Unlocked = lambda: not at(made, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Locked')
                assert Unlocked() and service.Lock([made])[0] == [made] and not Unlocked()
                refused('org.freedesktop.DBus.Error.NotSupported', at(LOGIN, S + 'Collection').Delete)
                assert over(at(made, S + 'Collection').Delete(), 'Prompt', '')[0] == True and made in collections()
                assert Unlocked() and service.Lock([made])[0] == [made]
                print('second is over')
                dismissed, nothing = over(at(made, S + 'Collection').Delete(), 'Prompt', '')
                assert not dismissed and nothing == '' and collections() == before
                print('all is over')
                """
        let process = try terminal.start(
            programs, program: "/usr/bin/python3", arguments: ["-c", script],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"])
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        terminal.type("\t\t\r")
        #expect(terminal.shows("first is over"), "\(terminal.shown)")
        #expect(terminal.shows("Passcode: ", times: 2), "\(terminal.shown)")
        terminal.type("\(Self.passcode)\r")
        // Opened elsewhere, nobody has agreed at this prompt.
        #expect(terminal.shows("Passcode: ", times: 3), "\(terminal.shown)")
        try scene.unlock(Self.passcode)
        #expect(terminal.shows("second is over"), "\(terminal.shown)")
        #expect(terminal.shows("Passcode: ", times: 4), "\(terminal.shown)")
        terminal.type("\(Self.passcode)\r")
        #expect(terminal.shows("all is over"), "\(terminal.shown)")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(terminal.shown)")
    }

    @Test func aPromptIsOfTheClientThatItWasMadeFor() throws {
        // Through the client's own terminal.
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let script =
            SecretServiceScene.objects + """
                opened, prompt = service.Unlock([LOGIN])
                assert not opened and prompt.startswith(ROOT + '/prompt/'), prompt
                other = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
                theirs = dbus.Interface(other.get_object(NAME, prompt, introspect=False), S + 'Prompt')
                refused('org.freedesktop.DBus.Error.UnknownMethod', theirs.Prompt, '')
                refused('org.freedesktop.DBus.Error.UnknownMethod', theirs.Dismiss)
                at(prompt, S + 'Prompt').Dismiss()
                refused('org.freedesktop.DBus.Error.UnknownMethod', at(prompt, S + 'Prompt').Prompt, '')
                print('do' + 'ne')
                """
        let process = try terminal.start(
            programs, program: "/usr/bin/python3", arguments: ["-c", script],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
        #expect(terminal.shows("done"), "\(terminal.shown)")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    // MARK: By the passcode

    @Test func theMasterPasswordIsThePasscode() throws {
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                keyring = at(ROOT, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')
                DENIED = 'org.gnome.keyring.Error.Denied'
                mine = session()
                refused(DENIED, keyring.UnlockWithMasterPassword, LOGIN, secret(mine, b'wrong'))
                refused('org.freedesktop.Secret.Error.NoSession', keyring.UnlockWithMasterPassword, LOGIN,
                        secret(dbus.ObjectPath(ROOT + '/session/s99'), b'words words'))
                refused('org.freedesktop.Secret.Error.NoSuchObject', keyring.UnlockWithMasterPassword,
                        dbus.ObjectPath(ROOT + '/collection/none'), secret(mine, b'words words'))
                assert len(service.SearchItems({'service': 'mail'})[1]) == 1
                keyring.UnlockWithMasterPassword(LOGIN, secret(mine, b'words words'))
                found = service.SearchItems({'service': 'mail'})[0]
                assert bytes(at(found[0], S + 'Item').GetSecret(mine)[2]) == b'the value'
                made = keyring.CreateWithMasterPassword(props(S + 'Collection.Label', 'Work'), secret(mine, b'words words'))
                assert made.startswith(ROOT + '/collection/'), made
                refused(DENIED, keyring.CreateWithMasterPassword, props(S + 'Collection.Label', 'More'), secret(mine, b'other'))
                refused(DENIED, keyring.ChangeWithMasterPassword, LOGIN, secret(mine, b'wrong'), secret(mine, b'new words'))
                keyring.ChangeWithMasterPassword(LOGIN, secret(mine, b'words words'), secret(mine, b'new words'))
                assert list(service.Lock([LOGIN])[0]) == [LOGIN]
                refused(DENIED, keyring.UnlockWithMasterPassword, LOGIN, secret(mine, b'words words'))
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
        #expect(try scene.isLocked)
        try scene.unlock("new words")
    }

    // MARK: Locking, and who hears of it

    @Test func whoListensHearsOfLocksAndOfItems() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let hears = { (words: [String]) in words.allSatisfy { monitor.hears($0) } }
        try scene.unlock(Self.passcode)
        #expect(hears(["PropertiesChanged", "\"Locked\"", "boolean false", "member=CollectionChanged"]))
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine = session()
                login = at(LOGIN, S + 'Collection')
                properties = props(S + 'Item.Label', 'L', S + 'Item.Attributes', dbus.Dictionary({'a': 'b'}, signature='ss'))
                item, _ = login.CreateItem(properties, secret(mine, b'v'), True)
                login.CreateItem(properties, secret(mine, b'w'), True)
                at(item, S + 'Item').Delete()
                made, _ = service.CreateCollection(props(S + 'Collection.Label', 'Work'), '')
                at(made, S + 'Collection').Delete()
                service.LockService()
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            hears([
                "member=ItemCreated", "member=ItemChanged", "member=ItemDeleted", "member=CollectionCreated",
                "member=CollectionDeleted", "\"Collections\"", "boolean true",
            ]))
        #expect(try scene.isLocked)
    }

    /// Clients that keep what they read of items (Seahorse) hear of a lock, and what an item is
    /// that they met while it was closed.
    @Test func whoHasReadAnItemHearsWhatBecomesOfIt() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let read = try scene.python(
            SecretServiceScene.objects + """
                [item] = service.SearchItems({'service': 'mail'})[1]
                read = at(item, 'org.freedesktop.DBus.Properties').GetAll(S + 'Item')
                assert read['Locked'] and not read['Attributes'] and not read['Label'], read
                print(item)
                """)
        let item = read.text.trimmingCharacters(in: .newlines)
        #expect(read.status == 0, "\(read.errors)")
        try scene.unlock(Self.passcode)
        #expect(monitor.hears("path=\(item); interface=org.freedesktop.DBus.Properties; member=PropertiesChanged"))
        #expect(
            monitor.hears("string \"L\"") && monitor.hears("string \"mail\"") && monitor.hears("member=ItemChanged"))
        try scene.lock()
        #expect(
            monitor.hears(
                "path=\(item); interface=org.freedesktop.DBus.Properties; member=PropertiesChanged", times: 2))
    }

    /// And the list of a collection that is not long.
    @Test func whoKeepsTheListOfACollectionHearsOfAnotherItem() throws {
        try scene.unlock(Self.passcode)
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine = session()
                login = at(LOGIN, S + 'Collection')
                attributes = dbus.Dictionary({'a': 'b'}, signature='ss')
                made, _ = login.CreateItem(props(S + 'Item.Label', 'L', S + 'Item.Attributes', attributes), secret(mine, b'v'), False)
                # Replaced without a label it keeps the one that it has.
                again, _ = login.CreateItem(props(S + 'Item.Attributes', attributes), secret(mine, b'w'), True)
                assert again == made
                assert at(made, 'org.freedesktop.DBus.Properties').Get(S + 'Item', 'Label') == 'L'
                refused('org.freedesktop.DBus.Error.PropertyReadOnly',
                        at(LOGIN, 'org.freedesktop.DBus.Properties').Set, S + 'Item', 'Label', dbus.String('x', variant_level=1))
                print(made)
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(monitor.hears("\"Items\""))
        #expect(monitor.hears("object path \"\(outcome.text.trimmingCharacters(in: .newlines))\""))
    }

    /// Python's secretstorage keeps a session for each item that it found.
    @Test func aProgramThatHoldsManySessionsKeepsThem() throws {
        try scene.unlock(Self.passcode)
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                [item] = service.SearchItems({'service': 'mail'})[0]
                held = [session() for _ in range(600)]
                for _ in range(2):
                    for one in held: assert bytes(at(item, S + 'Item').GetSecret(one)[2]) == b'the value'
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
    }

    @Test func whereThereIsNoPasscodeNothingIsLocked() throws {
        try scene.unlock(Self.passcode)
        #expect(try programs.latchkey("passcode", "remove", "--yes", input: Data(Self.passcode.utf8)).status == 0)
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                assert list(service.Lock([LOGIN])[0]) == []
                service.LockService()
                mine = session()
                keyring = at(ROOT, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')
                keyring.UnlockWithMasterPassword(LOGIN, secret(mine, b'anything'))
                refused('org.freedesktop.DBus.Error.NotSupported', keyring.CreateWithMasterPassword, props(), secret(mine, b'x'))
                print('done')
                """)
        #expect(outcome.text == "done\n", "\(outcome.errors)")
        #expect(try scene.secretTool("lookup", "service", "mail").text == "the value")
    }

    // MARK: The portal

    /// What it has encrypted with that is not lost by moving here.
    @Test func anApplicationKeepsTheSecretThatItHadFromGNOMEsKeyring() throws {
        try scene.unlock(Self.passcode)
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                import os, subprocess
                portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
                def secret_of(application):
                    reading, writing = os.pipe()
                    assert portal.RetrieveSecret(dbus.ObjectPath('/request/1'), application, dbus.types.UnixFd(writing),
                                                 dbus.Dictionary({}, signature='sv')) == (0, {})
                    os.close(writing)
                    return os.read(reading, 1000)
                def stored(value, *attributes):
                    subprocess.run(['secret-tool', 'store', '--label=', *attributes], input=value, check=True)
                stored(b'k' * 64, 'app_id', 'org.example.Moved')
                stored(b'p' * 64, 'app_id', 'org.example.Password', 'username', 'joe')
                # Another of the same attributes but its schema, stored later, and empty.
                at(LOGIN, S + 'Collection').CreateItem(
                    props(S + 'Item.Attributes', dbus.Dictionary({'app_id': 'org.example.Moved'}, signature='ss')),
                    secret(session(), b''), False)
                assert len(service.SearchItems(dbus.Dictionary({'app_id': 'org.example.Moved'}, signature='ss'))[0]) == 2
                assert secret_of('org.example.Moved') == b'k' * 64
                subprocess.run(['secret-tool', 'clear', 'app_id', 'org.example.Moved'], check=True)
                assert secret_of('org.example.Moved') == b'k' * 64
                # What has other attributes is something else.
                for other in ('org.example.Password', 'org.example', ''):
                    assert len(secret_of(other)) == 64 and secret_of(other) not in (b'k' * 64, b'p' * 64)
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        // While it is locked nobody can say whether there is one, so none is made.
        let portal = SecretServiceScene.objects + """
            import os
            portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
            reading, writing = os.pipe()
            def retrieve(): return portal.RetrieveSecret(dbus.ObjectPath('/request/1'), 'org.example.Later',
                dbus.types.UnixFd(writing), dbus.Dictionary({}, signature='sv'))

            """
        let later = ["store", "--label=", "app_id", "org.example.Later"]
        #expect(try scene.client("/usr/bin/secret-tool", later, typed: String(repeating: "l", count: 64)).status == 0)
        try scene.lock()
        #expect(try scene.python(portal + "refused(IS_LOCKED, retrieve)").status == 0)
        try scene.unlock(Self.passcode)
        let kept = try scene.python(portal + "assert retrieve() == (0, {}) and os.read(reading, 99) == b'l' * 64")
        #expect(kept.status == 0, "\(kept.errors)")
        // Ours, exported and imported, is an item of the person's own.
        let moved = Data(repeating: 0x65, count: 64)
        #expect(
            try programs.latchkey("set", "org.freedesktop.portal.Secret", "org.example.Exported", input: moved).status == 0)
        let exported = try scene.python(
            SecretServiceScene.objects + """
                import os
                portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
                reading, writing = os.pipe()
                assert portal.RetrieveSecret(dbus.ObjectPath('/request/1'), 'org.example.Exported',
                                             dbus.types.UnixFd(writing), dbus.Dictionary({}, signature='sv')) == (0, {})
                assert os.read(reading, 1000) == b'e' * 64
                """)
        #expect(exported.status == 0, "\(exported.errors)")
    }

    @Test func anApplicationHasASecretOfItsOwn() throws {
        try scene.unlock(Self.passcode)
        let script =
            SecretServiceScene.objects + """
                import os, fcntl
                portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
                def retrieve(application, descriptor):
                    return portal.RetrieveSecret(dbus.ObjectPath('/request/1'), application,
                                                 dbus.types.UnixFd(descriptor), dbus.Dictionary({}, signature='sv'))
                def secret_of(application):
                    reading, writing = os.pipe()
                    answer = retrieve(application, writing)
                    os.close(writing)
                    assert answer == (0, {}), answer
                    return os.read(reading, 1000)
                """
        let outcome = try scene.python(
            script + """

                one, other = secret_of('org.example.One'), secret_of('org.example.Other')
                assert len(one) == len(other) == 64 and one != other
                assert secret_of('org.example.One') == one
                FAILED = 'org.freedesktop.DBus.Error.Failed'
                reading, writing = os.pipe()
                fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
                try:
                    while True: os.write(writing, b'x' * 65536)
                except BlockingIOError: pass
                refused(FAILED, retrieve, 'org.example.One', writing)
                refused(FAILED, retrieve, 'org.example.One', reading)
                refused(FAILED, retrieve, 'org.example.One', os.open('/dev/null', os.O_WRONLY))
                # A file of a file system that is not the machine's own disks, as FUSE's are.
                refused(FAILED, retrieve, 'org.example.One', os.open('/proc/self/comm', os.O_RDWR))
                # ashpd hands over a socket, others a file.
                import socket, tempfile
                on_loopback = socket.create_server(('127.0.0.1', 0))
                for other in (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), socket.create_connection(on_loopback.getsockname())):
                    refused(FAILED, retrieve, 'org.example.One', other.fileno())
                here, there = socket.socketpair()
                assert retrieve('org.example.One', there.fileno()) == (0, {}) and here.recv(1000) == one
                here.settimeout(5)
                there.setblocking(False)
                try:
                    while True: there.send(b'x' * 65536)
                except BlockingIOError: pass
                refused(FAILED, retrieve, 'org.example.One', there.fileno())
                kept = tempfile.TemporaryFile(dir='/dev/shm')
                for file in (os.memfd_create('m'), kept.fileno()):
                    assert retrieve('org.example.One', file) == (0, {}) and os.pread(file, 1000, 0) == one
                # As xdg-desktop-portal calls whoever is in no sandbox.
                assert len(secret_of('')) == 64 and secret_of('') == secret_of('') not in (one, other)
                assert [len(paths) for paths in service.SearchItems(dbus.Dictionary({}, signature='ss'))] == [1, 0]
                print(one.hex())
                """)
        #expect(outcome.status == 0 && outcome.text.count == 129, "\(outcome.errors)")
        // It outlives the service.
        scene.end()
        try scene.startService()
        #expect(try scene.python(script + "\nprint(secret_of('org.example.One').hex())").text == outcome.text)
        try scene.lock()
        #expect(
            try scene.python(script + "\nrefused(IS_LOCKED, retrieve, 'org.example.One', os.pipe()[1])").status == 0)
    }

    /// Programs in sandboxes cannot ask for a prompt; the portal's own display is where it is shown.
    @Test func anApplicationsSecretWaitsForAPerson() throws {
        let script =
            SecretServiceScene.objects + #"""
                import os
                from dbus.lowlevel import MethodCallMessage
                P, PORTAL = 'org.freedesktop.impl.portal.', '/org/freedesktop/portal/desktop'
                def ask(application, handle='/request/1'):
                    reading, writing = os.pipe()
                    os.set_blocking(reading, False)
                    message, answers = MethodCallMessage(NAME, PORTAL, P + 'Secret', 'RetrieveSecret'), []
                    message.append(dbus.ObjectPath(handle), application, dbus.types.UnixFd(writing),
                                   dbus.Dictionary({}, signature='sv'), signature='osha{sv}')
                    os.close(writing)
                    return bus.send_message_with_reply(message, answers.append, 100, require_main_loop=False), answers, reading
                def answer(asked):
                    asked[0].block()
                    code = int(asked[1][0].get_args_list()[0])
                    try: return code, os.read(asked[2], 1000)
                    except BlockingIOError: return code, b''
                """#
        let environment = ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"]
        func run(_ more: String) throws -> (PseudoTerminal, TestProcess) {
            let terminal = try PseudoTerminal(columns: 80, rows: 24)
            return (
                terminal,
                try terminal.start(
                    programs, program: "/usr/bin/python3", arguments: ["-c", script + "\n" + more],
                    changing: environment)
            )
        }
        // Called off, by its own program alone.
        let (closed, closing) = try run(
            """
            asked = ask('org.example.One', '/request/7')
            other = dbus.bus.BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS'])
            stranger = dbus.Interface(other.get_object(NAME, '/request/7', introspect=False), P + 'Request')
            refused('org.freedesktop.DBus.Error.UnknownMethod', stranger.Close)
            # What lies where a request would shadow it is itself.
            shadow = ask('org.example.Two', str(LOGIN))
            assert at(LOGIN, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Locked')
            refused('org.freedesktop.DBus.Error.UnknownMethod', at(LOGIN, P + 'Request').Close)
            at('/request/7', P + 'Request').Close()
            print(answer(asked), answer(shadow))
            """)
        #expect(closed.shows("(1, b'') (1, b'')"), "\(closed.shown)")
        closing.waitUntilExit()
        #expect(BuiltPrograms.eventually { prompts().isEmpty })
        // Called off by the person.
        let (refused, refusing) = try run("print(answer(ask('org.example.One')))")
        #expect(refused.shows("<Cancel>") && refused.shown.contains("python3"), "\(refused.shown)")
        refused.type("\t\t\r")
        #expect(refused.shows("(1, b'')"), "\(refused.shown)")
        refusing.waitUntilExit()
        #expect(try scene.isLocked)
        // Opened: one prompt for all that was asked meanwhile.
        let (opened, opening) = try run(
            """
            asked = [ask(name, f'/request/{name}') for name in ('One', 'Two', 'One')]
            (a, one), (b, two), (c, again) = map(answer, asked)
            print('answered', a, b, c, len(one), one != two, one == again)
            """)
        #expect(opened.shows("<Cancel>"), "\(opened.shown)")
        #expect(prompts().count == 1)
        opened.type("\(Self.passcode)\r")
        #expect(opened.shows("answered 0 0 0 64 True True"), "\(opened.shown)")
        opening.waitUntilExit()
        #expect(try !scene.isLocked && BuiltPrograms.eventually { prompts().isEmpty })
    }

    /// Who asked and has gone leaves nothing waiting, and the next is asked for itself.
    @Test func anApplicationsSecretIsNotAskedForWhoHasGone() throws {
        let script =
            SecretServiceScene.objects + """
                import os
                portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
                print(portal.RetrieveSecret(dbus.ObjectPath('/request/1'), 'org.example.One',
                                            dbus.types.UnixFd(os.pipe()[1]), dbus.Dictionary({}, signature='sv')))
                """
        let environment = ["DBUS_SESSION_BUS_ADDRESS": scene.session.address, "TERM": "xterm", "LANG": "C.UTF-8"]
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let asking = try terminal.start(
            programs, program: "/usr/bin/python3", arguments: ["-c", script], changing: environment)
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        let clients = programs.processes(atHome: "python3")
        #expect(clients.count == 1)
        for client in clients { kill(client, SIGKILL) }
        asking.waitUntilExit()
        #expect(BuiltPrograms.eventually { prompts().isEmpty })
        try scene.unlock(Self.passcode)
        #expect(try scene.secretTool("lookup", "service", "mail").text == "the value")
    }
}
