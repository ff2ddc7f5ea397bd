@_implementationOnly import CLatchkeyBus
internal import KeychainProtocol

/// The reader that fprintd has for us (net.reactivated.Fprint, its interface's
/// description).
struct FingerDevice {
    private static let name = "net.reactivated.Fprint"

    private let bus: BusConnection
    private let fprintd: String
    private let path: String
    let reader: FingerReader

    /// nil where no fprintd is installed, or it has no reader.
    init?(on bus: BusConnection) throws(BusFailure) {
        guard let fprintd = try bus.owner(of: Self.name, starting: true) else { return nil }
        var path = [CChar](repeating: 0, count: Int(LK_BUS_PATH))
        var (fingers, swiped) = (UInt32(0), Int32(0))
        do throws(BusFailure) {
            try unsafe bus.call("fprintd") { unsafe lk_finger_reader($0, fprintd, &path) }
        } catch {
            guard bus.refusal == "\(Self.name).Error.NoSuchDevice" else { throw error }
            return nil
        }
        try unsafe bus.call("fprintd") { unsafe lk_finger_count($0, fprintd, path, &fingers) }
        try unsafe bus.call("fprintd") { unsafe lk_finger_is_swiped($0, fprintd, path, &swiped) }
        self.bus = bus
        self.fprintd = fprintd
        self.path = BusConnection.text(path)
        reader = FingerReader(fingers: Int(fingers), isSwiped: swiped != 0)
    }

    /// The reader is ours from then on.
    ///
    /// - Returns: false where somebody else has it.
    func claim() throws(BusFailure) -> Bool {
        do throws(BusFailure) {
            try unsafe bus.call("fprintd") { unsafe lk_finger_claim($0, fprintd, path) }
            return true
        } catch {
            guard bus.refusal == "\(Self.name).Error.AlreadyInUse" else { throw error }
            return false
        }
    }

    /// It looks at fingers from then on.
    func begin() throws(BusFailure) {
        try unsafe bus.call("fprintd") { unsafe lk_finger_begin($0, fprintd, path) }
    }

    /// What a signal says of a finger; nil: nothing. The reader goes on looking but after
    /// a match.
    ///
    /// - Throws: where it looks no more.
    func touch(by signal: BusConnection.Signal) throws(BusFailure) -> BusWord.Touch? {
        if case .owner = signal.kind { throw BusFailure("fprintd has ended") }
        guard case .finger(let result, let isDone) = signal.kind, signal.sender == fprintd, signal.path == path
        else { return nil }
        let touch: BusWord.Touch
        switch result {
        case "verify-match": return .match
        case "verify-no-match": touch = .noMatch
        case "verify-retry-scan", "verify-swipe-too-short", "verify-finger-not-centered", "verify-remove-and-retry":
            touch = .unreadable
        case "verify-disconnected": throw BusFailure("the reader is gone")
        // What a newer fprintd says of a finger that is to be put there once more.
        default:
            guard !isDone else { throw BusFailure("the reader failed") }
            touch = .unreadable
        }
        if isDone {
            try unsafe bus.call("fprintd") { unsafe lk_finger_stop($0, fprintd, path) }
            try begin()
        }
        return touch
    }

    /// Others may have the reader. What keeps fprintd from it, the end of our connection
    /// does not.
    func release() {
        do throws(BusFailure) {
            try unsafe bus.call("fprintd") { unsafe lk_finger_stop($0, fprintd, path) }
            try unsafe bus.call("fprintd") { unsafe lk_finger_release($0, fprintd, path) }
        } catch { return }
    }
}
