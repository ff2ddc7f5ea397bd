import Foundation
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import Testing

@testable import Enclave

private enum Tracer {
    static let path = "/usr/bin/strace"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
}

/// The real program, killed at each call that changes the disk, and watched
/// while it makes what has to survive a loss of power. Needs strace(1).
@Suite(.enabled(if: Tracer.isInstalled, "strace is not installed"))
struct DurabilityTests {
    private static let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().path
    private static let program = "\(products)/latchkey-enclave"

    /// A program that is latchkey-enclave under the tracer: a link to a script
    /// that finds what to trace beside the link.
    private func traced(_ home: EnclaveHome, _ options: String) throws -> String {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Support/traced-enclave").standardized.path
        let link = home.temporary.path("traced")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: script)
        let arguments = "\(options) \(Self.program)"
        try Data(arguments.utf8).write(to: URL(filePath: "\(link).arguments"))
        return link
    }

    private func launcher(_ home: EnclaveHome, _ program: String, _ expected: ExpectedStore) -> EnclaveLauncher {
        EnclaveLauncher(
            executable: program, dataDirectory: home.dataDirectory, runDirectory: home.runDirectory,
            expecting: expected, clock: SystemClock())
    }

    /// What the traced enclave came to before it was killed.
    private struct Attempt {
        var store: [UInt8]?
        var made: MadeKey?
    }

    private func attempt(_ launcher: EnclaveLauncher) -> Attempt {
        var attempt = Attempt()
        do {
            let enclave = try launcher.connect()
            attempt.store = enclave.storeID
            attempt.made = try MadeKey(in: enclave)
            try launcher.dismiss()
        } catch {
            // Killed: how far it came is what `attempt` says.
        }
        return attempt
    }

    @Test(arguments: ["write", "fsync", "renameat", "unlinkat"])
    func killedAtAnyChangeOfTheDiskItOpensAgain(call: String) throws {
        for number in 1...400 {
            let home = try EnclaveHome()
            let program = try traced(home, "-e trace=\(call) -e inject=\(call):signal=KILL:when=\(number)")
            let first = attempt(launcher(home, program, .anyOrNew))
            let again = launcher(home, Self.program, first.store.map { .named($0) } ?? .anyOrNew)
            let enclave = try again.connect()
            #expect(try first.made?.opens(in: enclave) != false, "\(call) \(number)")
            #expect(try MadeKey(in: enclave).opens(in: enclave))
            try again.dismiss()
            for name in ["software-secret", "protectors", "keybag"] {
                #expect(try home.read("\(name).0") == home.read("\(name).1"), "\(call) \(number)")
            }
            if first.made != nil { return }
        }
        Issue.record("\(call) is made more often than expected")
    }

    private func parent(of process: Int32) throws -> Int32 {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("PPid:") })
        return try #require(line.split(separator: "\t").last.flatMap { Int32($0) })
    }

    /// A file is durable before it gets its name, its name before anything else
    /// is written, and everything before the daemon is told that there is a store.
    @Test func nothingIsAcknowledgedBeforeItIsDurable() throws {
        let home = try EnclaveHome()
        let program = try traced(home, "-e trace=write,fsync,renameat,sendmsg")
        let launcher = launcher(home, program, .anyOrNew)
        let enclave = try launcher.connect()
        let tracer = try ProcessHandle.open(parent(of: enclave.describe().processID))
        try launcher.dismiss()
        #expect(tracer.hasEndedSoon)
        let trace = try String(contentsOfFile: home.temporary.path("traced.output"), encoding: .utf8)
        // "PID  call(arguments) = result", the number padded to five places.
        let calls = trace.split(separator: "\n").map { line in
            String(line.drop { $0.isNumber || $0 == " " }.prefix { $0 != "(" })
        }
        let changes = calls.filter { ["write", "fsync", "renameat", "sendmsg"].contains($0) }
        let making = Array(repeating: ["write", "fsync", "renameat", "fsync"], count: 6).flatMap { $0 }
        let start = try #require(changes.firstIndex(of: "fsync")) - 1
        #expect(Array(changes[start...].prefix(making.count)) == making)
        // Before the making only the word to the starter is sent, after it the answer.
        #expect(changes[..<start].filter { $0 == "sendmsg" }.count == 1)
        #expect(changes[(start + making.count)...].first == "sendmsg")
    }
}
