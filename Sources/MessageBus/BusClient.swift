@_implementationOnly import CLatchkeySession
internal import KeychainPlatform

/// A connection to the session's bus on which we call others, one call at a time. Nothing
/// that it calls is started by the bus, and every wait has an end.
@safe package final class BusClient {
    private let bus: OpaquePointer

    /// Whom to ask for what.
    package struct Destination: Sendable {
        let service: String
        let path: ObjectPath
        let interface: String

        package init(_ service: String, _ path: ObjectPath, _ interface: String) {
            (self.service, self.path, self.interface) = (service, path, interface)
        }
    }

    /// The bus that DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR names.
    package static func user() throws(SessionBusFailure) -> BusClient {
        var bus: OpaquePointer?
        let result = unsafe sd_bus_open_user(&bus)
        guard result >= 0, let bus = unsafe bus else { throw SessionBusFailure("the session bus", result) }
        return unsafe BusClient(bus)
    }

    private init(_ bus: OpaquePointer) { unsafe self.bus = bus }

    deinit { unsafe sd_bus_flush_close_unref(bus) }

    /// - Parameters:
    ///   - patience: what an answer may take.
    ///   - textIsSecret: strings of the answer are given as bytes.
    /// - Throws: what the other side refuses with; also where no answer comes in time.
    package func call(
        _ member: String, of destination: Destination, _ arguments: [BusValue] = [], within patience: Duration,
        textIsSecret: Bool = false
    ) throws(BusError) -> [BusValue] {
        var call: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            bus, &call, destination.service, destination.path.text, destination.interface, member)
        guard result >= 0, let call = unsafe call else { throw Self.failed("a call cannot be made") }
        defer { unsafe sd_bus_message_unref(call) }
        unsafe sd_bus_message_sensitive(call)
        guard unsafe sd_bus_message_set_auto_start(call, 0) >= 0, unsafe MessageWriter(call).append(arguments) else {
            throw Self.failed("the arguments of \(member) cannot be said over the bus")
        }
        return try unsafe answer(to: call, patience, textIsSecret)
    }

    private func answer(
        to call: OpaquePointer, _ patience: Duration, _ textIsSecret: Bool
    ) throws(BusError) -> [BusValue] {
        var reply: OpaquePointer?
        var (name, text): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = (nil, nil)
        let result = unsafe lk_session_call(bus, call, patience.microseconds, &reply, &name, &text)
        defer {
            unsafe lk_session_free(name)
            unsafe lk_session_free(text)
        }
        guard result >= 0, let reply = unsafe reply else {
            throw BusError(
                name: unsafe name.map { unsafe String(cString: $0) } ?? "org.freedesktop.DBus.Error.NoMemory",
                text: unsafe text.map { unsafe String(cString: $0) } ?? "")
        }
        defer { unsafe sd_bus_message_unref(reply) }
        unsafe sd_bus_message_sensitive(reply)
        return try unsafe MessageReader(reply, textIsSecret: textIsSecret).all()
    }

    private static func failed(_ text: String) -> BusError { BusError(.failed, text) }

    // MARK: The bus itself

    private static let itself = Destination(
        "org.freedesktop.DBus", ObjectPath("/org/freedesktop/DBus") ?? .none, "org.freedesktop.DBus")
    private static let patienceWithBus = Duration.seconds(10)

    /// The connection that has a name; nil: none.
    package func owner(of name: String) throws(BusError) -> String? {
        do throws(BusError) {
            return try call("GetNameOwner", of: Self.itself, [.string(name)], within: Self.patienceWithBus).first?.text
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    /// The number of the process behind a name.
    package func process(of name: String) throws(BusError) -> UInt32? {
        let answer = try call(
            "GetConnectionUnixProcessID", of: Self.itself, [.string(name)], within: Self.patienceWithBus)
        guard case .uint32(let number)? = answer.first else { return nil }
        return number
    }

    // MARK: Signals

    /// Has a signal taken from now on, and the end of the connection that sends it, so that
    /// ``next(_:of:within:)`` meets it.
    package func follow(_ member: String, of destination: Destination) throws(BusError) {
        let rule =
            "type='signal',sender='\(destination.service)',path='\(destination.path)',"
            + "interface='\(destination.interface)',member='\(member)'"
        let ends =
            "type='signal',sender='\(Self.itself.service)',interface='\(Self.itself.interface)',"
            + "member='NameOwnerChanged',arg0='\(destination.service)',arg2=''"
        for rule in [rule, ends] {
            guard unsafe sd_bus_add_match(bus, nil, rule, { _, _, _ in 0 }, nil) >= 0 else {
                throw Self.failed("the signal \(member) cannot be followed")
            }
        }
    }

    private static func isEnd(_ message: OpaquePointer, of connection: String) throws(BusError) -> Bool {
        let sender = unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
        guard sender == itself.service,
            unsafe sd_bus_message_is_signal(message, itself.interface, "NameOwnerChanged") > 0
        else { return false }
        let values = try unsafe MessageReader(message).all()
        return values.count == 3 && values[0].text == connection && values[2].text == ""
    }

    /// The values of the next such signal; nil where none comes in time.
    ///
    /// - Throws: NameHasNoOwner where the connection that would send it has ended.
    package func next(
        _ member: String, of destination: Destination, within patience: Duration
    ) throws(BusError) -> [BusValue]? {
        let deadline = Deadline(after: patience, on: SystemClock())
        while !deadline.hasPassed {
            var message: OpaquePointer?
            let result = unsafe sd_bus_process(bus, &message)
            guard result >= 0 else { throw Self.failed("the bus ended the connection") }
            if let message = unsafe message {
                defer { unsafe sd_bus_message_unref(message) }
                if try unsafe Self.isEnd(message, of: destination.service) {
                    throw BusError(
                        name: "org.freedesktop.DBus.Error.NameHasNoOwner", text: "the program that has it has ended")
                }
                let path = unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) }
                if unsafe sd_bus_message_is_signal(message, destination.interface, member) > 0,
                    path == destination.path.text
                {
                    return try unsafe MessageReader(message).all()
                }
            } else if result == 0 {
                guard unsafe sd_bus_wait(bus, deadline.remaining.microseconds) >= 0 else {
                    throw Self.failed("the bus cannot be waited for")
                }
            }
        }
        return nil
    }
}

extension Duration {
    var microseconds: UInt64 {
        let parts = components
        return UInt64(max(1, parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000))
    }
}
