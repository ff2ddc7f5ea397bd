internal import KeychainPlatform
internal import MessageBus

/// The rest of a server that waits in a loop (``ServerRest``).
final class LoopRest {
    private let clock: any KeychainClock
    private let memory = ServerRest()
    /// Nil where there was no descriptor for it: then it does not rest.
    private let timer: TimerSignal?

    init(in loop: BusLoop, _ clock: any KeychainClock) {
        self.clock = clock
        do throws(SystemCallError) { timer = try TimerSignal() } catch { timer = nil }
        guard let timer else { return }
        loop.watch(timer.descriptor) { [weak self] in
            timer.drain()
            self?.look()
        }
    }

    func noteCall() {
        if memory.noteCall() { look() }
    }

    private func look() {
        let now = clock.monotonic
        if let due = memory.rest(at: now) { timer?.set(after: due - now) }
    }
}
