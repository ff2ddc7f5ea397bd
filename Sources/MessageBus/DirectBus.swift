/// What clients ask of the bus itself (D-Bus Specification 0.43, "Message Bus Messages"),
/// answered on a connection without one: there are the client, and we.
///
/// So a program that wants a session's bus reaches us where there is none:
/// DBUS_SESSION_BUS_ADDRESS names our socket.
package struct DirectBus: Sendable {
    /// The one service that is there beside the bus.
    let service: String
    /// What the client is called.
    let client: String
    /// Who it is.
    let caller: BusCaller

    /// - Parameter number: from 1, another for each connection.
    package init(serving service: String, number: Int, to caller: BusCaller) {
        (self.service, self.caller) = (service, caller)
        // No bus gives such a name: theirs begin with :1 (dbus-daemon) or :0 (dbus-broker).
        client = ":2.\(number)"
    }

    /// The unique name under which we speak. Clients take signals of the name alone that
    /// they were told owns the service.
    static let ownName = ":2.0"
    static let name = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"
    /// For AddMatch a promise that costs nothing: every signal of ours goes to the client.
    private static let nothingToDo: Set = ["AddMatch", "RemoveMatch", "UpdateActivationEnvironment"]

    /// Who answers a call, where that is not the service: the bus says who it is.
    func speaker(to call: BusCall) -> String? { call.destination == Self.name ? Self.name : nil }

    /// Whether the call was the bus's to answer.
    func take(_ call: BusCall) -> Bool {
        guard call.destination == Self.name else {
            let isOurs = [service, Self.ownName, ""].contains(call.destination)
            if !isOurs { call.refuse(Self.unknown(call.destination)) }
            return !isOurs
        }
        do throws(BusError) { call.answer(try values(call)) } catch { call.refuse(error) }
        return true
    }

    private func values(_ call: BusCall) throws(BusError) -> [BusValue] {
        let argument = call.arguments.first?.text ?? ""
        switch (call.member, call.arguments.count) {
        case ("Hello", 0): return [.string(client)]
        case ("ListNames", 0): return [.array(of: "s", [Self.name, service, Self.ownName, client].map { .string($0) })]
        case ("ListActivatableNames", 0): return [.array(of: "s", [.string(service)])]
        case ("NameHasOwner", 1): return [.boolean(owner(of: argument) != nil)]
        case ("GetNameOwner", 1):
            guard let owner = owner(of: argument) else {
                throw BusError(name: "org.freedesktop.DBus.Error.NameHasNoOwner", text: "nobody is \(argument)")
            }
            return [.string(owner)]
        case ("StartServiceByName", 2):
            guard owner(of: argument) != nil else { throw Self.unknown(argument) }
            return [.uint32(2)]  // DBUS_START_REPLY_ALREADY_RUNNING
        case (let member, _) where Self.nothingToDo.contains(member): return []
        default: throw BusError(.unknownMethod, "there is no bus here, and so no \(call.member)")
        }
    }

    private func owner(of name: String) -> String? {
        switch name {
        case Self.name: Self.name
        case service, Self.ownName: Self.ownName
        case client: client
        default: nil
        }
    }

    private static func unknown(_ name: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error.ServiceUnknown", text: "there is no bus here, and no \(name)")
    }
}
