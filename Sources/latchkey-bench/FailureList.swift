import Synchronization

/// What went wrong on several threads.
final class FailureList: Sendable {
    private let errors = Mutex<[any Error]>([])

    func append(_ error: any Error) { errors.withLock { $0.append(error) } }
    var first: (any Error)? { errors.withLock { $0.first } }
}
