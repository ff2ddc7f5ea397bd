import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// What others than the service do to the keychain, and how clients on the bus hear of it.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServiceOthersTests {
    private let scene: SecretServiceScene
    private var programs: BuiltPrograms { scene.programs }

    init() throws { scene = try SecretServiceScene() }

    private static let created = "member=ItemCreated"
    private static let readsTheList =
        "at(LOGIN, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Items')\n"

    private func set(_ service: String, _ account: String, _ value: String = "v") throws {
        #expect(try programs.latchkey("set", service, account, input: Data(value.utf8)).status == 0)
    }

    private func path(_ service: String) throws -> String {
        try scene.python(
            SecretServiceScene.objects + "print(service.SearchItems({'service': '\(service)'})[0][0], end='')"
        ).text
    }

    /// Somebody who has read an item of `latchkey set`.
    private func readerOfMail() throws -> (path: String, Reader, SignalMonitor) {
        try set("mail", "alice")
        let (mail, monitor) = (try path("mail"), try scene.monitor())
        let reader = try Reader(
            scene, "at('\(mail)', 'org.freedesktop.DBus.Properties').GetAll(S + 'Item')\n")
        return (mail, reader, monitor)
    }

    @Test func whoHasReadAListHearsWhatTheCommandLineStoresAndRemoves() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let reader = try Reader(scene, Self.readsTheList)
        try set("mail", "alice")
        #expect(monitor.hears(Self.created))
        let mail = try path("mail")
        // In ItemCreated, and in the list.
        #expect(monitor.hears("object path \"\(mail)\"", times: 2))
        let git = try programs.run(
            "\(BuiltPrograms.folder)/git-credential-latchkey", ["store"],
            input: Data("protocol=https\nhost=git.example\nusername=u\npassword=p\n".utf8))
        #expect(git.status == 0 && monitor.hears(Self.created, times: 2))
        #expect(try programs.latchkey("rm", "mail", "alice").status == 0)
        #expect(monitor.hears("member=ItemDeleted") && monitor.hears("object path \"\(mail)\"", times: 3))
        reader.end()
    }

    /// What the service does itself it has told when it did it.
    @Test func whatComesOverTheBusIsToldOnce() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let reader = try Reader(scene, Self.readsTheList)
        let outcome = try scene.python(
            SecretServiceScene.objects + """
                mine, login = session(), at(LOGIN, S + 'Collection')
                made = []
                for n in range(3):
                    attributes = dbus.Dictionary({'n': str(n)}, signature='ss')
                    item, _ = login.CreateItem(props(S + 'Item.Attributes', attributes), secret(mine, b'v'), False)
                    made.append(item)
                    at(item, 'org.freedesktop.DBus.Properties').GetAll(S + 'Item')
                    at(item, S + 'Item').SetSecret(secret(mine, b'w'))
                at(made[0], S + 'Item').Delete()
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        // By the time at which this one is heard of the others have been looked at.
        try set("mail", "alice")
        let mail = try path("mail")
        #expect(monitor.hears("\(Self.created)\n   object path \"\(mail)\""))
        #expect(try programs.latchkey("rm", "mail", "alice").status == 0)
        #expect(monitor.hears("member=ItemDeleted\n   object path \"\(mail)\""))
        #expect(monitor.heard(Self.created) == 4 && monitor.heard("member=ItemDeleted") == 2)
        #expect(monitor.heard("member=ItemChanged") == 3)
        reader.end()
    }

    @Test func whoHasReadAnItemHearsWhatItBecomes() throws {
        let (mail, reader, monitor) = try readerOfMail()
        defer { monitor.end() }
        #expect(try programs.latchkey("edit", "mail", "alice", "--label", "Another name").status == 0)
        #expect(monitor.hears("member=ItemChanged") && monitor.hears("string \"Another name\""))
        #expect(monitor.hears("path=\(mail); interface=org.freedesktop.DBus.Properties"))
        // Nobody has read the list.
        try set("wiki", "bob")
        #expect(try programs.latchkey("rm", "mail", "alice").status == 0)
        #expect(monitor.hears("member=ItemDeleted"))
        #expect(monitor.heard(Self.created) == 0 && monitor.heard("member=ItemChanged") == 1)
        reader.end()
    }

    @Test func whatOthersChangeAfterAChangeOverTheBusIsToldToo() throws {
        let (mail, reader, monitor) = try readerOfMail()
        defer { monitor.end() }
        #expect(try programs.latchkey("edit", "mail", "alice", "--label", "First").status == 0)
        #expect(monitor.hears("string \"First\""))
        // The next look at the keychain waits, and comes after both.
        let outcome = try scene.python(
            SecretServiceScene.objects
                + "item = at('\(mail)', 'org.freedesktop.DBus.Properties')\n"
                + "item.Set(S + 'Item', 'Label', dbus.String('Second', variant_level=1))\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try programs.latchkey("edit", "mail", "alice", "--label", "Third").status == 0)
        #expect(monitor.hears("string \"Third\""))
        reader.end()
    }

    /// Whoever reads a great many keeps nobody else from hearing.
    @Test func moreCollectionsThanAreFollowedKeepNobodyFromHearing() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let first = try Reader(scene, Self.readsTheList)
        let many = try Reader(
            scene, """
                for n in range(260):
                    made, _ = service.CreateCollection(props(S + 'Collection.Label', 'c%d' % n), '')
                    at(made, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Items')

                """)
        try set("mail", "alice")
        #expect(monitor.hears(Self.created))
        for reader in [first, many] { reader.end() }
    }

    /// Nothing is followed for who has gone.
    @Test func whoHasGoneIsToldNothing() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let former = try Reader(scene, Self.readsTheList)
        former.end()
        try set("mail", "alice")
        let reader = try Reader(scene, Self.readsTheList)
        try set("wiki", "bob")
        let (mail, wiki) = (try path("mail"), try path("wiki"))
        #expect(monitor.hears(Self.created) && monitor.hears("   object path \"\(wiki)\""))
        #expect(monitor.heard(Self.created) == 1 && monitor.heard("\n   object path \"\(mail)\"") == 0)
        reader.end()
    }

    @Test func aDaemonThatIsStartedAnewIsFollowed() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let reader = try Reader(scene, Self.readsTheList)
        try set("mail", "alice")
        #expect(monitor.hears(Self.created))
        let daemon = try programs.daemonProcess()
        #expect(daemon > 0 && kill(daemon, SIGKILL) == 0)
        try set("wiki", "bob")
        #expect(monitor.hears(Self.created, times: 2))
        reader.end()
    }

    /// Paths are told to everybody; with a policy nothing else is.
    @Test func aPolicyKeepsWhatItemsAre() throws {
        try set("mail", "alice")
        let mail = try path("mail")
        let folder = programs.home + "/config/latchkey"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("schema com.example.Kept nobody\n".utf8).write(
            to: URL(filePath: folder + "/secret-service.policy"))
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let reader = try Reader(
            scene, Self.readsTheList + "at('\(mail)', 'org.freedesktop.DBus.Properties').GetAll(S + 'Item')\n")
        #expect(try programs.latchkey("edit", "mail", "alice", "--label", "Another name").status == 0)
        try set("wiki", "bob")
        #expect(monitor.hears("member=ItemChanged") && monitor.hears(Self.created))
        #expect(try programs.latchkey("rm", "wiki", "bob").status == 0)
        #expect(monitor.hears("member=ItemDeleted"))
        #expect(monitor.heard("Another name") == 0 && monitor.heard("\"Items\"") == 0)
        reader.end()
    }

    /// By libsecret, which keeps the list of a collection that it has loaded.
    @Test(.enabled(if: Reader.hasLibsecret, "python3-gi or gir1.2-secret-1 is missing"))
    func libsecretsListFollows() throws {
        let outcome = try scene.python(
            """
            import gi, subprocess
            gi.require_version('Secret', '1')
            from gi.repository import Secret, GLib
            service = Secret.Service.get_sync(Secret.ServiceFlags.NONE, None)
            login = Secret.Collection.for_alias_sync(service, 'default', Secret.CollectionFlags.LOAD_ITEMS, None)
            loop = GLib.MainLoop()
            GLib.timeout_add_seconds(30, loop.quit)
            def has(count):
                if len(login.get_items()) == count: loop.quit()
                return True
            def wait(count):
                source = GLib.timeout_add(20, has, count)
                loop.run()
                GLib.source_remove(source)
                return len(login.get_items())
            def latchkey(*arguments):
                subprocess.run(['\(BuiltPrograms.folder)/latchkey', *arguments], input=b'v', check=True)
            latchkey('set', 'mail', 'alice')
            print(wait(1))
            latchkey('set', 'wiki', 'bob')
            print(wait(2))
            latchkey('rm', 'mail', 'alice')
            print(wait(1), login.get_items()[0].get_attributes()['service'])
            """)
        #expect(outcome.text.hasSuffix("1 wiki\n") && outcome.text.hasPrefix("1\n2\n"), "\(outcome)")
    }

    /// By what the service does itself, and by what others do; one that is started anew knows of
    /// nothing before.
    @Test func aCollectionIsModifiedWithItsItems() throws {
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let acts = [
            "at(LOGIN, S + 'Collection').CreateItem(props(S + 'Item.Label', 'L'), secret(session(), b'v'), False)",
            "properties(item()).Set(S + 'Item', 'Label', dbus.String('M', variant_level=1))",
            "at(item(), S + 'Item').Delete()",
        ]
        for (number, act) in acts.enumerated() {
            let outcome = try scene.python(
                SecretServiceScene.objects + """
                    import time
                    def properties(path): return at(path, 'org.freedesktop.DBus.Properties')
                    def item(): return properties(LOGIN).Get(S + 'Collection', 'Items')[0]
                    def modified(): return int(properties(LOGIN).Get(S + 'Collection', 'Modified'))
                    assert modified() == 0
                    begun = int(time.time())
                    \(act)
                    print(begun <= modified() <= time.time())
                    """)
            #expect(outcome.text == "True\n", "\(outcome.text)\(outcome.errors)")
            #expect(monitor.hears("\"Modified\"", times: number + 1))
            scene.end()
            try scene.startService()
        }
        let reader = try Reader(scene, Self.readsTheList)
        try set("mail", "alice")
        #expect(monitor.hears("\"Modified\"", times: acts.count + 1))
        let modified = try scene.python(
            SecretServiceScene.objects
                + "print(at(LOGIN, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Modified') > 0)")
        #expect(modified.text == "True\n", "\(modified.errors)")
        reader.end()
    }

    @Test func whoListensHearsOfCollectionsOfAnotherService() throws {
        let other = try SecretServiceScene(beside: scene)
        let monitor = try scene.monitor()
        defer { monitor.end() }
        let made = try other.python(
            SecretServiceScene.objects + """
                path, _ = service.CreateCollection(props(S + 'Collection.Label', 'Work'), '')
                at(path, 'org.freedesktop.DBus.Properties').Set(
                    S + 'Collection', 'Label', dbus.String('Play', variant_level=1))
                print(path, end='')
                """)
        #expect(monitor.hears("member=CollectionCreated") && monitor.hears("\"Collections\""))
        #expect(monitor.hears("object path \"\(made.text)\"", times: 2))
        // Its items are followed like others'.
        let reader = try Reader(
            scene, "at('\(made.text)', 'org.freedesktop.DBus.Properties').GetAll(S + 'Collection')\n")
        let stored = try other.python(
            SecretServiceScene.objects + """
                collection = at('\(made.text)', S + 'Collection')
                collection.CreateItem(props(S + 'Item.Label', 'L'), secret(session(), b'v'), False)
                """)
        #expect(stored.status == 0 && monitor.hears(Self.created), "\(stored.errors)")
        let deleted = try other.python(
            SecretServiceScene.objects + "at('\(made.text)', S + 'Collection').Delete()")
        #expect(deleted.status == 0 && monitor.hears("member=CollectionDeleted"), "\(deleted.errors)")
        reader.end()
    }
}

/// A client that has read something and is still there.
private final class Reader {
    private let process: TestProcess
    private let input = Pipe()

    init(_ scene: SecretServiceScene, _ script: String) throws {
        process = scene.programs.start(
            "/usr/bin/python3",
            ["-c", SecretServiceScene.objects + script + "print('read', flush=True)\nimport sys; sys.stdin.read()"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "read\n")
    }

    deinit { if process.isRunning { process.killNow() } }

    /// Goes, and its connection with it.
    func end() {
        do { try input.fileHandleForWriting.close() } catch { Issue.record(error) }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    static var hasLibsecret: Bool {
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/gi")
            && ((try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib"))?.contains { folder in
                FileManager.default.fileExists(atPath: "/usr/lib/\(folder)/girepository-1.0/Secret-1.typelib")
            } ?? false)
    }
}
