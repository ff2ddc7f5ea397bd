@_implementationOnly import CLatchkeyBus
internal import KeychainPlatform

/// logind, as far as it tells that nobody is at the machine (org.freedesktop.login1(5)).
struct Logins {
    private static let name = "org.freedesktop.login1"

    enum Meaning {
        case sleeping
        case awake
        /// Of a session of our user.
        case screenLocked
    }

    private let bus: BusConnection
    private let logind: String

    init(on bus: BusConnection) throws(BusFailure) {
        // Where it runs it was started with the machine.
        guard let logind = try bus.owner(of: Self.name, starting: false) else {
            throw BusFailure("there is no logind on the system bus")
        }
        try unsafe bus.call("logind") { unsafe lk_login_follow($0, logind) }
        self.bus = bus
        self.logind = logind
    }

    /// Sleep waits until it is closed; nil where logind does not let us.
    func delaySleep() -> Descriptor? {
        do throws(BusFailure) {
            return Descriptor(owning: try unsafe bus.value("logind") { unsafe lk_login_delay_sleep($0, logind) })
        } catch { return nil }
    }

    /// - Throws: where nothing more will be told.
    func meaning(of signal: BusConnection.Signal) throws(BusFailure) -> Meaning? {
        if case .owner = signal.kind { throw BusFailure("logind has ended") }
        guard signal.sender == logind else { return nil }
        switch signal.kind {
        case .sleep(let begins): return begins ? .sleeping : .awake
        case .lock, .hint(true): return isOurs(signal.path) ? .screenLocked : nil
        case .hint(false), .finger, .owner: return nil
        }
    }

    /// A session that is gone by now was nobody's.
    private func isOurs(_ session: String) -> Bool {
        var user: UInt32 = .max
        do throws(BusFailure) {
            try unsafe bus.call("logind") { unsafe lk_login_user($0, logind, session, &user) }
        } catch { return false }
        return user == ProcessEnvironment.effectiveUserID
    }
}
