internal import KeychainModel

/// What tells items of one name and account apart, as far as it is said: nil means
/// whatever the item has.
struct ItemParts: Sendable, Hashable {
    /// 0: none.
    var port: UInt16?
    /// Empty: none.
    var path: String?
    /// As URLs have it; ``noProtocol``: none.
    var protocolName: String?
    var label: String?

    static let noProtocol = "none"

    var isEmpty: Bool { self == ItemParts() }
    /// Whether only an internet password can have them.
    var isOfServer: Bool { port != nil || path != nil || protocolName != nil }

    /// The code of a protocol; sftp goes over ssh and has none of its own.
    static func code(of name: String) -> String? { ProtocolNames.codes[name == "sftp" ? "ssh" : name] }

    /// The port that a protocol has where none is said (RFC 9110, section 4.2).
    static func usualPort(of name: String?) -> UInt16? {
        switch name {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// Whether the item has all of them.
    func include(_ item: StoredItem) -> Bool {
        hasPort(item) && path.map { Self.plain($0) == Self.plain(item.path) } ?? true
            && protocolName.map { Self.code(of: $0) == item.protocolCode } ?? true
            && label.map { $0 == item.label ?? "" } ?? true
    }

    private func hasPort(_ item: StoredItem) -> Bool {
        guard let port, port != item.port ?? 0 else { return true }
        return port == Self.usualPort(of: item.protocolName) && item.port == nil
    }

    /// git says paths without the slash that others have in front of them.
    private static func plain(_ path: String) -> Substring { path.first == "/" ? path.dropFirst() : path[...] }
}

extension StoredItem {
    /// nil: it has none.
    var port: UInt16? { self[.port]?.integer.flatMap { UInt16(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 } }
    /// Empty: it has none.
    var path: String { text(.path) ?? "" }
    /// nil: it has none.
    var protocolCode: String? { self[.protocol]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    /// As URLs have it; the code where they have no name for it.
    var protocolName: String? { protocolCode.map { ProtocolNames.name(of: $0) ?? $0 } }

    /// Whether it stands for the server as a whole.
    var isOfWholeServer: Bool { port == nil && path.isEmpty && protocolCode == nil }

    /// Whether no program says of it that it is its own.
    var isOfPerson: Bool { self[.creator]?.integer ?? 0 == 0 && lookup == nil }

    /// Protocol, port and path, those that it has.
    var placeInServer: [String] {
        [protocolName, port.map { "port \($0)" }, path.isEmpty ? nil : path].compactMap { $0 }
    }

    /// What `import` calls that which belongs to the login: host, port and path.
    var siteName: String { service + (port.map { ":\($0)" } ?? "") + path }

    /// Service or server, with the protocol, port and path that it has.
    var place: String { service + (placeInServer.isEmpty ? "" : " (\(placeInServer.joined(separator: ", ")))") }

    /// The same for programs.
    var placeMembers: [(String, JSONValue)] {
        [
            ("protocol", JSONValue(protocolName)), ("port", port.map { .integer(Int64($0)) } ?? .null),
            ("path", path.isEmpty ? .null : .string(path)),
        ]
    }

    /// What a person tells it apart by, beside its account.
    var partsText: String {
        let rest = [label.map { "\"\(PrintableText.escaped($0))\"" }, modified?.text].compactMap { $0 }
        return (placeInServer.map(PrintableText.escaped) + rest).joined(separator: "  ")
    }
}
