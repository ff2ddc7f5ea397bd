internal import KeychainPlatform
internal import MessageBus

/// The lists of long collections, which clients are told again after items came or went: at
/// once where none was told for a while, else a second after the last, or twenty times as long
/// as that one took, ten seconds at the most. Whoever stores thousands pays for a list a second,
/// not for one an item.
final class LongLists {
    private static let leastPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(10)
    /// A pause is so many times as long as the lists before it took.
    private static let share = 20

    private let clock: any KeychainClock
    private let loop: BusLoop
    private let due: () -> Void
    private var waiting: [SecretCollection] = []
    /// From when on the next may be told.
    private var next: Duration = .zero
    private var timer: TimerSignal?

    init(in loop: BusLoop, _ clock: any KeychainClock, due: @escaping () -> Void) {
        (self.loop, self.clock, self.due) = (loop, clock, due)
    }

    /// Has a list told once it may be; false where nothing can be waited for.
    func await(_ collection: SecretCollection) -> Bool {
        guard let timer = timer ?? makeTimer() else { return false }
        if waiting.isEmpty { timer.set(after: max(.zero, next - clock.monotonic)) }
        waiting.removeAll { $0.name == collection.name }
        waiting.append(collection)
        return true
    }

    /// Tells those that wait.
    ///
    /// - Parameter body: false where it could not be told: it waits again.
    func tell(_ body: (SecretCollection) -> Bool) {
        let begun = clock.monotonic
        let collections = waiting
        waiting = []
        let untold = collections.filter { !body($0) }
        let end = clock.monotonic
        next = end + min(Self.longestPause, max(Self.leastPause, (end - begun) * Self.share))
        for collection in untold { _ = self.await(collection) }
    }

    /// Whether its list will be told anyway.
    func areToTell(_ collection: SecretCollection) -> Bool { waiting.contains { $0.name == collection.name } }

    /// A collection that is no more.
    func forget(_ collection: SecretCollection) { waiting.removeAll { $0.name == collection.name } }

    private func makeTimer() -> TimerSignal? {
        do throws(SystemCallError) {
            let made = try TimerSignal()
            loop.watch(made.descriptor) { [weak self] in
                made.drain()
                self?.due()
            }
            timer = made
            return made
        } catch { return nil }
    }
}
