import Foundation
import KeychainPlatform
import Testing

/// What a person wrote down of who may reach what over the bus, with real programs:
/// secret-tool is let in, python is not.
@Suite(
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct SecretServicePolicyEndToEndTests {
    private let scene: SecretServiceScene
    private let place = ["xdg:schema", "com.example.Kept", "name", "one"]

    init() throws { scene = try SecretServiceScene() }

    private var file: URL { URL(filePath: scene.programs.home + "/config/latchkey/secret-service.policy") }

    private func write(_ text: String) throws {
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func store() throws {
        let stored = try scene.client(
            "/usr/bin/secret-tool", ["store", "--label=Kept"] + place, typed: "the kept value")
        #expect(stored.status == 0, "\(stored.errors)")
    }

    private func script(_ text: String) throws {
        let outcome = try scene.client("/usr/bin/python3", ["-c", SecretServiceScene.objects + text])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private static let denied = "DENIED = 'org.freedesktop.DBus.Error.AccessDenied'\n"

    @Test func aSchemaIsForTheProgramsThatAreNamed() throws {
        try store()
        let found = "found = service.SearchItems({'name': 'one'})[0]\n"
        try script(found + "open('\(scene.programs.home)/path', 'w').write(found[0])")
        let path = try String(contentsOfFile: scene.programs.home + "/path", encoding: .utf8)
        try write("schema com.example.Kept /usr/bin/secret-tool\n")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value")
        try script(
            """
            \(Self.denied)assert service.SearchItems({'name': 'one'}) == ([], [])
            assert service.SearchItems({'xdg:schema': 'com.example.Kept'}) == ([], [])
            path, s = dbus.ObjectPath('\(path)'), session()
            item = at(path, S + 'Item')
            assert service.GetSecrets([path], s) == {}
            MISSING, UNKNOWN = S + 'Error.NoSuchObject', 'org.freedesktop.DBus.Error.UnknownMethod'
            refused(MISSING, item.GetSecret, s)
            refused(UNKNOWN, item.SetSecret, secret(s, b'mine'))
            refused(MISSING, item.Delete)
            values = at(path, 'org.freedesktop.DBus.Properties')
            refused(UNKNOWN, values.GetAll, S + 'Item')
            refused(MISSING, values.Set, S + 'Item', 'Label',
                dbus.String('mine', variant_level=1))
            refused(MISSING, values.Set, S + 'Item', 'Attributes',
                dbus.Dictionary({'name': 'mine'}, signature='ss', variant_level=1))
            login = at(LOGIN, S + 'Collection')
            assert path not in at(LOGIN, 'org.freedesktop.DBus.Properties').Get(S + 'Collection', 'Items')
            assert login.SearchItems({'name': 'one'}) == []
            mine = dbus.Dictionary({'xdg:schema': 'com.example.Kept', 'name': 'one'}, signature='ss')
            refused(DENIED, login.CreateItem, props(S + 'Item.Attributes', mine), secret(s, b'mine'), True)
            # Nor is an item of its own made one of these.
            own = dbus.Dictionary({'xdg:schema': 'com.example.Own'}, signature='ss')
            own, _ = login.CreateItem(props(S + 'Item.Attributes', own), secret(s, b'own'), True)
            refused(DENIED, at(own, 'org.freedesktop.DBus.Properties').Set, S + 'Item', 'Attributes',
                dbus.Dictionary(mine, signature='ss', variant_level=1))
            assert bytes(at(own, S + 'Item').GetSecret(s)[2]) == b'own'
            """)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value")
        // A change counts from the next call on.
        try write("# nothing is kept\n")
        try script("assert len(service.SearchItems({'name': 'one'})[0]) == 1")
    }

    /// What a person stored in the place is none of the caller's to replace.
    @Test func whatIsKeptIsNotReplacedByAnotherSchema() throws {
        #expect(try scene.programs.latchkey("set", "mail", "alice", input: Data("hers".utf8)).status == 0)
        try write("schema org.freedesktop.Secret.Generic /usr/bin/secret-tool\n")
        try script(
            """
            names = {'xdg:schema': 'com.any', 'service': 'mail', 'username': 'alice'}
            names = dbus.Dictionary(names, signature='ss')
            s = session()
            login = at(LOGIN, S + 'Collection')
            made, _ = login.CreateItem(props(S + 'Item.Attributes', names), secret(s, b'theirs'), True)
            assert bytes(at(made, S + 'Item').GetSecret(s)[2]) == b'theirs'
            """)
        #expect(try scene.programs.latchkey("get", "mail", "alice").text == "hers")
    }

    /// Nor by way of the portal, whose secrets are no items: one that was imported is.
    @Test func whatIsKeptIsNoApplicationsFirstSecret() throws {
        let place = ["xdg:schema", "com.example.Kept", "app_id", "org.example.App"]
        #expect(
            try scene.client("/usr/bin/secret-tool", ["store", "--label="] + place, typed: "the kept value").status == 0)
        let retrieved = """
            import os
            portal = at('/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret')
            reading, writing = os.pipe()
            def retrieve(): return portal.RetrieveSecret(dbus.ObjectPath('/request/1'), 'org.example.App',
                dbus.types.UnixFd(writing), dbus.Dictionary({}, signature='sv'))

            """
        for policy in ["schema com.example.Kept nobody\n", "collection login nobody\n"] {
            try write(policy)
            try script(Self.denied + retrieved + "refused(DENIED, retrieve)")
        }
        // Nothing was made in its place.
        try FileManager.default.removeItem(at: file)
        try script(retrieved + "assert retrieve() == (0, {}) and os.read(reading, 99) == b'the kept value'")
    }

    @Test func aCollectionIsNotThereForOthers() throws {
        try store()
        try write("collection login /usr/bin/secret-tool\n")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value")
        try script(
            """
            \(Self.denied)assert service.SearchItems({'name': 'one'}) == ([], [])
            paths = at(ROOT, 'org.freedesktop.DBus.Properties').Get(S + 'Service', 'Collections')
            assert LOGIN not in paths, paths
            assert service.ReadAlias('default') == '/'
            refused('org.freedesktop.DBus.Error.UnknownMethod', at(LOGIN, S + 'Collection').SearchItems, {'name': 'one'})
            made = props(S + 'Collection.Label', 'Mine')
            refused(DENIED, service.CreateCollection, made, 'default')
            refused(DENIED, service.SetAlias, 'default', dbus.ObjectPath(ROOT + '/collection/session'))
            other, _ = service.CreateCollection(made, '')
            refused(DENIED, service.SetAlias, 'default', other)
            """)
        #expect(try scene.programs.latchkey("list", "--json").text.contains("com.example.Kept"))
    }

    @Test func aCollectionIsNotDeletedWithWhatIsKept() throws {
        try script(
            """
            path, _ = service.CreateCollection(props(S + 'Collection.Label', 'Work'), '')
            s = session()
            for name in ('Kept', 'Own'):
                schema = dbus.Dictionary({'xdg:schema': 'com.example.' + name}, signature='ss')
                at(path, S + 'Collection').CreateItem(props(S + 'Item.Attributes', schema), secret(s, b'v'), True)
            """)
        try write("schema com.example.Kept nobody\n")
        try script(
            """
            \(Self.denied)work = at(ROOT + '/collection/Work', S + 'Collection')
            refused(DENIED, work.Delete)
            own, = work.SearchItems(dbus.Dictionary({}, signature='ss'))
            at(own, S + 'Item').Delete()
            refused(DENIED, work.Delete)
            """)
        try write("")
        try script(
            """
            work = at(ROOT + '/collection/Work', S + 'Collection')
            kept, = work.SearchItems(dbus.Dictionary({}, signature='ss'))
            work.Delete()
            """)
    }

    /// Whoever wrote it wanted to keep something from somebody.
    @Test func whatIsNoPolicyGivesNobodyAnything() throws {
        try store()
        try write("schema com.example.Other nobody\nschema com.example.Kept\n")
        let refused = try scene.client("/usr/bin/secret-tool", ["lookup"] + place)
        #expect(refused.status != 0 && refused.text.isEmpty)
        #expect(refused.errors.contains("secret-service.policy, line 2: "), "\(refused.errors)")
        // But to close everything is nobody's to be kept from.
        try script("service.LockService()")
        try write("schema com.example.Other nobody\n")
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
        let open = try scene.client("/usr/bin/secret-tool", ["lookup"] + place)
        #expect(open.status != 0 && open.errors.contains("nobody else can write"), "\(open.errors)")
        // Nor one that somebody else can take away.
        let (mode, folder) = (FileAttributeKey.posixPermissions, file.deletingLastPathComponent())
        try FileManager.default.setAttributes([mode: 0o600], ofItemAtPath: file.path)
        for (bits, isRefused) in [(0o777, true), (0o775, true), (0o755, false)] {
            try FileManager.default.setAttributes([mode: bits], ofItemAtPath: folder.path)
            let looked = try scene.client("/usr/bin/secret-tool", ["lookup"] + place)
            #expect((looked.status != 0) == isRefused && looked.errors.contains(folder.path) == isRefused, "\(bits)")
        }
        // Nor a link to what is away, in its place or its folder's.
        let files = FileManager.default
        try files.removeItem(at: file)
        let away = file.deletingLastPathComponent().deletingLastPathComponent().appending(path: "away")
        try files.createSymbolicLink(at: file, withDestinationURL: away)
        let dangling = try scene.client("/usr/bin/secret-tool", ["lookup"] + place)
        #expect(dangling.status != 0 && dangling.errors.contains("secret-service.policy"), "\(dangling.errors)")
        try files.removeItem(at: file.deletingLastPathComponent())
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value", "none at all")
        try files.createSymbolicLink(at: file.deletingLastPathComponent(), withDestinationURL: away)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).status != 0)
        // A folder that a link leads to, with no policy in it, is as good as another.
        try files.createDirectory(at: away, withIntermediateDirectories: false)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).text == "the kept value", "linked folder")
        try files.removeItem(at: file.deletingLastPathComponent())
        try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        // Nor a folder in its place.
        try files.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(try scene.client("/usr/bin/secret-tool", ["lookup"] + place).status != 0)
    }
}
