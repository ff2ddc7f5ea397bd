import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// What tests start programs with keeps them apart.
@Suite(.timeLimit(.minutes(20))) struct TestProcessTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("processes") }

    private func shell(_ script: String, sayingTo name: String = "said") throws -> TestProcess {
        let process = TestProcess()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        _ = FileManager.default.createFile(atPath: folder.path(name), contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: folder.path(name)))
        return process
    }

    private func said(_ name: String = "said") throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    /// However many are started beside it, and whatever is open here without close-on-exec.
    @Test func oneHasItsThreeStreamsAlone() throws {
        let open = unsafe Foundation.open("/dev/null", O_RDONLY)
        defer { close(open) }
        let processes = try (0..<32).map { try shell("ls -m /proc/$$/fd; echo $$", sayingTo: "\($0)") }
        DispatchQueue.concurrentPerform(iterations: processes.count) { index in
            #expect(throws: Never.self) { try processes[index].run() }
        }
        for (index, process) in processes.enumerated() {
            process.waitUntilExit()
            #expect(try said("\(index)") == "0, 1, 2\n\(process.processIdentifier)\n")
        }
    }

    @Test func noSignalIsBlockedOrIgnored() throws {
        let process = try shell("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        // SIGINT and SIGPIPE are, wherever a shell left tests running.
        try process.run()
        process.waitUntilExit()
        let sets = try said().split(separator: "\n").compactMap { UInt64($0.split(separator: "\t")[1], radix: 16) }
        // 32 and 33 are glibc's own, which posix_spawn(3) leaves ignored.
        let ofNobody: UInt64 = 1 << 31 | 1 << 32
        #expect(sets.count == 2 && sets.allSatisfy { $0 & ~ofNobody == 0 })
    }

    @Test func itsEndIsTold() throws {
        let process = try shell("exit 7")
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 7 && process.terminationReason == .exit && !process.isRunning)
        let endless = try shell("exec sleep 1000")
        try endless.run()
        #expect(endless.isRunning)
        endless.killNow()
        #expect(endless.terminationStatus == SIGKILL && endless.terminationReason == .uncaughtSignal)
        // It is reaped: nobody has its number.
        #expect(kill(endless.processIdentifier, 0) == -1 && errno == ESRCH)
        #expect(throws: (any Error).self) { try endless.run() }
    }

    @Test func whatIsNoProgramIsRefused() throws {
        let process = TestProcess()
        process.executableURL = URL(filePath: folder.path("nothing"))
        #expect(throws: NSError.self) { try process.run() }
        #expect(!process.isRunning && process.processIdentifier == 0)
    }

    @Test func aPipeEndsWithTheProgram() throws {
        let (input, output, process) = (Pipe(), Pipe(), TestProcess())
        process.executableURL = URL(filePath: "/bin/cat")
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("words".utf8))
        try input.fileHandleForWriting.close()
        #expect(try output.fileHandleForReading.readToEnd() == Data("words".utf8))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
