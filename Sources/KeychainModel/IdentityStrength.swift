/// How sure it is who calls (architecture section 5).
package enum IdentityStrength: Int, Sendable, Hashable, Comparable {
    /// Nothing is known but the user, and the program hides.
    case none = 0
    /// The user is certain, the program is not.
    case user = 1
    /// The program is certain.
    case program = 2

    package static func < (a: IdentityStrength, b: IdentityStrength) -> Bool { a.rawValue < b.rawValue }
}
