/// A stable pointer to a row (kSecValuePersistentRef): survives every update,
/// dies with the item (spec section 9). Prints its class only.
package struct PersistentReference: Hashable, Sendable, CustomStringConvertible {
    package enum Target: Hashable, Sendable {
        /// The current form: 4 bytes of class, then 16 bytes that never change.
        case identifier([UInt8])
        /// The old form: 4 bytes of class, then the row number, 8 bytes big-endian.
        case row(Int64)
    }

    package let itemClass: ItemClass
    package let target: Target

    package init(_ itemClass: ItemClass, _ target: Target) {
        self.itemClass = itemClass
        self.target = target
    }

    /// nil for a wrong length or class.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 20 || bytes.count == 12,
            let itemClass = ItemClass(rawValue: String(decoding: bytes[..<4], as: UTF8.self))
        else { return nil }
        self.itemClass = itemClass
        if bytes.count == 20 {
            target = .identifier(Array(bytes[4...]))
        } else {
            target = .row(Int64(bitPattern: bytes[4...].reduce(0) { $0 << 8 | UInt64($1) }))
        }
    }

    package var bytes: [UInt8] {
        let head = Array(itemClass.rawValue.utf8)
        return switch target {
        case .identifier(let identifier): head + identifier
        case .row(let row): head + AttributeValue.bigEndian(UInt64(bitPattern: row))
        }
    }

    package var description: String { "\(itemClass.rawValue)…" }
}
