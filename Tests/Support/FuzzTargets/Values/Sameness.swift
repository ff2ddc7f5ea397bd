import KeychainModel
import KeychainPlatform
import KeychainProtocol

/// Equality to the bit: a number that is none equals itself, and 0 is not -0.
enum Sameness {
    static func of(_ a: AttributeValue, _ b: AttributeValue) -> Bool {
        switch (a, b) {
        case (.real(let x), .real(let y)), (.date(let x), .date(let y)): x.bitPattern == y.bitPattern
        default: a == b
        }
    }

    static func of(_ a: AttributeMap, _ b: AttributeMap) -> Bool {
        a.count == b.count && zip(a.entries, b.entries).allSatisfy { $0.code == $1.code && of($0.value, $1.value) }
    }

    /// The same attributes in any order.
    static func ofContent(_ a: AttributeMap, _ b: AttributeMap) -> Bool {
        a.count == b.count && a.entries.allSatisfy { entry in b[entry.code].map { of($0, entry.value) } ?? false }
    }

    static func of(_ a: AnswerRow, _ b: AnswerRow) -> Bool {
        a.itemClass == b.itemClass && of(a.attributes, b.attributes) && a.accessControl == b.accessControl
            && a.persistentReference == b.persistentReference && of(a.value, b.value)
    }

    static func of(_ a: SharedSecret?, _ b: SharedSecret?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (let a?, let b?): a.bytes.isEqual(to: b.bytes)
        default: false
        }
    }
}
