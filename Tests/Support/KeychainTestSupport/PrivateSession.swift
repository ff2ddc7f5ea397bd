internal import Foundation
internal import KeychainPlatform

/// A session bus of the test's own.
package final class PrivateSession: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let folder: TemporaryDirectory
    private let daemon = TestProcess()

    package static var isInstalled: Bool {
        // dbus-daemon serves nobody whom the machine does not know.
        FileManager.default.fileExists(atPath: "/usr/bin/dbus-daemon") && ProcessEnvironment.passwdHome != nil
    }

    /// For DBUS_SESSION_BUS_ADDRESS.
    package var address: String { "unix:path=" + folder.path("bus") }

    /// - Parameters:
    ///   - services: the folder with what it starts by itself; nil: nothing.
    ///   - environment: what it starts gets it.
    package init(startingFrom services: String? = nil, environment: [String: String] = [:]) throws {
        folder = try TemporaryDirectory("session")
        let configuration = """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
            <allow user="*"/></policy>\(services.map { "<servicedir>\($0)</servicedir>" } ?? "")</busconfig>
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder.path("bus.conf")))
        daemon.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--nofork", "--nopidfile", "--config-file=\(folder.path("bus.conf"))"]
        daemon.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { one, _ in one }
        daemon.standardError = FileHandle.nullDevice
        try start()
    }

    /// A bus that a test plays: it says of its clients what the mode has it say.
    ///
    /// - Parameter script: Tests/Support/session-bus.py.
    package init(playedBy script: String, as mode: String) throws {
        folder = try TemporaryDirectory("session")
        daemon.executableURL = URL(filePath: "/usr/bin/python3")
        daemon.arguments = [script, folder.path("bus"), mode]
        daemon.environment = ["PATH": "/usr/bin:/bin"]
        try start()
    }

    private func start() throws {
        try daemon.run()
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while !FileManager.default.fileExists(atPath: folder.path("bus")), daemon.isRunning, !soon.hasPassed {
            sched_yield()
        }
    }

    deinit { if daemon.isRunning { daemon.killNow() } }
}
