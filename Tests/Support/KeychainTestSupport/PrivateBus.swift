internal import Foundation
internal import KeychainPlatform

/// A bus of the test's own in the place of the system's: polkit, which allows everything,
/// and logind are played, fprintd is the real one on libfprint's virtual device, started
/// by the bus, or played where a test has it fail.
package final class PrivateBus: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let folder: TemporaryDirectory
    private let daemon = TestProcess()
    private let scene = TestProcess()
    private let input = Pipe()
    private let output: Descriptor
    private var heard: [UInt8] = []

    private static let programs = ["/usr/bin/dbus-daemon", "/usr/libexec/fprintd", "/usr/bin/python3"]
    package static var isInstalled: Bool {
        let modules = ["dbus", "gi"].map { "/usr/lib/python3/dist-packages/\($0)" }
        let isThere = (programs + modules).allSatisfy { FileManager.default.fileExists(atPath: $0) }
        // dbus-daemon serves nobody whom the machine does not know.
        return isThere && ProcessEnvironment.passwdHome != nil
    }

    /// Of the bus's socket.
    package var path: String { folder.path("bus") }

    package init() throws {
        folder = try TemporaryDirectory("bus")
        let pipe = Pipe()
        output = Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor))
        for name in ["services", "state"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try write(
            """
            <busconfig><type>session</type><listen>unix:path=\(path)</listen><auth>EXTERNAL</auth>
            <servicedir>\(folder.path("services"))</servicedir><policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
            </policy></busconfig>
            """, to: "bus.conf")
        try write(
            "[D-BUS Service]\nName=net.reactivated.Fprint\nExec=\(Self.programs[1])\n",
            to: "services/net.reactivated.Fprint.service")
        try write(BusScene.script, to: "scene.py")
        daemon.environment = [
            "PATH": "/usr/bin:/bin", "FP_VIRTUAL_DEVICE": folder.path("reader"),
            "STATE_DIRECTORY": folder.path("state"), "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)",
        ]
        try start(daemon, Self.programs[0], ["--nofork", "--nopidfile", "--config-file=\(folder.path("bus.conf"))"])
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while !FileManager.default.fileExists(atPath: path), daemon.isRunning, !soon.hasPassed { sched_yield() }
        scene.standardInput = input
        scene.standardOutput = pipe
        try start(
            scene, Self.programs[2], [folder.path("scene.py"), path, folder.path(""), "\(daemon.processIdentifier)"])
        guard try line() == "ready" else { throw CocoaError(.fileReadUnknown) }
    }

    deinit {
        for process in [scene, daemon] where process.isRunning { process.killNow() }
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
    }

    private func start(_ process: TestProcess, _ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// What the scene says to a command (scene.py).
    @discardableResult
    package func tell(_ command: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        return try line()
    }

    /// The next line of the scene.
    package func line() throws -> String {
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        while true {
            if let end = heard.firstIndex(of: 0x0A) {
                defer { heard.removeSubrange(...end) }
                return String(decoding: heard[..<end], as: UTF8.self)
            }
            var bytes = [UInt8](repeating: 0, count: 1024)
            guard try waitForAny(of: [output], until: deadline) != nil else { throw CocoaError(.fileReadUnknown) }
            let count = unsafe read(output.raw, &bytes, bytes.count)
            guard count > 0 else { throw CocoaError(.fileReadUnknown) }
            heard += bytes.prefix(count)
        }
    }

    /// Everybody's connection ends.
    package func stop() {
        daemon.killNow()
    }
}
