import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// A bus of the test's own with the real gnome-keyring, unlocked, in the home of the test.
final class KeyringScene {
    static let password = "ring password"
    /// Service, session and a way to objects, for scripts.
    static let preamble = SecretServiceScene.objects + "session = session()\n"

    static var isInstalled: Bool {
        SecretServiceClients.areInstalled && FileManager.default.fileExists(atPath: "/usr/bin/gnome-keyring-daemon")
    }

    let programs: BuiltPrograms
    let session: PrivateSession
    private var daemon = TestProcess()

    init(_ programs: BuiltPrograms) throws {
        self.programs = programs
        session = try PrivateSession()
        try start()
    }

    deinit { end() }

    /// - Parameter password: nil: its keyrings stay locked.
    func start(unlocking password: String? = KeyringScene.password) throws {
        daemon = programs.start(
            "/usr/bin/gnome-keyring-daemon",
            ["--foreground", "--components=secrets", "--control-directory=\(programs.home)/control"]
                + (password == nil ? [] : ["--unlock"]),
            changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
        let input = Pipe()
        daemon.standardInput = input
        daemon.standardOutput = FileHandle.nullDevice
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        try input.fileHandleForWriting.write(contentsOf: Data((password ?? "").utf8))
        try input.fileHandleForWriting.close()
        let isThere = try BuiltPrograms.eventually {
            try python("import sys; sys.exit(0 if dbus.SessionBus().name_has_owner('org.freedesktop.secrets') else 1)")
                .status == 0
        }
        #expect(isThere)
    }

    func end() { if daemon.isRunning { daemon.killNow() } }

    func client(_ program: String, _ arguments: [String], typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(
            program, arguments, input: Data(typed.utf8), changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
    }

    func secretTool(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try client("/usr/bin/secret-tool", arguments, typed: typed)
    }

    func python(_ script: String) throws -> BuiltPrograms.Outcome {
        try client("/usr/bin/python3", ["-c", "import dbus\n" + script])
    }

    @discardableResult
    func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try client(BuiltPrograms.latchkey, arguments, typed: typed)
    }

    /// An item that a program stores, whatever its bytes, in the collection of that name.
    func store(
        _ label: String, _ attributes: [String: String], _ value: [UInt8], in collection: String = "login",
        replacing: Bool = false
    ) throws {
        let pairs = attributes.map { "'\($0)': '\($1)'" }.joined(separator: ", ")
        let outcome = try python(
            Self.preamble + """
                c = dbus.Interface(bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets/collection/\(collection)'), 'org.freedesktop.Secret.Collection')
                p = {'org.freedesktop.Secret.Item.Label': '\(label)', 'org.freedesktop.Secret.Item.Attributes': dbus.Dictionary({\(pairs)}, signature='ss')}
                c.CreateItem(p, (session, dbus.ByteArray(b''), dbus.ByteArray(bytes(\(value))), 'text/plain'), \(replacing ? "True" : "False"))
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// Runs a line of Python with the `path` of the item of that label in the login's collection.
    func change(_ label: String, _ line: String) throws {
        let outcome = try python(
            Self.preamble + """
                NAME = 'org.freedesktop.secrets'
                of = lambda path: dbus.Interface(bus.get_object(NAME, path), 'org.freedesktop.DBus.Properties')
                for path in of('/org/freedesktop/secrets/collection/login').Get('org.freedesktop.Secret.Collection', 'Items'):
                    if of(path).Get('org.freedesktop.Secret.Item', 'Label') == '\(label)': break
                else: raise SystemExit('no such item')
                \(line)
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// Until a new item has another date than all that are there: dates are whole seconds.
    func waitForAnotherSecond() throws {
        let begun = Int(Date().timeIntervalSince1970)
        #expect(BuiltPrograms.eventually { Int(Date().timeIntervalSince1970) > begun })
    }

    /// Another collection, with a password and without a question.
    func makeCollection(_ label: String, password: String = KeyringScene.password) throws {
        let outcome = try python(
            Self.preamble + """
                s = dbus.Interface(bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets'), 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')
                s.CreateWithMasterPassword({'org.freedesktop.Secret.Collection.Label': '\(label)'}, (session, dbus.ByteArray(b''), dbus.ByteArray(b'\(password)'), 'text/plain'))
                """)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    func lock(_ collection: String) throws {
        let outcome = try python(
            Self.preamble
                + "service.Lock(dbus.Array([dbus.ObjectPath('/org/freedesktop/secrets/collection/\(collection)')], signature='o'))"
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    var folder: String { programs.home + "/data/keyrings" }

    /// The bytes of every file of its keyrings.
    func files() throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            found[name] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        return found
    }

    /// All that a program can learn of every item, as lines; the session's own left out. Of an
    /// item that was stored without a schema gnome-keyring says one only after it has read its file.
    static let dump = """
        import base64, json
        lines = []
        P = 'org.freedesktop.DBus.Properties'
        props = lambda path, name: dbus.Interface(bus.get_object('org.freedesktop.secrets', path), P).GetAll('org.freedesktop.Secret.' + name)
        for c in props('/org/freedesktop/secrets', 'Service')['Collections']:
            if c.endswith('/session'): continue
            for i in props(c, 'Collection')['Items']:
                p = props(i, 'Item')
                s = service.GetSecrets([i], session)[i]
                lines.append(json.dumps([str(c), str(p['Label']), {'xdg:schema': 'org.freedesktop.Secret.Generic', **{str(k): str(v) for k, v in p['Attributes'].items()}}, int(p['Created']), int(p['Modified']), base64.b64encode(bytes(s[2])).decode(), str(s[3])], sort_keys=True))
        print('\\n'.join(sorted(lines)))
        """

    func everything() throws -> [String] {
        let outcome = try python(Self.preamble + Self.dump)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }
}

extension SecretServiceScene {
    func everything() throws -> [String] {
        let outcome = try python(KeyringScene.preamble + KeyringScene.dump)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }
}
