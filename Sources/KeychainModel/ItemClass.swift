/// A class of items; the raw value is the class as it stands in dictionaries
/// and in persistent references (spec section 1.1).
package enum ItemClass: String, Sendable, CaseIterable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"
    /// Not stored: the join of a certificate with its private key.
    case identity = "idnt"

    /// The classes that have a table of their own, in the order of the spec.
    package static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]
}
