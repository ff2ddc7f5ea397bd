internal import KeychainPlatform
internal import MessageBus

/// The lists of long collections, which clients are told again after items came or went, at a
/// ``Pace``: whoever stores thousands pays for a list a second, not for one an item.
final class LongLists {
    private let pace: Pace
    private var waiting: [SecretCollection] = []

    init(in loop: BusLoop, _ clock: any KeychainClock, due: @escaping () -> Void) {
        pace = Pace(in: loop, clock, due: due)
    }

    /// Has a list told once it may be; false where nothing can be waited for.
    func await(_ collection: SecretCollection) -> Bool {
        guard pace.await() else { return false }
        waiting.removeAll { $0.name == collection.name }
        waiting.append(collection)
        return true
    }

    /// Tells those that wait.
    ///
    /// - Parameter body: false where it could not be told: it waits again.
    func tell(_ body: (SecretCollection) -> Bool) {
        let collections = waiting
        waiting = []
        var untold: [SecretCollection] = []
        pace.measure { untold = collections.filter { !body($0) } }
        for collection in untold { _ = self.await(collection) }
    }

    /// Whether its list will be told anyway.
    func areToTell(_ collection: SecretCollection) -> Bool { waiting.contains { $0.name == collection.name } }

    /// A collection that is no more.
    func forget(_ collection: SecretCollection) { waiting.removeAll { $0.name == collection.name } }
}
