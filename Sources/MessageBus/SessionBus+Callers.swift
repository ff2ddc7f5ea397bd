@_implementationOnly import CLatchkeySession
internal import KeychainPlatform

/// Whose the connections of a bus are, and which calls wait until the bus has said so.
struct CallersOnBus {
    fileprivate enum Question: String {
        /// The specification's 0.20 and later; with a process descriptor since its 0.43's "ProcessFD".
        case credentials = "GetConnectionCredentials"
        /// What every bus answers.
        case number = "GetConnectionUnixProcessID"
    }

    fileprivate var known: [String: BusCaller] = [:]
    /// In the order in which they came.
    fileprivate var waiting: [String: [BusCall]] = [:]
    fileprivate var waitingCount = 0
    /// What the calls that wait keep of memory.
    private var waitingWeight = 0
    /// By the cookies of what was asked; each until `end` on the monotonic clock.
    fileprivate var asked: [UInt64: (name: String, question: Question, end: Duration)] = [:]

    /// When the next question has waited long enough; nil: the bus is asked nothing.
    var nextEnd: Duration? { asked.values.lazy.map(\.end).min() }

    /// Connections that are remembered by a number; of who comes after that many the bus is
    /// asked with each call.
    private static let mostNumbered = 4096
    /// Likewise by a descriptor, of which a process has 1024 (RLIMIT_NOFILE).
    private static let mostHeld = 256
    private var heldCount = 0

    /// Calls of all connections that wait at once.
    private static let mostWaiting = 4096
    /// Their memory together, in bytes, but for one of any length where none waits, and short
    /// ones: nobody is refused what every client begins with because another sends megabytes.
    private static let mostWaitingWeight = 32 << 20
    private static let shortWeight = 4096
    /// Numbers that stay free for descriptors of what comes next and of our own: a message has 253
    /// at the most (SCM_MAX_FD, unix(7)), and sd-bus leaves the bus where they do not fit.
    private static let fewestFree: UInt32 = 253 + 64

    /// False where too much waits already.
    fileprivate mutating func hold(_ call: BusCall) -> Bool {
        let fits =
            call.weight <= Self.shortWeight || waitingWeight <= Self.mostWaitingWeight - call.weight
        guard waitingCount == 0 || waitingCount < Self.mostWaiting && fits, Self.hasRoomForDescriptors else {
            return false
        }
        waitingCount += 1
        waitingWeight += call.weight
        waiting[call.sender, default: []].append(call)
        return true
    }

    /// Whether those of the calls that wait, whether their arguments name them or not, leave others
    /// enough.
    private static var hasRoomForDescriptors: Bool { lk_session_has_room(fewestFree) != 0 }

    fileprivate mutating func remember(_ caller: BusCaller, as name: String) {
        switch caller {
        case .held where heldCount < Self.mostHeld:
            heldCount += 1
            known[name] = caller
        case .numbered, .ended: if known.count - heldCount < Self.mostNumbered { known[name] = caller }
        // Of who is not known now the bus is asked once more.
        case .held, .unknown: break
        }
    }

    fileprivate mutating func forget(_ name: String) {
        if case .held? = known.removeValue(forKey: name) { heldCount -= 1 }
    }

    fileprivate mutating func takeWaiting(of name: String) -> [BusCall] {
        let calls = waiting.removeValue(forKey: name) ?? []
        waitingCount -= calls.count
        waitingWeight -= calls.reduce(0) { $0 + $1.weight }
        return calls
    }
}

extension SessionBus {
    /// Hands a call on once it is known whose it is.
    func deliver(_ call: BusCall) {
        if let direct {
            call.caller = direct.caller
            objects?.answer(call)
        } else if callers.waiting[call.sender] != nil {
            _ = hold(call)
        } else if let caller = callers.known[call.sender] {
            call.caller = caller
            objects?.answer(call)
        } else if hold(call) {
            ask(.credentials, about: call.sender)
        }
    }

    /// False where it is refused.
    private func hold(_ call: BusCall) -> Bool {
        guard callers.hold(call) else {
            call.refuse(
                BusError(.limitsExceeded, "too much waits until the bus says whose it is; try again in a moment"))
            return false
        }
        return true
    }

    private func ask(_ question: CallersOnBus.Question, about name: String) {
        var message: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            raw, &message, DirectBus.name, DirectBus.path, DirectBus.name, question.rawValue)
        guard result >= 0, let message = unsafe message else { return settle(name, as: .unknown) }
        defer { unsafe sd_bus_message_unref(message) }
        var cookie: UInt64 = 0
        guard unsafe MessageWriter(message).append([.string(name)]),
            unsafe sd_bus_send(raw, message, &cookie) >= 0
        else { return settle(name, as: .unknown) }
        callers.asked[cookie] = (name, question, SystemClock().monotonic + patience)
    }

    /// Of those about whom the bus has said nothing in its time nobody knows who they are.
    func endQuestions() {
        guard !callers.asked.isEmpty else { return }
        let now = SystemClock().monotonic
        for (cookie, question) in callers.asked where question.end <= now {
            callers.asked[cookie] = nil
            settle(question.name, as: .unknown)
        }
    }

    /// An answer or an error; most are to calls that sd-bus has made, or to none.
    ///
    /// sd-bus would take the first that names its call for the answer, whoever sends it:
    /// anybody can, where a bus lets answers through that nobody asked for. So what does not
    /// come from the bus is passed over here, and the bus's own is waited for.
    func takeAnswer(_ message: OpaquePointer) {
        var cookie: UInt64 = 0
        let sender = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
        guard sender == DirectBus.name, unsafe sd_bus_message_get_reply_cookie(message, &cookie) >= 0,
            let (name, question, _) = callers.asked.removeValue(forKey: cookie)
        else { return }
        if unsafe sd_bus_message_is_method_error(message, nil) > 0 {
            let isOld = unsafe sd_bus_message_is_method_error(message, "org.freedesktop.DBus.Error.UnknownMethod") > 0
            guard isOld, question == .credentials else { return settle(name, as: .unknown) }
            return ask(.number, about: name)
        }
        do throws(BusError) {
            let values = try unsafe MessageReader(message).all()
            switch question {
            case .credentials: settle(name, as: BusCaller(credentials: values))
            case .number: settle(name, as: BusCaller(processID: values))
            }
        } catch { settle(name, as: .unknown) }
    }

    /// Hands on what waits, in the order in which it came.
    private func settle(_ name: String, as caller: BusCaller) {
        // It may have ended meanwhile.
        guard callers.waiting[name] != nil else { return }
        callers.remember(caller, as: name)
        for call in callers.takeWaiting(of: name) {
            call.caller = caller
            if call.interface == Self.peer { call.answer() } else { objects?.answer(call) }
        }
    }

    /// Of its sender.
    func hasWaitingCalls(_ message: OpaquePointer) -> Bool {
        let sender = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
        return sender.map { callers.waiting[$0] != nil } ?? false
    }

    /// What it has called is done, whoever it was; then it is forgotten.
    func forgetCaller(_ name: String) {
        settle(name, as: .unknown)
        callers.forget(name)
    }

    /// The connection to the bus has ended: nobody waits for an answer.
    func dropWaiting() { callers = CallersOnBus() }
}
