import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Testing

@testable import Enclave

/// A server on a thread of its own in this process, for one test.
final class RunningServer: Sendable {
    let home: EnclaveHome
    let clock: ManualClock
    private let stop: EventSignal
    private let ending: Ending

    /// What the loop ended with, and a descriptor that becomes readable then.
    private final class Ending: @unchecked Sendable {
        // @unchecked: `lock` guards `value`.
        private let lock = NSLock()
        private var value: EnclaveServer.Ending?
        let signal: EventSignal

        init() throws { signal = try EventSignal() }

        func set(_ ending: EnclaveServer.Ending?) {
            lock.withLock { value = ending }
            signal.signal()
        }

        var current: EnclaveServer.Ending? { lock.withLock { value } }
    }

    init(
        home: EnclaveHome? = nil, clock: ManualClock = ManualClock(),
        userID: UInt32 = ProcessEnvironment.effectiveUserID, connections: Int = 64, personsOfOneProcess: Int? = nil,
        hardware: any HardwareDoor = NoHardware(), bus: (any SystemBusDoor)? = nil, spawnerEnd: Descriptor? = nil,
        writeHead: @escaping @Sendable (AuditConfirmation) -> Void = { $0.perform() },
        startThread: @escaping PersonDesk.Start = { body throws(SystemCallError) in try BackgroundThread.start(body) },
        rest: ServerRest = ServerRest { _ in }
    ) throws {
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let home = try home ?? EnclaveHome()
        // What throws comes before there is something to wait for.
        let socket = try EnclaveSocket(inRun: home.runDirectory)
        let directory = try EnclaveDirectory(inData: home.dataDirectory)
        self.home = home
        self.clock = clock
        stop = try EventSignal()
        ending = try Ending()
        let (stop, ending) = (stop, ending)
        let thread = Thread {
            do {
                var limits = EnclaveServer.Limits()
                limits.connections = connections
                if let personsOfOneProcess { limits.personsOfOneProcess = personsOfOneProcess }
                let server = try EnclaveServer(
                    socket,
                    EnclaveKeeper(
                        directory, clock: clock, cost: cost, hardware: hardware,
                        reader: ReaderView(isThere: bus != nil)),
                    bus: bus ?? NoSystemBus(), spawnerEnd: spawnerEnd, userID: userID, clock: clock, limits: limits,
                    writeHead: writeHead, startThread: startThread, rest: rest, stop: stop)
                let reason = try server.run()
                directory.release()
                ending.set(reason)
            } catch {
                Issue.record("the server failed: \(error)")
                ending.set(nil)
            }
        }
        thread.start()
    }

    /// Where another has just ended: its thread lets go of the folders a moment after its loop.
    static func again(
        home: EnclaveHome, clock: ManualClock = ManualClock(), hardware: any HardwareDoor = NoHardware(),
        spawnerEnd: Descriptor? = nil,
        startThread: @escaping PersonDesk.Start = { body throws(SystemCallError) in try BackgroundThread.start(body) }
    ) throws -> RunningServer {
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while true {
            do {
                return try RunningServer(
                    home: home, clock: clock, hardware: hardware, spawnerEnd: spawnerEnd, startThread: startThread)
            } catch KeybagError.inUse where !soon.hasPassed {
                sched_yield()
            }
        }
    }

    deinit { end() }

    func askToStop() { stop.signal() }

    /// Returns once the loop has ended and let go of its folders.
    func end() {
        askToStop()
        _ = ended()
    }

    func connector(_ expected: ExpectedStore = .anyOrNew, clock: any KeychainClock = SystemClock()) -> RemoteEnclave {
        RemoteEnclave(
            runDirectory: home.runDirectory, expecting: expected, userID: ProcessEnvironment.effectiveUserID,
            clock: clock)
    }

    func connect() throws -> any EnclaveConnection { try connector().connect() }

    /// A connection with no store opened on it.
    func bareConnection() throws -> MessageChannel {
        let folder = try PrivateDirectory(home.runDirectory, creating: false)
        return try MessageChannel(
            try PacketSocket.connectNow(to: EnclaveProtocol.socketName, in: folder.descriptor))
    }

    /// What the loop ended with; nil where it does not end within `limit`.
    func ended(within limit: Duration = .seconds(20)) -> EnclaveServer.Ending? {
        let deadline = Deadline(after: limit, on: SystemClock())
        do {
            _ = try wait(for: ending.signal.descriptor.raw, to: .receive, until: deadline)
        } catch {
            Issue.record("waiting for the server failed: \(error)")
        }
        return ending.current
    }
}

extension MessageChannel {
    static var soon: Deadline { Deadline(after: .seconds(20), on: SystemClock()) }

    /// The next answer and the length of its tail; nil when the other end closed.
    func receiveReply() throws -> (header: Latchkey_EnclaveReply, tailByteCount: Int)? {
        guard let frame = try receive(until: Self.soon) else { return nil }
        return (try Latchkey_EnclaveReply(serializedBytes: frame.header), frame.tail.count)
    }

    /// Whether nothing has come and the other end is open.
    var isQuiet: Bool {
        get throws {
            switch try receiveNow() {
            case .some: return false
            case .none: return true
            }
        }
    }

    /// Whether the other end closes without a further word.
    var isEnded: Bool {
        get throws {
            do throws(FrameError) {
                switch try receive(until: Self.soon) {
                case .some: return false
                case .none: return true
                }
            } catch {
                if case .system(let system) = error { return system.isBrokenConnection }
                throw error
            }
        }
    }
}
