internal import KeychainPlatform

/// What names a store: 16 random bytes, chosen by the enclave when it makes the
/// keybag, kept by the database and bound into every wrapped key.
struct StoreID: Hashable, Sendable {
    static let byteCount = 16

    let bytes: [UInt8]

    /// nil for anything but 16 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    static func random() -> StoreID { StoreID(unchecked: Random.bytes(byteCount)) }
}

/// Which store the daemon comes for.
package enum ExpectedStore: Hashable, Sendable {
    /// No database exists yet: whatever store the keybag is of; where there is
    /// no keybag either, a new one is made.
    case anyOrNew
    /// The database names its store (16 bytes); a keybag is never made for it.
    case named([UInt8])

    func accepts(_ store: StoreID) -> Bool {
        switch self {
        case .anyOrNew: true
        case .named(let bytes): bytes == store.bytes
        }
    }
}
