internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Hears on a thread of its own when the keychain is locked and opened.
final class LockFollower: Sendable {
    /// Readable when something was heard.
    let heard: EventSignal
    private let cancelled: EventSignal
    private let isOpen = Mutex<Bool?>(nil)

    /// Where no daemon runs there is nothing to hear; it is looked for again after this.
    private static let pause = Duration.seconds(5)

    init(_ keychain: any KeychainTransport, clock: any KeychainClock) throws(SystemCallError) {
        (heard, cancelled) = (try EventSignal(), try EventSignal())
        try BackgroundThread.start { [weak self, cancelled] in
            while true {
                do throws(KeychainError) {
                    let states = try keychain.deviceStates()
                    while let state = try states.next(orUntil: cancelled) { self?.take(state) }
                    return
                } catch {
                    let end = Deadline(after: Self.pause, on: clock)
                    do throws(SystemCallError) {
                        if try waitForAny(of: [cancelled.descriptor], until: end) != nil { return }
                    } catch { return }
                }
            }
        }
    }

    deinit { cancelled.signal() }

    private func take(_ state: DeviceState) {
        let isOpen = state.isOpenForPrograms
        self.isOpen.withLock { $0 = isOpen }
        heard.signal()
    }

    /// Whether it is open by what was heard last; nil: nothing was.
    func latest() -> Bool? {
        heard.drain()
        return isOpen.withLock { $0 }
    }
}
