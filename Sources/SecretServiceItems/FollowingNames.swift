package import KeychainModel
internal import SecretServiceReach

/// Lookup attributes that say what an item is called, beside what calls it so in the
/// keychain (FORMATS.md, "Items of the Secret Service").
extension LookupAttributes {
    /// The same once the item goes by other names: what said the old one says the new one.
    /// What says something else than the item did stays, as does what stands for nothing.
    package func following(from old: AttributeMap, to new: AttributeMap) -> LookupAttributes {
        var followed = pairs
        func say(_ name: String, _ value: String?) {
            followed.removeAll { $0.name.hasSameBytes(as: name) }
            if let value { followed.append(Pair(name: name, value: value)) }
        }
        for (name, code) in names {
            guard let before = Self.text(old, code), let after = Self.text(new, code), !before.hasSameBytes(as: after),
                (self[name] ?? "").hasSameBytes(as: before)
            else { continue }
            // What a server leaves open is not said; an account may be empty.
            say(name, after.isEmpty && code != .account ? nil : after)
        }
        if let server = server(from: old, to: new) { say("server", server) }
        return LookupAttributes(followed) ?? self
    }

    private var schema: String { self[LookupSchema.attribute] ?? LookupSchema.generic }

    /// Which of them stand for what of the item.
    private var names: [(String, AttributeCode)] {
        switch schema {
        case LookupSchema.network, LookupSchema.git:
            [("user", .account), ("protocol", "ptcl"), ("object", "path")]
                + (serverHasPort && self["port"] == nil ? [] : [("port", "port")])
        case "io.docker.Credentials": [("username", .account)]
        case "chrome_libsecret_os_crypt_password_v2": [("application", .account)]
        case "org.qt.keychain": [("server", .service), ("user", .account)]
        // A connection's identifiers are NetworkManager's.
        case "org.freedesktop.NetworkManager.Connection": []
        default: [("service", .service)] + (account.map { [($0, .account)] } ?? [])
        }
    }

    /// The name that says the account, in the order in which they are looked for.
    private var account: String? { ["username", "account", "user"].first { self[$0] != nil } }

    private var serverHasPort: Bool { self["server"].map { ServerName($0).port != nil } ?? false }

    // MARK: Servers

    /// What `server` says afterwards; nil: the same, or it is none of an internet password.
    private func server(from old: AttributeMap, to new: AttributeMap) -> String? {
        guard let address = self["server"] else { return nil }
        switch schema {
        case LookupSchema.network, LookupSchema.git:
            return Self.name(ServerName(address), from: old, to: new, addsPort: false)
        case "io.docker.Credentials": return docker(address, from: old, to: new)
        default: return nil
        }
    }

    /// A host with its port, if it said the item's.
    private static func name(
        _ name: ServerName, from old: AttributeMap, to new: AttributeMap, addsPort: Bool
    ) -> String? {
        // An address without a host is nobody's.
        guard let was = text(old, .server), name.host.lowercased().hasSameBytes(as: was.lowercased()),
            let now = text(new, .server), !now.isEmpty
        else { return nil }
        // As it was spelled, where it is the same.
        let host = now.hasSameBytes(as: was) ? name.host : now
        let said = name.port.map { "\($0)" } ?? ""
        let port = said == text(old, "port") && (addsPort || !said.isEmpty) ? text(new, "port") ?? "" : said
        return host + (port.isEmpty ? "" : ":\(port)")
    }

    /// `https://host:port/path`, of which all but the host may be missing.
    private func docker(_ address: String, from old: AttributeMap, to new: AttributeMap) -> String? {
        let parts = ServerAddress(address)
        guard let name = Self.name(parts.name, from: old, to: new, addsPort: true) else { return nil }
        func following(_ part: String, _ code: AttributeCode) -> String {
            guard let before = Self.text(old, code), part.hasSameBytes(as: before) else { return part }
            return Self.text(new, code) ?? part
        }
        // Where docker says no scheme it looks for none.
        let scheme = parts.scheme.map { following($0, "ptcl") } ?? ""
        let path = following(parts.path ?? "", "path")
        // Without its slash it would be of the host's name.
        let slash = path.isEmpty || path.hasPrefix("/") ? "" : "/"
        return (scheme.isEmpty ? "" : scheme + "://") + name + slash + path
    }

    /// As lookup attributes say it; empty for what is not said, nil for what is no text.
    private static func text(_ attributes: AttributeMap, _ code: AttributeCode) -> String? {
        guard let value = attributes[code] else { return "" }
        if code == "ptcl" { return value.string.flatMap { ProtocolNames.name(of: $0) } ?? "" }
        if let number = value.integer { return number == 0 ? "" : "\(number)" }
        return value.string
    }
}
