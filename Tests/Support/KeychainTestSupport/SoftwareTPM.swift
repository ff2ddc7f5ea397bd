internal import Foundation
internal import KeychainPlatform

/// A TPM 2.0 of the test's own: swtpm, on a socket, with its state in a folder.
package final class SoftwareTPM: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let folder: TemporaryDirectory
    private var process: TestProcess?
    private var number = 0

    private static let program = "/usr/bin/swtpm"
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    /// What `TPMAddress` takes.
    package var address: String { "swtpm:\(socket)" }
    package var socket: String { folder.path("tpm") }

    package init() throws {
        folder = try TemporaryDirectory("tpm")
        try start()
    }

    deinit { stop() }

    /// It is there no more, as after a board was changed.
    package func stop() {
        guard let process else { return }
        process.killNow()
        self.process = nil
        for name in ["tpm", "tpm.ctrl"] { _ = unsafe unlink(folder.path(name)) }
    }

    /// Begins where it was stopped.
    package func start() throws {
        let state = folder.path("state-\(number)")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let process = TestProcess()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = [
            "socket", "--tpm2", "--tpmstate", "dir=\(state)", "--server", "type=unixio,path=\(socket)", "--ctrl",
            "type=unixio,path=\(socket).ctrl", "--flags", "not-need-init,startup-clear",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while !isListening, process.isRunning, !soon.hasPassed { sched_yield() }
        guard isListening else { throw CocoaError(.fileReadUnknown) }
    }

    private var isListening: Bool {
        [socket, socket + ".ctrl"].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    // MARK: Its owner

    private static let tools = "/usr/bin/tpm2_"
    package static var canBeOwned: Bool {
        ["dictionarylockout", "getcap", "nvdefine"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: tools + $0)
        }
    }

    /// How many passwords may be wrong before it takes none (TPM2_DictionaryAttackParameters).
    package func allowWrongPasswords(_ count: Int) throws {
        try own(
            "dictionarylockout", "--setup-parameters", "--max-tries=\(count)", "--recovery-time=86400",
            "--lockout-recovery-time=86400")
    }

    /// As the machine's owner does it (TPM2_DictionaryAttackLockReset).
    package func resetLockout() throws { try own("dictionarylockout", "--clear-lockout") }

    /// The NV indices that are defined: "0x1800000".
    package func indices() throws -> [String] {
        try own("getcap", "handles-nv-index").split(separator: "\n").compactMap { line in
            line.split(separator: " ").last.map(String.init)
        }
    }

    /// Runs one of tpm2-tools, called without what all their names begin with.
    ///
    /// - Returns: what it wrote.
    @discardableResult
    package func own(_ command: String, _ arguments: String...) throws -> String {
        let tool = TestProcess()
        tool.executableURL = URL(filePath: Self.tools + command)
        tool.arguments = ["--tcti=swtpm:path=\(socket)"] + arguments
        tool.standardInput = FileHandle.nullDevice
        tool.standardError = FileHandle.nullDevice
        let output = Pipe()
        tool.standardOutput = output
        try tool.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        tool.waitUntilExit()
        guard tool.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
        return text
    }

    /// Another seed, as after TPM2_Clear or on another board.
    package func clear() throws {
        stop()
        number += 1
        try start()
    }

    /// The one from before ``clear()`` again.
    package func undoClearing() throws {
        stop()
        number -= 1
        try start()
    }
}
