/// Which block of the audit record: in which file, and how many stand before it there.
package struct AuditPlace: Hashable, Sendable {
    package static let chainByteCount = 16
    /// More blocks than a file ever has, and more files than a chain: nobody makes the
    /// enclave walk further.
    package static let mostBlocks: UInt32 = 1 << 14
    package static let mostFiles: UInt32 = 1 << 16

    /// Names the keys that the record is sealed under; another with each new bag key.
    package let chain: [UInt8]
    /// The file's number; rises for ever, over all chains.
    package let file: UInt64
    /// The how manyeth file of its chain, from 0.
    package let ordinal: UInt32
    /// Of the block in its file, from 0.
    package let index: UInt32

    /// nil for what no record of ours has.
    package init?(chain: [UInt8], file: UInt64, ordinal: UInt32, index: UInt32) {
        guard chain.count == Self.chainByteCount, ordinal < Self.mostFiles, index <= Self.mostBlocks else {
            return nil
        }
        self.init(unchecked: chain, file: file, ordinal: ordinal, index: index)
    }

    init(unchecked chain: [UInt8], file: UInt64, ordinal: UInt32, index: UInt32) {
        self.chain = chain
        self.file = file
        self.ordinal = ordinal
        self.index = index
    }

    /// The same file's block of that number.
    package func at(_ index: UInt32) -> AuditPlace {
        AuditPlace(unchecked: chain, file: file, ordinal: ordinal, index: index)
    }

    package func isInFile(of other: AuditPlace) -> Bool { at(0) == other.at(0) }
}

/// A block as it lies in the file.
package struct SealedAuditBlock: Hashable, Sendable {
    package let place: AuditPlace
    package let box: [UInt8]

    package init(place: AuditPlace, box: [UInt8]) {
        self.place = place
        self.box = box
    }
}

/// What became of blocks that were to be read.
package enum AuditOpening: Hashable, Sendable {
    /// In order; nil for one that was not sealed for its place.
    case blocks([OpenedAuditBlock?])
    /// The keychain is locked.
    case locked
    /// No key of that chain is left: it is older than the last sixteen, or of another keybag.
    case unknownChain
}
