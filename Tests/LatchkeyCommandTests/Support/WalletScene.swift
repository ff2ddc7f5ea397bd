import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// A bus of the test's own with the real kwalletd5, which needs no display for a wallet that
/// is opened with the key of a login (kwallet-pam, pamOpen).
final class WalletScene {
    static var isInstalled: Bool {
        PrivateSession.isInstalled
            && ["/usr/bin/kwalletd5", "/usr/lib/python3/dist-packages/dbus"].allSatisfy {
                FileManager.default.fileExists(atPath: $0)
            }
    }

    let programs: BuiltPrograms
    let session: PrivateSession
    private let daemon: TestProcess
    private var front: TestProcess?

    init(_ programs: BuiltPrograms) throws {
        self.programs = programs
        session = try PrivateSession()
        daemon = programs.start("/usr/bin/kwalletd5", [], changing: Self.variables(session))
        daemon.standardOutput = FileHandle.nullDevice
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        #expect(try isThere("org.kde.kwalletd5"))
        try run("k.pamOpen('kdewallet', dbus.ByteArray(b'K' * 56), dbus.Int32(0))")
    }

    deinit { end() }

    private func isThere(_ name: String) throws -> Bool {
        let question = "import dbus, sys; sys.exit(not dbus.SessionBus().name_has_owner('\(name)'))"
        return try BuiltPrograms.eventually { try python(question).status == 0 }
    }

    /// The same wallets by the name and path of KDE Frameworks 6 as well (Tests/Support/kwalletd6.py).
    ///
    /// - Returns: the methods that it was asked for by these.
    func callItselfSix() throws -> () -> [String] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = tests.appending(path: "Support/kwalletd6.py").path
        let front = programs.start("/usr/bin/python3", [script], changing: Self.variables(session))
        let path = programs.home + "/heard"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        front.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try front.run()
        self.front = front
        #expect(try isThere("org.kde.kwalletd6"))
        return {
            let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").map(String.init)
        }
    }

    private static func variables(_ session: PrivateSession) -> [String: String?] {
        ["DBUS_SESSION_BUS_ADDRESS": session.address, "QT_QPA_PLATFORM": "offscreen"]
    }

    func end() {
        for process in [front, daemon].compactMap(\.self) where process.isRunning {
            process.killNow()
            process.waitUntilExit()
        }
    }

    private func python(_ script: String) throws -> BuiltPrograms.Outcome {
        try programs.run("/usr/bin/python3", ["-c", script], changing: Self.variables(session))
    }

    /// - Parameter script: `k` is KWallet's interface.
    @discardableResult
    func run(_ script: String) throws -> String {
        let outcome = try python(
            """
            import dbus, struct
            k = dbus.Interface(dbus.SessionBus().get_object('org.kde.kwalletd5', '/modules/kwalletd5', introspect=False), 'org.kde.KWallet')

            """ + script)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.text
    }

    /// Every entry as it is stored.
    func everything() throws -> String {
        try run(
            """
            h = k.open('kdewallet', dbus.Int64(0), 'test')
            for f in sorted(k.folderList(h, 'test')):
                for e in sorted(k.entryList(h, f, 'test')):
                    print(f, e, k.entryType(h, f, e, 'test'), bytes(k.readEntry(h, f, e, 'test')))
            """)
    }

    func latchkey(_ arguments: String...) throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, changing: Self.variables(session))
    }
}
