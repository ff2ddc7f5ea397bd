@_implementationOnly import CLatchkeyBus
package import KeychainPlatform
internal import KeychainProtocol

/// Why something on the bus did not do what it was asked.
package struct BusFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A connection to the system bus, through sd-bus. One thread uses it.
///
/// Who answers is named by the name that is their connection's alone, and counts only
/// where the bus says that they run as the user who may have that name.
@safe package final class BusConnection {
    private let bus: OpaquePointer
    /// Readable once something has come.
    let descriptor: Descriptor
    private let trusted: UInt32

    /// A signal that was kept.
    struct Signal {
        enum Kind {
            case sleep(Bool)
            case lock
            case hint(Bool)
            case finger(String, isDone: Bool)
            case owner
        }

        let kind: Kind
        let sender: String
        let path: String
    }

    /// Speaks on a socket that is connected to a bus; says nothing yet.
    ///
    /// - Parameter trusted: the user that fprintd and logind run as.
    package init(on socket: Descriptor, trusting trusted: UInt32) throws(BusFailure) {
        self.trusted = trusted
        var started: OpaquePointer?
        let copy = lk_bus_copy(socket.raw)
        guard copy >= 0 else { throw Self.failure("the bus", copy) }
        // From here on sd-bus has the copy.
        let result = unsafe lk_bus_start(copy, &started)
        guard result == 0, let started = unsafe started else { throw Self.failure("the bus", result) }
        unsafe bus = started
        let raw = unsafe lk_bus_descriptor(started)
        guard raw >= 0 else {
            unsafe lk_bus_end(started)
            throw Self.failure("the bus", raw)
        }
        descriptor = Descriptor(owning: raw)
    }

    deinit { unsafe lk_bus_end(bus) }

    /// A socket to the bus, before this process gives up making any.
    ///
    /// - Throws: where nobody listens there.
    package static func connect(to path: String) throws(BusFailure) -> Descriptor {
        let raw = unsafe lk_bus_connect(path)
        guard raw >= 0 else {
            throw BusFailure("there is no system bus (\(SystemCallError("connect \(path)", errno: -raw)))")
        }
        return Descriptor(owning: raw)
    }

    // MARK: Who is there

    /// The connection that has a name.
    ///
    /// - Returns: nil where nobody has it and the bus cannot start anybody.
    /// - Throws: also where another user has it than may.
    func owner(of name: String, starting: Bool) throws(BusFailure) -> String? {
        var owner = [CChar](repeating: 0, count: Int(LK_BUS_NAME))
        var user: UInt32 = .max
        let result = unsafe lk_bus_owner(bus, name, starting ? 1 : 0, &owner, &user)
        if result < 0, Self.absences.contains(refusal) { return nil }
        try check(name, result)
        guard user == trusted else { throw BusFailure("\(name) is answered for by user \(user), not by the system") }
        _ = try checked(name, unsafe lk_bus_watch_owner(bus, name))
        return Self.text(owner)
    }

    /// dbus-daemon's and systemd's words for a name that nobody has.
    private static let absences: Set = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "org.freedesktop.systemd1.NoSuchUnit",
    ]

    // MARK: Signals

    /// The next signal that is there; nil: none.
    ///
    /// - Throws: once the bus has gone.
    func nextSignal() throws(BusFailure) -> Signal? {
        while true {
            var found = lk_bus_signal()
            if unsafe lk_bus_next(bus, &found) == 1 { return Self.signal(found) }
            guard try checked("the bus", unsafe lk_bus_step(bus)) > 0 else {
                // What this last look brought.
                return unsafe lk_bus_next(bus, &found) == 1 ? Self.signal(found) : nil
            }
        }
    }

    private static func signal(_ found: lk_bus_signal) -> Signal? {
        let kind: Signal.Kind
        switch Int(found.kind) {
        case LK_BUS_SLEEP: kind = .sleep(found.flag != 0)
        case LK_BUS_LOCK: kind = .lock
        case LK_BUS_HINT: kind = .hint(found.flag != 0)
        case LK_BUS_FINGER: kind = .finger(text(of: found.word), isDone: found.flag != 0)
        default: kind = .owner
        }
        return Signal(kind: kind, sender: text(of: found.sender), path: text(of: found.path))
    }

    // MARK: Calls

    /// - Parameter body: gets the connection and the peer's name.
    func call(_ what: String, _ body: (OpaquePointer) -> Int32) throws(BusFailure) {
        try check(what, unsafe body(bus))
    }

    func value(_ what: String, _ body: (OpaquePointer) -> Int32) throws(BusFailure) -> Int32 {
        try checked(what, unsafe body(bus))
    }

    /// The D-Bus error of the last call; empty: none.
    var refusal: String { unsafe String(cString: lk_bus_refusal(bus)) }

    private func check(_ what: String, _ result: Int32) throws(BusFailure) { _ = try checked(what, result) }

    private func checked(_ what: String, _ result: Int32) throws(BusFailure) -> Int32 {
        guard result < 0 else { return result }
        guard refusal.isEmpty else { throw BusFailure("\(what): \(refusal)") }
        throw Self.failure(what, result)
    }

    private static func failure(_ what: String, _ result: Int32) -> BusFailure {
        BusFailure("\(SystemCallError(what, errno: -result))")
    }

    static func text(_ bytes: [CChar]) -> String {
        String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func text<T>(of field: T) -> String {
        unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
