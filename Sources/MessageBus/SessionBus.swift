@_implementationOnly import CLatchkeySession
package import KeychainPlatform

/// Why a bus cannot be used.
package struct SessionBusFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ what: String, _ result: Int32) { description = "\(SystemCallError(what, errno: -result))" }
}

/// Who answers what comes over a bus.
package protocol BusObjects: AnyObject {
    func answer(_ call: BusCall)
    /// A connection of the bus has ended, with all that it was given.
    func connectionEnded(_ name: String)
}

/// One connection on which we are called: to a session's bus, or of one program to us
/// without a bus between. One thread uses it.
///
/// sd-bus answers `org.freedesktop.DBus.Peer` by itself, but for a Ping behind calls that wait
/// until it is known whose they are: who pings hears then that they have been taken.
@safe package final class SessionBus {
    private let bus: OpaquePointer
    private(set) weak var objects: (any BusObjects)?
    /// Of a bus.
    var callers = CallersOnBus()
    /// What a bus may take to say whose a connection is; others are served meanwhile.
    let patience: Duration
    /// In the place of a bus; nil: there is one.
    let direct: DirectBus?

    /// What the one program behind it is called; nil: a bus is behind it.
    package var client: String? { direct?.client }

    /// Whether the client has said what every client of a bus says first; a signal before the
    /// answer ends sd-bus's clients.
    private var isGreeted = false

    var raw: OpaquePointer { unsafe bus }

    /// The session bus, as DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR name it.
    ///
    /// - Parameter patience: what it may take to say whose a connection is; then that is nobody's.
    package static func user(patience: Duration = .seconds(25)) throws(SessionBusFailure) -> SessionBus {
        var bus: OpaquePointer?
        let result = unsafe sd_bus_open_user(&bus)
        guard result >= 0, let bus = unsafe bus else { throw SessionBusFailure("the session bus", result) }
        return try unsafe SessionBus(bus, direct: nil, patience)
    }

    /// The connection of one program that comes without a bus (``DirectBus``).
    ///
    /// sd-bus serves processes of our own user alone (D-Bus Specification 0.43, "EXTERNAL").
    ///
    /// - Parameter direct: answers in the place of the bus.
    package static func direct(
        _ connection: Descriptor, _ direct: DirectBus
    ) throws(SessionBusFailure) -> SessionBus {
        var bus: OpaquePointer?
        // sd-bus closes what it has.
        let copy = lk_session_copy(connection.raw)
        guard copy >= 0 else { throw SessionBusFailure("a direct connection", copy) }
        let result = unsafe lk_session_accept(copy, &bus)
        guard result >= 0, let bus = unsafe bus else { throw SessionBusFailure("a direct connection", result) }
        // Clients take signals of the service's own name alone.
        unsafe sd_bus_set_sender(bus, DirectBus.ownName)
        return try unsafe SessionBus(bus, direct: direct, .zero)
    }

    private init(_ bus: OpaquePointer, direct: DirectBus?, _ patience: Duration) throws(SessionBusFailure) {
        unsafe self.bus = bus
        self.patience = patience
        self.direct = direct
        let result = unsafe sd_bus_add_filter(bus, nil, Self.handler, Unmanaged.passUnretained(self).toOpaque())
        guard result >= 0 else { throw SessionBusFailure("the session bus", result) }
    }

    deinit {
        // What a program alone does not read is not waited for.
        if direct == nil { unsafe sd_bus_flush_close_unref(bus) } else { unsafe sd_bus_close_unref(bus) }
    }

    /// Hands what comes to `objects` from now on.
    package func serve(_ objects: any BusObjects) { self.objects = objects }

    private static let handler: sd_bus_message_handler_t = { message, context, _ in
        guard let message = unsafe message, let context = unsafe context else { return 0 }
        return unsafe Unmanaged<SessionBus>.fromOpaque(context).takeUnretainedValue().take(message)
    }

    static let peer = "org.freedesktop.DBus.Peer"

    /// 1: it is dealt with.
    private func take(_ message: OpaquePointer) -> Int32 {
        if direct == nil, unsafe sd_bus_message_is_signal(message, "org.freedesktop.DBus", "NameOwnerChanged") > 0 {
            // Anybody may send us what looks so.
            let sender = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
            if sender == "org.freedesktop.DBus" { unsafe tellOfEnd(message) }
            return 0
        }
        var type: UInt8 = 0
        guard unsafe sd_bus_message_get_type(message, &type) >= 0 else { return 0 }
        guard type == UInt8(SD_BUS_MESSAGE_METHOD_CALL) else {
            let isAnswer = type == UInt8(SD_BUS_MESSAGE_METHOD_RETURN) || type == UInt8(SD_BUS_MESSAGE_METHOD_ERROR)
            if direct == nil, isAnswer { unsafe takeAnswer(message) }
            return 0
        }
        let isOfPeer = unsafe sd_bus_message_is_method_call(message, Self.peer, nil) > 0
        let isPing = unsafe sd_bus_message_is_method_call(message, Self.peer, "Ping") > 0
        let isBehind = isPing && (unsafe hasWaitingCalls(message))
        if isOfPeer, !isBehind { return 0 }
        do throws(BusError) {
            guard objects != nil, let call = try unsafe BusCall(message, over: self) else { return 0 }
            if let direct, direct.take(call) {
                if call.member == "Hello", call.arguments.isEmpty, !isGreeted { greeted(direct) }
                return 1
            }
            deliver(call)
        } catch {
            _ = unsafe lk_session_refuse(message, error.name, error.text, direct?.client, nil)
        }
        return 1
    }

    /// What a bus says behind the answer to a Hello.
    private func greeted(_ direct: DirectBus) {
        isGreeted = true
        send(
            "NameAcquired", of: DirectBus.name, at: DirectBus.path, [.string(direct.client)], to: direct.client,
            from: DirectBus.name)
    }

    private func tellOfEnd(_ message: OpaquePointer) {
        let values: [BusValue]
        // The bus's own signal, which has three texts; what has not tells of nobody's end.
        do throws(BusError) { values = try unsafe MessageReader(message).all() } catch { return }
        guard values.count == 3, case .string(let name) = values[0], case .string("") = values[2],
            name.hasPrefix(":")
        else { return }
        forgetCaller(name)
        objects?.connectionEnded(name)
    }

    // MARK: Names

    /// Has the ends of connections told (``BusObjects/connectionEnded(_:)``).
    package func followEnds() throws(SessionBusFailure) {
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg2=''"
        // The filter has it; this says to the bus that we want it.
        let result = unsafe sd_bus_add_match(bus, nil, rule, { _, _, _ in 0 }, nil)
        guard result >= 0 else { throw SessionBusFailure("the session bus", result) }
    }

    /// Takes a name; false where somebody else has it and keeps it.
    package func request(_ name: String, replacing: Bool) throws(SessionBusFailure) -> Bool {
        let result = unsafe lk_session_request(bus, name, replacing ? 1 : 0)
        guard result >= 0 else { throw SessionBusFailure(name, result) }
        return result == 1
    }

    // MARK: Saying something

    package func emit(_ member: String, of interface: String, at path: ObjectPath, _ values: [BusValue]) {
        guard direct == nil || isGreeted else { return }
        send(member, of: interface, at: path.text, values, to: nil, from: nil)
    }

    private func send(
        _ member: String, of interface: String, at path: String, _ values: [BusValue], to client: String?,
        from speaker: String?
    ) {
        var signal: OpaquePointer?
        guard unsafe sd_bus_message_new_signal(bus, &signal, path, interface, member) >= 0,
            let signal = unsafe signal
        else { return }
        _ = unsafe lk_session_address(signal, client, speaker)
        if unsafe MessageWriter(signal).append(values) { unsafe sd_bus_send(bus, signal, nil) }
        unsafe sd_bus_message_unref(signal)
    }

    // MARK: The loop

    /// Others' turn comes after so many messages.
    private static let mostAtOnce = 32
    /// Answers that a direct client has not read, beside what its socket holds.
    private static let mostUnread: UInt64 = 256

    /// Takes what has come, up to a number of messages; false where the other side has ended
    /// the connection, or reads none of its answers.
    func takeSome() throws(SessionBusFailure) -> Bool {
        endQuestions()
        for _ in 0..<Self.mostAtOnce {
            let result = unsafe lk_session_step(bus)
            if result == LK_SESSION_ENDED { return false }
            guard result >= 0 else { throw SessionBusFailure("the session bus", result) }
            if result == 0 { break }
        }
        var unread: UInt64 = 0
        return unsafe direct == nil || sd_bus_get_n_queued_write(bus, &unread) < 0 || unread <= Self.mostUnread
    }

    /// Of a direct connection nobody else tells it.
    func tellThatItEnded() {
        if let direct { objects?.connectionEnded(direct.client) } else { dropWaiting() }
    }
}
