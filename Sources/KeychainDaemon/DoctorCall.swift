internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization
internal import class Foundation.Thread

/// A call of `latchkey doctor`, which may take far longer than a client waits
/// for a message: it runs on a thread of its own, and the waiting one says every
/// second that it goes on.
final class DoctorCall: Sendable {
    static let pulse: Duration = .seconds(1)

    private let outcome = Mutex<Result<DoctorReport, KeychainError>?>(nil)
    private let done: EventSignal

    init(_ task: DoctorTask, on engine: KeychainEngine) throws(SystemCallError) {
        done = try EventSignal()
        let thread = Thread { [self] in
            let result: Result<DoctorReport, KeychainError>
            do throws(KeychainError) { result = .success(try engine.doctor(task)) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            done.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// The report, once it is there.
    ///
    /// - Parameter progress: called once a second; after it has thrown the call
    ///   is not waited for, and goes on by itself.
    func wait<E: Error>(
        on clock: any KeychainClock, _ progress: () throws(E) -> Void
    ) throws(E) -> Result<DoctorReport, KeychainError> {
        while true {
            do throws(SystemCallError) {
                let deadline = Deadline(after: Self.pulse, on: clock)
                if try KeychainPlatform.waitForAny(of: [done.descriptor], until: deadline) != nil { break }
            } catch {
                return .failure(KeychainError(.internalComponent, reason: .internalFault(what: "waiting")))
            }
            try progress()
        }
        return outcome.withLock { $0 }
            ?? .failure(KeychainError(.internalComponent, reason: .internalFault(what: "no report came")))
    }
}
