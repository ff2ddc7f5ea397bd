import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A disk that takes the head of the audit record when the test lets it.
private final class SlowDisk: Sendable {
    private let isReached: EventSignal
    private let letGo: EventSignal

    init() throws {
        isReached = try EventSignal()
        letGo = try EventSignal()
    }

    func write(_ confirmation: AuditConfirmation) {
        isReached.signal()
        // A test that fails lets it go as well.
        _ = try? waitForAny(of: [letGo.descriptor], until: MessageChannel.soon)
        confirmation.perform()
    }

    func waitUntilReached() throws {
        try #require(try waitForAny(of: [isReached.descriptor], until: MessageChannel.soon) == 0)
    }

    func release() { letGo.signal() }

    /// What comes from then on waits again.
    func hold() {
        letGo.drain()
        isReached.drain()
    }
}

/// What goes on while the enclave's disk keeps a block of the audit record waiting.
@Suite struct SlowDiskTests {
    private let disk: SlowDisk
    private let server: RunningServer
    private let daemon: any EnclaveConnection

    init() throws {
        let disk = try SlowDisk()
        self.disk = disk
        server = try RunningServer(writeHead: { disk.write($0) })
        daemon = try server.connect()
    }

    private func sealed(_ text: String, _ enclave: any EnclaveConnection) throws -> SealedAuditBlock {
        try #require(try enclave.sealAudit(Array(text.utf8), fromFile: 0))
    }

    /// A block that the disk has been given and not taken.
    private func confirming(_ block: SealedAuditBlock) throws -> Asking<AuditPlace?> {
        let daemon = daemon
        let asking = try Asking { () throws(KeychainError) in try daemon.confirmAudit(block) }
        try disk.waitUntilReached()
        return asking
    }

    private func expectBusy(
        _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) { try body() } throws: { error in
            (error as? KeychainError)?.reason == .busy
        }
    }

    @Test func keysAreOpenedMeanwhile() throws {
        let other = try server.connect()
        let made = try MadeKey(in: other)
        let block = try sealed("one", daemon)
        let confirmation = try confirming(block)
        for _ in 0..<100 { #expect(try made.opens(in: other)) }
        #expect(try MadeKey(in: other).opens(in: server.connect()))
        #expect(try other.openAudit([block.box], from: block.place) != .locked)
        #expect(!confirmation.isDone)
        disk.release()
        #expect(try confirmation.get() == block.place.at(1))
        #expect(try other.auditHead(settled: true) == block.place.at(1))
    }

    /// Nobody knows yet which block comes next, so none is sealed in its place.
    @Test func anotherBlockWaitsForIt() throws {
        let other = try server.connect()
        let block = try sealed("one", daemon)
        let confirmation = try confirming(block)
        expectBusy { _ = try sealed("two", other) }
        expectBusy { _ = try other.confirmAudit(block) }
        expectBusy { _ = try other.auditHead(settled: true) }
        expectBusy { try other.noteUnwritten(1, by: 1) }
        // Whoever reads the record goes by what counts already.
        #expect(try other.auditHead(settled: false) == block.place)
        disk.release()
        _ = try confirmation.get()
        // What was refused ended no connection.
        #expect(try sealed("two", other).place == block.place.at(1))
    }

    /// Keys go at once, however long the disk takes.
    @Test func aLockClosesMeanwhile() throws {
        let door = try RemotePersonDoor(
            runDirectory: server.home.runDirectory, process: nil, clock: SystemClock())
        try door.setPasscode(.text("1234"))
        let made = try MadeKey(in: daemon)
        let block = try sealed("one", daemon)
        let confirmation = try confirming(block)
        try door.lock()
        #expect(try server.connect().openRowKeys([(made.binding, made.wrapped)]).map(\.fate) == [.locked])
        disk.release()
        #expect(try confirmation.get() == block.place.at(1))
        // What came in between is said by the next one.
        try door.unlock(with: .passcode(.text("1234")))
        let next = try sealed("two", daemon)
        guard case .blocks(let opened) = try daemon.openAudit([block.box, next.box], from: block.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened[0]?.events.map(\.kind).contains(.locked) == false)
        #expect(opened[1]?.events.map(\.kind) == [.locked, .unlocked])
    }

    /// As it would be found after a crash: the block is there, and does not count yet.
    @Test func aCrashBeforeTheDiskHasItIsAsIfItHadNotBeenConfirmed() throws {
        let block = try sealed("one", daemon)
        let confirmation = try confirming(block)
        let files = try server.home.contents()
        disk.release()
        _ = try confirmation.get()
        let crashed = try EnclaveHome()
        _ = try PrivateDirectory(crashed.path(""), creating: true)
        for (name, bytes) in files { try crashed.write(name, bytes) }
        let enclave = try crashed.cheap()
        #expect(enclave.auditHead(settled: true) == block.place)
        #expect(try enclave.confirmAudit(block) == block.place.at(1))
    }

    @Test func aDaemonThatGoesMeanwhileLosesNothing() throws {
        let block = try sealed("one", daemon)
        let leaving = try ListeningDaemon(server)
        try leaving.confirm(block)
        try disk.waitUntilReached()
        leaving.leave()
        disk.release()
        let next = try server.connect()
        var head: AuditPlace?
        #expect(
            try Waiting.eventually {
                do { head = try next.auditHead(settled: true) } catch let error as KeychainError where error.reason == .busy {
                    return false
                }
                return true
            })
        #expect(head == block.place.at(1))
        #expect(try sealed("two", next).place == block.place.at(1))
    }

    /// Whoever asks out of turn ends its connection, and the block counts all the same.
    @Test func whoDoesNotWaitForTheAnswerGetsNone() throws {
        let block = try sealed("one", daemon)
        let hasty = try ListeningDaemon(server)
        try hasty.confirm(block)
        try disk.waitUntilReached()
        try hasty.confirm(block)
        #expect(try hasty.isEnded)
        disk.release()
        #expect(Waiting.eventually { (try? daemon.auditHead(settled: true)) == block.place.at(1) })
    }

    @Test func theEnclaveEndsOnceTheDiskHasIt() throws {
        let block = try sealed("one", daemon)
        let confirmation = try confirming(block)
        server.askToStop()
        // The loop has come to its end, or is about to; nothing is let go of yet.
        #expect(throws: KeybagError.inUse) { try EnclaveDirectory(inData: server.home.dataDirectory) }
        disk.release()
        #expect(server.ended() == .stopped)
        _ = try? confirmation.get()
        #expect(try server.home.cheap().auditHead(settled: true) == block.place.at(1))
    }

    @Test func whatCannotBeWrittenDoesNotCount() throws {
        let server = try RunningServer()
        let daemon = try server.connect()
        let block = try sealed("one", daemon)
        let head = try server.home.read("audit")
        try server.home.remove("audit")
        try FileManager.default.createDirectory(atPath: server.home.path("audit"), withIntermediateDirectories: false)
        #expect(throws: KeychainError.self) { try daemon.confirmAudit(block) }
        #expect(try daemon.auditHead(settled: true) == block.place)
        try server.home.remove("audit")
        try server.home.write("audit", head)
        #expect(try daemon.confirmAudit(block) == block.place.at(1))
    }

    /// What waits is told on the same thread, and keeps nobody from a key either.
    @Test func keysAreOpenedWhileItIsWrittenWhatWaits() throws {
        let other = try server.connect()
        let made = try MadeKey(in: other)
        let first = try sealed("one", daemon)
        let confirmation = try confirming(first)
        disk.release()
        _ = try confirmation.get()
        disk.hold()
        let daemon = daemon
        let noting = try Asking { () throws(KeychainError) in try daemon.noteUnwritten(3, by: 1) }
        try disk.waitUntilReached()
        for _ in 0..<100 { #expect(try made.opens(in: other)) }
        #expect(!noting.isDone)
        expectBusy { _ = try sealed("two", other) }
        disk.release()
        try noting.get()
        #expect(try sealed("two", other).place == first.place.at(1))
    }

    /// Where it cannot be written that so many wait, and they are written after all, none is lost.
    @Test func whatWaitedAndCouldNotBeToldIsNotLost() throws {
        let server = try RunningServer()
        let daemon = try server.connect()
        _ = try daemon.confirmAudit(try sealed("one", daemon))
        let head = try server.home.read("audit")
        try server.home.remove("audit")
        try FileManager.default.createDirectory(atPath: server.home.path("audit"), withIntermediateDirectories: false)
        #expect(throws: KeychainError.self) { try daemon.noteUnwritten(5, by: 1) }
        try server.home.remove("audit")
        try server.home.write("audit", head)
        let block = try sealed("two", daemon)
        _ = try daemon.confirmAudit(block)
        try daemon.noteUnwritten(0, by: 1)
        try daemon.noteUnwritten(0, by: 2)
        let next = try sealed("three", daemon)
        guard case .blocks(let opened) = try daemon.openAudit([block.box, next.box], from: block.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.map { $0?.droppedEvents } == [0, 0])
    }

    /// Another chain of keys begins in the same file: behind the block, not beside it.
    @Test func aChangeOfTheKeysWaitsForIt() throws {
        let home = try EnclaveHome()
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let directory = try EnclaveDirectory(inData: home.dataDirectory)
        let keeper = EnclaveKeeper(directory, clock: ManualClock(), cost: cost)
        try keeper.open(for: .daemon(.anyOrNew))
        let order = Mutex<[String]>([])
        let isChanging = try EventSignal()
        let (block, confirmation) = try keeper.core { core in
            let sealed = try core.sealAudit(Array("one".utf8), fromFile: 0, at: .zero, wallClock: 0)
            let block = try #require(sealed)
            return (block, try #require(try core.beginConfirming(block)))
        }
        TestThread.start {
            _ = try? waitForAny(of: [isChanging.descriptor], until: MessageChannel.soon)
            order.withLock { $0.append("written") }
            confirmation.perform()
        }
        try keeper.core { core in
            let derived = try core.derivation(for: .setPasscode(.text("1234")), at: .zero).derive()
            isChanging.signal()
            _ = try core.perform(.setPasscode(.text("1234")), with: derived, at: .zero)
        }
        order.withLock { $0.append("changed") }
        #expect(order.withLock { $0 } == ["written", "changed"])
        let next = try keeper.core { core in
            #expect(try core.finish(confirmation) == block.place.at(1))
            let next = try core.sealAudit(Array("two".utf8), fromFile: 0, at: .zero, wallClock: 0)
            let opened = core.openAudit([block.box], from: block.place)
            #expect(opened != .unknownChain && opened != .blocks([nil]))
            return try #require(next)
        }
        #expect(next.place.chain != block.place.chain && next.place.file == block.place.file + 1)
        directory.release()
        let again = try home.cheap()
        try again.unlock(with: .passcode(.text("1234")))
        #expect(try again.confirmAudit(next) == next.place.at(1))
        guard case .blocks(let opened) = again.openAudit([next.box], from: next.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened[0]?.previousCount == 1, "the end of the file before is told")
    }
}

extension EnclaveKeeper {
    /// The engine, for a test that throws what it likes.
    fileprivate func core<R>(_ body: (inout EnclaveCore) throws -> R) throws -> R {
        try withCore { core throws(SessionError) in Result { try body(&core) } }.get()
    }
}
