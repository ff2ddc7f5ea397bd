/// The name of a group of programs that share items (kSecAttrAccessGroup).
/// Compared byte by byte: no case folding, no prefixes, no wildcard.
public struct AccessGroup: Hashable, Sendable {
    /// The name as the keychain keeps it.
    public let name: String

    /// The group of this name. Whether a program belongs to it, the keychain
    /// decides at each call.
    public init(_ name: String) { self.name = name }

    /// Whether the names have the same bytes.
    public static func == (a: AccessGroup, b: AccessGroup) -> Bool { a.name.hasSameBytes(as: b.name) }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }

    /// Whether one of the names stands for it: its own or, for a collection of the Secret
    /// Service, that of the groups above.
    package func isNamed(by names: [String]) -> Bool {
        names.contains { $0.hasSameBytes(as: name) }
            || isCollection && names.contains { $0.hasSameBytes(as: Self.secretService.name) }
    }

    /// Whether it is a collection of the Secret Service.
    package var isCollection: Bool { name.utf8.starts(with: "secret-service.".utf8) }

    /// The group of items on smart cards and tokens: readable, never written (spec section 5).
    package static let token = AccessGroup("com.apple.token")
    /// The command line's own group, shared with every program of the user (decisions.md).
    package static let latchkey = AccessGroup("latchkey")
    /// The groups that collections of the Secret Service are stand below it
    /// ("secret-service.work"); who may name it may name them.
    package static let secretService = AccessGroup("secret-service")
    /// The push service's group, whose items default to dku (spec section 7).
    package static let apsd = AccessGroup("com.apple.apsd")
}

/// Which groups a call may touch. There is no value that means "no check": all
/// groups are reached only by naming the entitlement that says so.
package enum GroupScope: Hashable, Sendable {
    /// The groups a call without an explicit group searches, in the program's
    /// order (the first receives what it adds), and those it may reach only by
    /// naming them.
    case only([AccessGroup], mayName: [AccessGroup])
    /// Every group, by an entitlement; an add without a group goes to `first`.
    case all(by: Entitlement, first: AccessGroup)

    /// What opens every group.
    package enum Entitlement: Hashable, Sendable {
        /// A literal "*" in keychain-access-groups (spec section 5).
        case wildcardGroup
        /// The presence of a person who agreed, or a store that opens without one.
        case person
    }

    package var isEmpty: Bool {
        switch self {
        case .only(let groups, let mayName): groups.isEmpty && mayName.isEmpty
        case .all: false
        }
    }

    package func permits(explicit group: AccessGroup) -> Bool {
        switch self {
        case .only(let groups, let mayName):
            groups.contains(group) || mayName.contains(group)
                || group.isCollection && mayName.contains(.secretService)
        case .all: true
        }
    }

    /// The groups of an implicit search, or nil where that is every group.
    package var searched: [AccessGroup]? {
        switch self {
        case .only(let groups, _): groups
        case .all: nil
        }
    }
}
