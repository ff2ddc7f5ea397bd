internal import KeychainModel
internal import KeychainProtocol

/// An item as a helper finds it: its attributes, never its value.
struct HelperItem: Sendable {
    let itemClass: ItemClass
    let attributes: AttributeMap
    /// kSecValuePersistentRef.
    let reference: [UInt8]

    init(_ row: AnswerRow) {
        (itemClass, attributes, reference) = (row.itemClass, row.attributes, row.persistentReference)
    }

    var account: String { text(.account) }
    var server: String { text(.server) }
    var service: String { text(.service) }
    /// "" where it has none.
    var path: String { text("path") }
    var authenticationType: String { text("atyp") }
    /// The name that URLs have for its protocol; nil: it has none, or one that none of them has.
    var scheme: String? { attributes["ptcl"]?.string.flatMap { ProtocolNames.name(of: $0) } }
    var hasProtocol: Bool { attributes["ptcl"].map { $0 != .integer(0) && $0 != .string("") } ?? false }
    var port: UInt16? {
        attributes["port"]?.integer.flatMap { UInt16(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 }
    }
    /// Seconds since 2001-01-01T00:00:00Z.
    var modified: Double { if case .date(let seconds) = attributes[.modificationDate] { seconds } else { 0 } }
    /// A person said that nothing is to be kept here (kSecAttrIsNegative).
    var isNegative: Bool { attributes["nega"]?.integer ?? 0 != 0 }

    /// Who put it there.
    var origin: ItemOrigin {
        if let creator = attributes["crtr"]?.integer, let origin = ItemOrigin(creator: creator) { return origin }
        guard let lookup = attributes.lookup else { return .person }
        return ItemOrigin(schema: lookup["xdg:schema"]) ?? .otherProgram
    }

    private func text(_ code: AttributeCode) -> String { attributes[code]?.string ?? "" }
}

/// Who put an item there: what a program stored it may take away, what a person stored
/// it may read.
enum ItemOrigin: Sendable, Hashable {
    /// git, by our helper or by git-credential-libsecret.
    case git
    /// docker, by our helper or by docker-credential-secretservice.
    case docker
    /// A program of the Secret Service, or one with a creator of its own.
    case otherProgram
    /// `latchkey set`, an import, a program of SecItem.
    case person

    /// kSecAttrCreator of what our helpers store (FORMATS.md, "Items of git and docker").
    static let creators: [ItemOrigin: Int64] = [.git: code("gitc"), .docker: code("dock")]

    init?(creator: Int64) {
        guard creator != 0 else { return nil }
        self = Self.creators.first { $0.value == creator }?.key ?? .otherProgram
    }

    /// - Parameter schema: of git-credential-libsecret libsecret's own for networks, and since git
    ///   2.42 one of git's.
    init?(schema: String?) {
        switch schema {
        case "org.gnome.keyring.NetworkPassword", "org.git.Password": self = .git
        case Self.dockerSchema: self = .docker
        default: return nil
        }
    }

    /// docker-credential-helpers, secretservice/secretservice.c.
    static let dockerSchema = "io.docker.Credentials"

    private static func code(_ name: AttributeCode) -> Int64 { Int64(name.rawValue) }
}
