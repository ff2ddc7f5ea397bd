import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import Synchronization
import Testing

/// Somebody who waits for an answer on a thread of its own.
final class Asking<Answer: Sendable>: Sendable {
    private let outcome = Mutex<Result<Answer, KeychainError>?>(nil)
    private let done: EventSignal

    init(_ ask: @escaping @Sendable () throws(KeychainError) -> Answer) throws {
        let done = try EventSignal()
        self.done = done
        TestThread.start { [self] in
            let result = Result { () throws(KeychainError) in try ask() }
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    var isDone: Bool { outcome.withLock { $0 != nil } }

    @discardableResult func get() throws -> Answer {
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        try #require(try waitForAny(of: [done.descriptor], until: deadline) == 0)
        return try #require(outcome.withLock { $0 }).get()
    }
}
