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

    init(_ programs: BuiltPrograms) throws {
        self.programs = programs
        session = try PrivateSession()
        daemon = programs.start("/usr/bin/kwalletd5", [], changing: Self.variables(session))
        daemon.standardOutput = FileHandle.nullDevice
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        #expect(
            try BuiltPrograms.eventually {
                try python(
                    "import dbus, sys; sys.exit(0 if dbus.SessionBus().name_has_owner('org.kde.kwalletd5') else 1)"
                )
                .status == 0
            })
        try run("k.pamOpen('kdewallet', dbus.ByteArray(b'K' * 56), dbus.Int32(0))")
    }

    deinit { end() }

    private static func variables(_ session: PrivateSession) -> [String: String?] {
        ["DBUS_SESSION_BUS_ADDRESS": session.address, "QT_QPA_PLATFORM": "offscreen"]
    }

    func end() {
        guard daemon.isRunning else { return }
        daemon.killNow()
        daemon.waitUntilExit()
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
