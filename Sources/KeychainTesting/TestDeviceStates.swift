internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// The states of a test's device, as one observer hears them.
final class TestDeviceStates: DeviceStates {
    private let machine: TestMachine
    private let bell: EventSignal
    private let listener: UInt64
    private let known = Mutex<UInt64>(0)

    init(_ machine: TestMachine) throws(KeychainError) {
        self.machine = machine
        do throws(SystemCallError) { bell = try EventSignal() } catch { throw Self.failure(error) }
        listener = machine.board.join { [bell] in bell.signal() }
    }

    deinit { machine.board.leave(listener) }

    func next(orUntil cancelled: EventSignal) throws(KeychainError) -> DeviceState? {
        while true {
            // One that is closed says so.
            _ = try machine.engine()
            if let state = try machine.board.state(after: known.withLock { $0 }, for: listener) {
                known.withLock { $0 = state.number }
                return state
            }
            do throws(SystemCallError) {
                if try waitForAny(of: [cancelled.descriptor, bell.descriptor]) == 0 { return nil }
            } catch { throw Self.failure(error) }
            bell.drain()
        }
    }

    private static func failure(_ error: SystemCallError) -> KeychainError {
        KeychainError(.notAvailable, reason: .internalFault(what: "following the lock"), underlying: "\(error)")
    }
}
