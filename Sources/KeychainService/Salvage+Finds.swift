internal import KeychainModel
internal import KeychainStore

extension Salvage {
    /// Where a row comes from.
    enum Origin {
        case file(String)
        case damaged(number: Int64)
    }

    struct Find {
        let origin: Origin
        let itemClass: ItemClass
        let row: SealedRow
        let metadata: ItemMetadata

        /// Each change of an item is later than the one before; new class keys change nothing else.
        func isNewer(than other: Find) -> Bool {
            (modified, row.metadataGeneration) > (other.modified, other.row.metadataGeneration)
        }

        /// Whether something of the item itself was changed behind the other.
        func isLater(than other: Find) -> Bool { modified > other.modified }

        private var modified: Double {
            if case .date(let seconds) = metadata.attributes[.modificationDate] { seconds } else { 0 }
        }
    }

    /// Rows that come back in one transaction.
    struct Batch {
        private var finds: [Find] = []
        private var byteCount = 0

        mutating func add(_ find: Find) {
            finds.append(find)
            byteCount += find.row.secret?.count ?? 0
        }

        var isFull: Bool { finds.count >= WalkStep().rows || byteCount >= WalkStep().bytes }

        mutating func take() -> [Find] {
            defer { self = Batch() }
            return finds
        }
    }

    /// What pages hold of one row.
    struct Forms {
        var rowid: Int64?
        private(set) var newest: Find?
        var lockedClass: ProtectionClass?

        mutating func add(_ find: Find) {
            if let newest, !find.isNewer(than: newest) { return }
            newest = find
        }
    }
}
