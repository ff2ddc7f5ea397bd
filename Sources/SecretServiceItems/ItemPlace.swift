internal import KeychainCrypto
package import KeychainModel
internal import SecretServiceReach

/// Where an item of the Secret Service stands among the keychain's, by its lookup
/// attributes: class and the attributes that make it unique (FORMATS.md, "Items of the
/// Secret Service").
package struct ItemPlace: Sendable {
    package let itemClass: ItemClass
    package let attributes: [(String, RawValue)]
    /// Whether a person or a program of SecItem would give an item these names.
    package var isOfPerson = true

    /// Those of the attributes that every item has, as it has them.
    package var names: AttributeMap {
        var map = AttributeMap()
        for (name, value) in attributes {
            guard let code = AttributeCode(name), [.service, .server, .account].contains(code),
                case .string(let text) = value
            else { continue }
            map.append(code, .string(text))
        }
        return map
    }

    /// Whether an item of these names has the rest too, or leaves it open: a person who
    /// stores for a server names no protocol.
    package func isPlace(of held: AttributeMap) -> Bool {
        guard itemClass == .internetPassword else { return true }
        let rest: [AttributeCode] = ["ptcl", "port", "path", "sdmn", "atyp"]
        return rest.allSatisfy { code in
            guard let value = held[code], value.integer != 0, value.string != "" else { return true }
            return attributes.contains { $0.0 == code.description && RawValue(value) == $0.1 }
        }
    }

    /// Places to be tried in their order. The first is what a person, or a program of
    /// SecItem, would look under; the others are free unless the very same attributes are
    /// there.
    package static func candidates(for attributes: LookupAttributes, label: String, serial: () -> String) -> [ItemPlace]
    {
        let known = network(attributes) ?? docker(attributes) ?? application(attributes, label) ?? plain(attributes)
        let schema = attributes[LookupSchema.attribute] ?? LookupSchema.generic
        let digest = HexText.of(KeyDerivation.digest(attributes.encoded).prefix(16))
        return [known, generic(schema, digest), generic(schema, "\(digest)-\(serial())")].compactMap { $0 }
    }

    private static func generic(_ service: String, _ account: String) -> ItemPlace {
        ItemPlace(
            itemClass: .genericPassword, attributes: [("svce", .string(service)), ("acct", .string(account))],
            isOfPerson: false)
    }

    /// git-credential-libsecret, GVfs, and what else uses libsecret's network schema. The host is in
    /// lower case, which is the same (RFC 3986, section 3.2.2): others look for it so.
    private static func network(_ attributes: LookupAttributes) -> ItemPlace? {
        let schema = attributes[LookupSchema.attribute]
        guard schema == LookupSchema.network || schema == LookupSchema.git, let server = attributes["server"]
        else { return nil }
        let name = ServerName(server)
        return internet(
            name.host.lowercased(), port: attributes["port"].flatMap { UInt16($0) } ?? name.port, scheme: attributes["protocol"],
            account: attributes["user"] ?? "", path: attributes["object"])
    }

    /// docker-credential-secretservice, whose server is an address.
    private static func docker(_ attributes: LookupAttributes) -> ItemPlace? {
        guard attributes[LookupSchema.attribute] == "io.docker.Credentials", let address = attributes["server"]
        else {
            return nil
        }
        let server = ServerAddress(address)
        return internet(
            server.name.host, port: server.name.port, scheme: server.scheme, account: attributes["username"] ?? "",
            path: server.path)
    }

    private static func application(_ attributes: LookupAttributes, _ label: String) -> ItemPlace? {
        switch (attributes[LookupSchema.attribute], attributes["application"]) {
        case ("chrome_libsecret_os_crypt_password_v2", let application?): return generic(label, application)
        case ("org.freedesktop.NetworkManager.Connection", _):
            let names = ["connection-uuid", "setting-name", "setting-key"].compactMap { attributes[$0] }
            guard names.count == 3 else { return nil }
            return generic("org.freedesktop.NetworkManager.Connection", names.joined(separator: "/"))
        // qtkeychain: what its callers name service and key.
        case ("org.qt.keychain", _):
            guard let service = attributes["server"], !service.isEmpty, let key = attributes["user"] else { return nil }
            var place = generic(service, key)
            place.isOfPerson = true
            return place
        default: return nil
        }
    }

    /// Python's keyring, and many a program that says service and account.
    private static func plain(_ attributes: LookupAttributes) -> ItemPlace? {
        guard let service = attributes["service"], !service.isEmpty,
            let account = attributes["username"] ?? attributes["account"] ?? attributes["user"]
        else { return nil }
        var place = generic(service, account)
        place.isOfPerson = true
        return place
    }

    private static func internet(
        _ host: String, port: UInt16?, scheme: String?, account: String, path: String?
    ) -> ItemPlace? {
        guard !host.isEmpty else { return nil }
        var attributes: [(String, RawValue)] = [("srvr", .string(host)), ("acct", .string(account))]
        if let code = scheme.flatMap({ ProtocolNames.codes[$0] }) { attributes.append(("ptcl", .string(code))) }
        if let port { attributes.append(("port", .integer(Int64(port)))) }
        if let path, !path.isEmpty { attributes.append(("path", .string(path))) }
        return ItemPlace(itemClass: .internetPassword, attributes: attributes)
    }
}

/// The lookup attributes that stand for an item which no program of the Secret Service
/// stored: `latchkey set` did, or a program by SecItemAdd.
package struct ImpliedAttributes {
    private let values: [String: [String]]
    /// What is shown of it.
    package let shown: LookupAttributes

    package init(_ itemClass: ItemClass, _ attributes: AttributeMap) {
        let account = attributes[.account]?.string ?? ""
        var values: [String: [String]] = [:]
        for name in ["username", "account", "user"] { values[name] = [account] }
        values[LookupSchema.attribute] = Self.schemas
        values["application"] = ["Python keyring library"]
        values["docker_cli"] = ["1"]
        values["label"] = ["Docker Credentials"]
        var pairs: [(String, String)]
        switch itemClass {
        case .internetPassword:
            let server = attributes[.server]?.string ?? ""
            let port = attributes["port"]?.integer.flatMap { $0 == 0 ? nil : "\($0)" }
            let path = attributes["path"]?.string ?? ""
            let code = attributes["ptcl"]?.string ?? ""
            let scheme = ProtocolNames.name(of: code)
            values["server"] = [server] + (port.map { ["\(server):\($0)"] } ?? [])
            values["service"] = [server]
            values["protocol"] = scheme.map { [$0] } ?? ["https", "http"]
            values["port"] = port.map { [$0] }
            values["object"] = [path, String(path.drop { $0 == "/" })]
            pairs = [
                (LookupSchema.attribute, LookupSchema.network), ("server", server), ("user", account),
            ]
            if let scheme { pairs.append(("protocol", scheme)) }
            if let port { pairs.append(("port", port)) }
            if !path.isEmpty { pairs.append(("object", path)) }
        default:
            let service = attributes[.service]?.string ?? ""
            values["service"] = [service]
            values["server"] = [service, "https://\(service)", "https://\(service)/"]
            values["protocol"] = ["https"]
            // As qtkeychain asks for text.
            values[LookupSchema.attribute]?.append(Self.schemaOfText)
            values["type"] = ["plaintext"]
            pairs = [
                (LookupSchema.attribute, LookupSchema.generic), ("service", service),
                ("username", account),
            ]
        }
        self.values = values
        shown = LookupAttributes(pairs.map { .init(name: $0.0, value: $0.1) }) ?? .none
    }

    private static let schemas = [
        LookupSchema.generic, LookupSchema.network, LookupSchema.git, "io.docker.Credentials",
    ]
    private static let schemaOfText = "org.qt.keychain"
    private static let names: Set<String> = [
        LookupSchema.attribute, "username", "account", "user", "service", "server", "protocol", "port", "object",
        "application", "docker_cli", "label", "type",
    ]

    /// Whether any such item could: of what another program calls its own none is looked at,
    /// however many have the account.
    private static func couldInclude(_ wanted: LookupAttributes) -> Bool {
        wanted.pairs.allSatisfy { pair in
            guard names.contains(pair.name) else { return false }
            return pair.name != LookupSchema.attribute
                || (schemas + [schemaOfText]).contains { $0.hasSameBytes(as: pair.value) }
        }
    }

    /// Whether it answers to the attributes: each is one of those that programs use for
    /// what the item has.
    package func include(_ wanted: LookupAttributes) -> Bool {
        wanted.pairs.allSatisfy { pair in values[pair.name]?.contains { $0.hasSameBytes(as: pair.value) } == true }
    }

    /// Under which places such an item may be, by its server or service, its account, or both;
    /// none where neither is said: everything would answer to a schema alone.
    package static func places(for wanted: LookupAttributes) -> [ItemPlace] {
        let host = (wanted["server"] ?? wanted["service"]).map(host)
        let account = wanted["username"] ?? wanted["account"] ?? wanted["user"]
        guard host != nil || account != nil, couldInclude(wanted) else { return [] }
        let owner: [(String, RawValue)] = account.map { [("acct", .string($0))] } ?? []
        return [
            ItemPlace(
                itemClass: .internetPassword, attributes: (host.map { [("srvr", .string($0))] } ?? []) + owner),
            ItemPlace(
                itemClass: .genericPassword, attributes: (host.map { [("svce", .string($0))] } ?? []) + owner),
        ]
    }

    private static func host(of name: String) -> String {
        let bytes = name.utf8
        for scheme in ["https://", "http://"] where bytes.starts(with: scheme.utf8) {
            return String(bytes.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") }) ?? name
        }
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), UInt16(name[bytes.index(after: colon)...]) != nil
        else { return name }
        return String(name[..<colon])
    }
}

extension RawValue {
    fileprivate init?(_ value: AttributeValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        default: return nil
        }
    }
}
