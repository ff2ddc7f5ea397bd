/// What happened to items of one keychain that the observer may search.
///
/// A change says class, group and how many items, never which: an observer looks
/// them up with the rights that it has then. It tells nothing of a locked item that
/// a search of its columns would not.
public struct KeychainChange: Sendable, Hashable {
    /// What became of them.
    public enum Event: Sendable, Hashable {
        /// New items, or items that moved here from another group.
        case added(Items)
        /// A secret, an attribute or the protection of items that stay in their group.
        case changed(Items)
        /// Items that were deleted, or moved to another group.
        case removed(Items)
        /// Items whose seals did not open, kept for `latchkey doctor --salvage`.
        case setAside(Items)
        /// The keychain no longer knows what happened since the observer's position
        /// (too long ago, or a backup was restored): everything has to be looked at
        /// anew.
        case unknown
    }

    /// Items of one class and group that one call changed together.
    public struct Items: Sendable, Hashable {
        /// Never ``ItemClass/identity``, which is not stored.
        public let itemClass: ItemClass
        /// nil: a group that the observer sees by the entitlement for all groups,
        /// and whose name it has not given.
        public let group: AccessGroup?
        /// How many; at least 1.
        public let count: Int

        package init(itemClass: ItemClass, group: AccessGroup?, count: Int) {
            self.itemClass = itemClass
            self.group = group
            self.count = count
        }
    }

    /// What happened.
    public let event: Event
    /// Right after this change: who observes from here on misses nothing and hears
    /// of nothing twice.
    public let position: ChangePosition

    package init(event: Event, position: ChangePosition) {
        self.event = event
        self.position = position
    }
}

/// A moment in the history of one keychain. It stays good over restarts of daemon
/// and machine; a restored backup begins a new history.
public struct ChangePosition: Sendable, Hashable, LosslessStringConvertible {
    /// Which history: 16 random bytes of the store.
    package let history: [UInt8]
    /// The last change that lies before it.
    package let number: Int64

    package init(history: [UInt8], number: Int64) {
        self.history = history
        self.number = number
    }

    package static let historySize = 16

    /// For a file or a command line; nothing of it is secret.
    public var description: String {
        history.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined() + "-\(number)"
    }

    /// nil for anything but a ``description``.
    public init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 2 * Self.historySize, let number = Int64(parts[1]), number >= 0
        else { return nil }
        let digits = Array(parts[0].utf8)
        var bytes: [UInt8] = []
        for at in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[at]), let low = Self.value(digits[at + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(history: bytes, number: number)
        // One position, one text.
        guard self.description == description else { return nil }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// What an observer has heard up to a position.
package struct ChangeBatch: Sendable, Hashable {
    package var changes: [KeychainChange]
    /// Where to go on; beyond the last change where those after it were others'.
    package var position: ChangePosition

    package init(changes: [KeychainChange], position: ChangePosition) {
        self.changes = changes
        self.position = position
    }
}

/// Of which groups an observer hears.
package enum ChangeScope: Sendable, Hashable {
    /// Every group that the program searches by itself.
    case searched
    /// These alone; none at all is refused.
    case named([AccessGroup])
}
