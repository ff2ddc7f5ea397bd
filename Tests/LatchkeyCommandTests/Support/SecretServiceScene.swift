import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// A bus of the test's own with the real service, and clients on it.
final class SecretServiceScene {
    let programs: BuiltPrograms
    let session: PrivateSession
    private(set) var service = TestProcess()

    private let arguments: [String]

    /// - Parameter withControl: with gnome-keyring's control socket.
    init(withControl: Bool = false) throws {
        programs = try BuiltPrograms(runtime: withControl)
        arguments = withControl ? ["--control"] : []
        session = try PrivateSession()
        try startService()
    }

    /// Another service of the same keychain, on a bus of its own.
    init(beside other: SecretServiceScene) throws {
        (programs, arguments) = (other.programs, [])
        session = try PrivateSession()
        try startService()
    }

    /// On a bus that the test chose.
    init(on session: PrivateSession, _ arguments: [String] = []) throws {
        programs = try BuiltPrograms()
        self.arguments = arguments
        self.session = session
        try startService()
    }

    deinit { end() }

    func startService() throws {
        service = programs.start(
            "\(BuiltPrograms.folder)/latchkey-secret-service", arguments,
            changing: ["DBUS_SESSION_BUS_ADDRESS": session.address])
        service.standardError = FileHandle.nullDevice
        try service.run()
        #expect(try BuiltPrograms.eventually { try has("org.freedesktop.secrets") })
    }

    func end() { if service.isRunning { service.killNow() } }

    func has(_ name: String) throws -> Bool {
        try python("import sys; sys.exit(0 if dbus.SessionBus().name_has_owner('\(name)') else 1)").status == 0
    }

    @discardableResult
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

    /// Service, session and a way to objects, for scripts.
    static let objects = """
        import dbus
        bus = dbus.SessionBus()
        NAME, ROOT, S = 'org.freedesktop.secrets', '/org/freedesktop/secrets', 'org.freedesktop.Secret.'
        def at(path, interface): return dbus.Interface(bus.get_object(NAME, path, introspect=False), interface)
        def refused(name, call, *arguments):
            try: call(*arguments)
            except dbus.DBusException as error: assert error.get_dbus_name() == name, error
            else: raise SystemExit(name + ' was expected')
        service = at(ROOT, S + 'Service')
        LOGIN = dbus.ObjectPath(ROOT + '/collection/login')
        IS_LOCKED = 'org.freedesktop.Secret.Error.IsLocked'
        def props(*pairs): return dbus.Dictionary(dict(zip(pairs[::2], pairs[1::2])), signature='sv')
        def session(): return service.OpenSession('plain', dbus.String('', variant_level=1))[1]
        def secret(path, value): return dbus.Struct((path, dbus.ByteArray(b''), dbus.ByteArray(value), 'text/plain'))

        """

    /// A passcode, with which the keychain stays open.
    func setPasscode(_ passcode: String) throws {
        let outcome = try programs.latchkey("passcode", "set", input: Data(passcode.utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    func lock() throws { #expect(try programs.latchkey("lock").status == 0) }

    func unlock(_ passcode: String) throws {
        #expect(try programs.latchkey("unlock", input: Data(passcode.utf8)).status == 0)
    }

    var isLocked: Bool {
        get throws { try #require(programs.status()["lock"] as? String) != "unlocked" }
    }
}

/// dbus-monitor on the signals of the service.
final class SignalMonitor {
    private let process: TestProcess
    private let path: String

    fileprivate init(_ scene: SecretServiceScene) throws {
        path = scene.programs.home + "/heard"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        process = scene.programs.start(
            "/usr/bin/dbus-monitor", ["type='signal',path_namespace='/org/freedesktop/secrets'"],
            changing: ["DBUS_SESSION_BUS_ADDRESS": scene.session.address])
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        process.standardError = FileHandle.nullDevice
        try process.run()
        // What a monitor hears first is its own name.
        #expect(hears("NameAcquired"))
    }

    func end() { process.killNow() }

    func hears(_ words: String, times: Int = 1) -> Bool { BuiltPrograms.eventually { heard(words) >= times } }

    /// How often it has heard them by now.
    func heard(_ words: String) -> Int {
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return text.ranges(of: words).count
    }
}

extension SecretServiceScene {
    func monitor() throws -> SignalMonitor { try SignalMonitor(self) }
}
