internal import KeychainPlatform
internal import MessageBus

/// Work that clients need soon and that takes long: done at once where none was for a while,
/// else a second after the last time, or twenty times as long as that took, ten seconds at the
/// most. So it takes a twentieth of the time, however often it becomes due.
final class Pace {
    private static let leastPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(10)
    /// A pause is so many times as long as the work before it took.
    private static let share = 20

    private let clock: any KeychainClock
    private let loop: BusLoop
    private let due: () -> Void
    private var isWaiting = false
    /// From when on it may be done next.
    private var next: Duration = .zero
    private var timer: TimerSignal?

    init(in loop: BusLoop, _ clock: any KeychainClock, due: @escaping () -> Void) {
        (self.loop, self.clock, self.due) = (loop, clock, due)
    }

    /// Has it done once it may be; false where nothing can be waited for.
    func await() -> Bool {
        guard let timer = timer ?? makeTimer() else { return false }
        if !isWaiting { timer.set(after: max(.zero, next - clock.monotonic)) }
        isWaiting = true
        return true
    }

    /// Does it.
    func measure(_ body: () -> Void) {
        isWaiting = false
        let begun = clock.monotonic
        body()
        let end = clock.monotonic
        next = end + min(Self.longestPause, max(Self.leastPause, (end - begun) * Self.share))
    }

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
