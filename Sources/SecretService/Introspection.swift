internal import KeychainModel
internal import MessageBus

/// What objects say of themselves (D-Bus Specification 0.43, "Introspection Data Format").
extension SecretServiceDoor {
    func introspection(of target: Target) throws(BusError) -> String {
        let (interfaces, children): ([String], [String])
        switch target {
        case .branch(let path): (interfaces, children) = ([], try self.children(of: path))
        case .service:
            (interfaces, children) = ([Self.service, Self.masterPassword], ["aliases", "collection", "session"])
        case .collection(let collection):
            interfaces = [Self.collection]
            children = try paths(in: collection).compactMap { $0.elements(below: collection.path)?.first }
        case .item: (interfaces, children) = ([Self.item], [])
        case .session: (interfaces, children) = ([Self.session], [])
        case .portal: (interfaces, children) = ([Self.portal], [])
        case .portalRequest: (interfaces, children) = ([Self.portalRequest], [])
        case .prompt: (interfaces, children) = ([Self.prompt], [])
        }
        let nodes = children.map { "  <node name=\"\($0)\"/>\n" }.joined()
        return Self.head + "<node>\n" + (interfaces + [Self.standard]).joined() + nodes + "</node>\n"
    }

    private func children(of path: ObjectPath) throws(BusError) -> [String] {
        switch path {
        case SecretServiceNames.collections: return try collections().map(\.name)
        case SecretServiceNames.aliases: return ["default", "login", "session"]
        case SecretServiceNames.sessions: return sessions.paths.compactMap { $0.elements(below: path)?.first }
        default:
            // Each once, in the order of the objects.
            return [SecretServiceNames.root, SecretServiceNames.portalRoot].compactMap { $0.elements(below: path)?.first }
                .reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
        }
    }

    private static let head = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    private static func interface(_ name: String, _ members: [String]) -> String {
        "  <interface name=\"\(name)\">\n" + members.map { "    \($0)\n" }.joined() + "  </interface>\n"
    }

    /// - Parameters: names with their types, "attributes a{ss}".
    private static func method(_ name: String, takes: [String] = [], gives: [String] = []) -> String {
        let arguments = takes.map { argument($0, "in") } + gives.map { argument($0, "out") }
        return "<method name=\"\(name)\">\(arguments.joined())</method>"
    }

    private static func signal(_ name: String, _ values: [String]) -> String {
        "<signal name=\"\(name)\">\(values.map { argument($0, nil) }.joined())</signal>"
    }

    private static func argument(_ text: String, _ direction: String?) -> String {
        let parts = text.split(separator: " ")
        let way = direction.map { " direction=\"\($0)\"" } ?? ""
        return "<arg name=\"\(parts[0])\" type=\"\(parts[1])\"\(way)/>"
    }

    private static func property(_ name: String, _ type: String, writable: Bool = false) -> String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(writable ? "readwrite" : "read")\"/>"
    }

    private static let service = interface(
        SecretServiceNames.service,
        [
            method("OpenSession", takes: ["algorithm s", "input v"], gives: ["output v", "result o"]),
            method("CreateCollection", takes: ["properties a{sv}", "alias s"], gives: ["collection o", "prompt o"]),
            method("SearchItems", takes: ["attributes a{ss}"], gives: ["unlocked ao", "locked ao"]),
            method("Unlock", takes: ["objects ao"], gives: ["unlocked ao", "prompt o"]),
            method("Lock", takes: ["objects ao"], gives: ["locked ao", "prompt o"]),
            method("LockService"), method("ChangeLock", takes: ["collection o"], gives: ["prompt o"]),
            method("GetSecrets", takes: ["items ao", "session o"], gives: ["secrets a{o(oayays)}"]),
            method("ReadAlias", takes: ["name s"], gives: ["collection o"]),
            method("SetAlias", takes: ["name s", "collection o"]),
            signal("CollectionCreated", ["collection o"]), signal("CollectionDeleted", ["collection o"]),
            signal("CollectionChanged", ["collection o"]), property("Collections", "ao"),
        ])

    private static let collection = interface(
        SecretServiceNames.collection,
        [
            method("Delete", gives: ["prompt o"]),
            method("SearchItems", takes: ["attributes a{ss}"], gives: ["results ao"]),
            method(
                "CreateItem", takes: ["properties a{sv}", "secret (oayays)", "replace b"],
                gives: ["item o", "prompt o"]),
            signal("ItemCreated", ["item o"]), signal("ItemDeleted", ["item o"]), signal("ItemChanged", ["item o"]),
            property("Items", "ao"), property("Label", "s", writable: true), property("Locked", "b"),
            property("Created", "t"), property("Modified", "t"),
        ])

    private static let item = interface(
        SecretServiceNames.item,
        [
            method("Delete", gives: ["prompt o"]),
            method("GetSecret", takes: ["session o"], gives: ["secret (oayays)"]),
            method("SetSecret", takes: ["secret (oayays)"]), property("Locked", "b"),
            property("Attributes", "a{ss}", writable: true), property("Label", "s", writable: true),
            property("Type", "s", writable: true), property("Created", "t"), property("Modified", "t"),
        ])

    private static let session = interface(SecretServiceNames.session, [method("Close")])

    private static let masterPassword = interface(
        SecretServiceNames.masterPassword,
        [
            method(
                "CreateWithMasterPassword", takes: ["attributes a{sv}", "master (oayays)"], gives: ["collection o"]),
            method("UnlockWithMasterPassword", takes: ["collection o", "master (oayays)"]),
            method(
                "ChangeWithMasterPassword", takes: ["collection o", "original (oayays)", "master (oayays)"]),
            method("ChangeWithPrompt", takes: ["collection o"], gives: ["prompt o"]),
        ])

    private static let portal = interface(
        SecretServiceNames.portal,
        [
            method(
                "RetrieveSecret", takes: ["handle o", "app_id s", "fd h", "options a{sv}"],
                gives: ["response u", "results a{sv}"]),
            property("version", "u"),
        ])

    private static let portalRequest = interface(SecretServiceNames.portalRequest, [method("Close")])

    private static let prompt = interface(
        SecretServiceNames.prompt,
        [method("Prompt", takes: ["window s"]), method("Dismiss"), signal("Completed", ["dismissed b", "result v"])])

    private static let standard =
        interface(
            SecretServiceNames.properties,
            [
                method("Get", takes: ["interface s", "name s"], gives: ["value v"]),
                method("GetAll", takes: ["interface s"], gives: ["properties a{sv}"]),
                method("Set", takes: ["interface s", "name s", "value v"]),
                signal("PropertiesChanged", ["interface s", "changed a{sv}", "invalidated as"]),
            ])
        + interface(SecretServiceNames.introspection, [method("Introspect", gives: ["data s"])])
        + interface("org.freedesktop.DBus.Peer", [method("Ping"), method("GetMachineId", gives: ["machine s"])])
}
