internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Whether the keychain is open, one state after the other, whichever daemon and
/// enclave serve it.
struct LockWatch {
    /// How long nobody may serve it: a machine that wakes up takes its time.
    private static let patience: Duration = .seconds(30)
    private static let pause: Duration = .milliseconds(200)

    private let reach: PersonReach
    private let ending: EventSignal
    private var door: RemotePersonDoor?
    /// The enclave's number of the last state; its next process counts anew.
    private var number: UInt64 = 0
    private var told: DeviceText?

    init(_ reach: PersonReach, until ending: EventSignal) {
        self.reach = reach
        self.ending = ending
    }

    /// The next that differs from the last; nil: it is to end.
    mutating func next() throws(CommandFailure) -> DeviceText? {
        var limit = Deadline(after: Self.patience, on: reach.clock)
        while true {
            do throws(CommandFailure) {
                guard let state = try following() else { return nil }
                let text = DeviceText(state)
                if text != told {
                    told = text
                    return text
                }
                limit = Deadline(after: Self.patience, on: reach.clock)
            } catch {
                door = nil
                if limit.hasPassed { throw error }
                if try hasEnded(within: Self.pause) { return nil }
            }
        }
    }

    /// nil: it is to end.
    private mutating func following() throws(CommandFailure) -> DeviceState? {
        guard let door else {
            // Asked for through the daemon first, which starts what does not run.
            _ = try reach.presentState()
            let door = try reach.remoteDoor()
            let state = try asking { () throws(KeychainError) in try door.state() }
            self.door = door
            number = state.number
            return state
        }
        let (known, ending) = (number, ending)
        let state = try asking { () throws(KeychainError) in try door.state(after: known, orUntil: ending) }
        if let state { number = state.number }
        return state
    }

    private func hasEnded(within pause: Duration) throws(CommandFailure) -> Bool {
        do throws(SystemCallError) {
            return try waitForAny(of: [ending.descriptor], until: Deadline(after: pause, on: reach.clock)) != nil
        } catch {
            throw CommandFailure(
                .fault, "nothing can be waited for (\(error))", "Close other programs, then try again.")
        }
    }
}
