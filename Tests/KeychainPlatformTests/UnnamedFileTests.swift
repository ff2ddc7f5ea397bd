import Foundation
import KeychainPlatform
import KeychainTestSupport
import Synchronization
import Testing

@Suite struct UnnamedFileTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path("file") }

    init() throws { folder = try TemporaryDirectory() }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    @Test func fileHasANameOnceItIsWhole() throws {
        let file = try UnnamedFile(path)
        try file.write(secret("one "))
        try file.write(secret("two"))
        #expect(names.isEmpty)
        try file.publish(replacing: false)
        #expect(names == ["file"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one two")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func fileThatIsForgottenLeavesNothing() throws {
        let file = try UnnamedFile(path)
        try file.write(secret("x"))
        file.discard()
        #expect(names.isEmpty)
    }

    @Test func nameThatIsTakenIsReplacedOnlyWhereAsked() throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let file = try UnnamedFile(path)
        try file.write(secret("new"))
        do throws(SystemCallError) {
            try file.publish(replacing: false)
            Issue.record("it was replaced")
        } catch { #expect(error.isAlreadyThere) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
        try file.publish(replacing: true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(names == ["file"])
    }

    @Test func folderThatIsMissingIsSaidToBeThat() {
        #expect(throws: SystemCallError.self) { try UnnamedFile(folder.path("no/file")) }
    }
}

@Suite struct CrewTests {
    @Test(arguments: [(1, 100), (8, 1000), (8, 3), (4, 0)]) func everyStepIsDoneOnce(_ threads: Int, _ steps: Int) {
        let seen = Mutex([Int](repeating: 0, count: steps))
        let workers = Mutex(Set<Int>())
        Crew.run(threads, over: steps) { step, worker in
            seen.withLock { $0[step] += 1 }
            _ = workers.withLock { $0.insert(worker) }
        }
        #expect(seen.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(workers.withLock { $0.isSubset(of: 0..<threads) })
    }

    /// Two steps that each wait for the other need two threads.
    @Test(.timeLimit(.minutes(20))) func stepsRunAtOnce() throws {
        let (one, two) = (try EventSignal(), try EventSignal())
        let met = Mutex(0)
        Crew.run(2, over: 2) { step, _ in
            let (mine, other) = step == 0 ? (one, two) : (two, one)
            mine.signal()
            let deadline = Deadline(after: .seconds(30), on: SystemClock())
            if (try? waitForAny(of: [other.descriptor], until: deadline)) != nil { met.withLock { $0 += 1 } }
        }
        #expect(met.withLock { $0 } == 2)
    }
}
