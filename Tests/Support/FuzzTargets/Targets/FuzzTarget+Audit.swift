#if DEBUG
    @testable internal import Enclave
#else
    internal import Enclave
#endif
internal import KeychainDaemon
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    private static let store = [UInt8](repeating: 0x17, count: 16)
    private static let chain = [UInt8](repeating: 0x2a, count: 16)

    /// A file of the audit record, before the enclave has opened anything of it.
    static let auditFile = FuzzTarget("audit-file", seeds: { auditSeeds }) { bytes throws(Finding) in
        guard let file = AuditFile(bytes) else { return }
        try claim(file.length + file.rest == bytes.count, "bytes that nobody counts")
        try claim(file.blocks.allSatisfy { $0.index < AuditPlace.mostBlocks }, "more blocks than a file has")
        let again = file.blocks.reduce(AuditFile.header(of: file.first, store: file.store)) {
            $0 + AuditFile.bytes(of: SealedAuditBlock(place: file.first.at($1.index), box: $1.box))
        }
        try claim(again == Array(bytes[..<file.length]), "a file that is not its encoding")
        let other = try claimed(AuditFile(again), "what was written again is no file")
        try claim(other.blocks == file.blocks && other.rest == 0, "another file")
    }

    private static var auditSeeds: [[UInt8]] {
        guard let first = AuditPlace(chain: chain, file: 1, ordinal: 0, index: 0) else { return [] }
        let header = AuditFile.header(of: first, store: store)
        let blocks: [[UInt8]] = [60, 0, 300].enumerated().map { index, count in
            AuditFile.bytes(
                of: SealedAuditBlock(place: first.at(UInt32(index)), box: [UInt8](repeating: 7, count: count)))
        }
        return [header, header + blocks[0], header + blocks.joined(), header + blocks[0] + blocks[2].prefix(20)]
    }

    /// What stands in a block that was opened: the enclave's words and the daemon's.
    static let auditBlock = FuzzTarget("audit-block", seeds: { [auditBlockSeed] }) { bytes throws(Finding) in
        if let block = OpenedAuditBlock(parsing: bytes) {
            try claim(OpenedAuditBlock(parsing: block.encoded) == block, "a block that its encoding changes")
            try claim(block.previousCount <= AuditPlace.mostBlocks, "more blocks than a file has")
        }
        guard let records = AuditRecord.decode(bytes) else { return }
        let again = try claimed(AuditRecord.decode(AuditRecord.encode(records)), "records that do not decode")
        try claim(again.count == records.count, "records that their encoding loses")
        for (one, other) in zip(records, again) where one.first == one.first && one.last == one.last {
            try claim(one == other, "a record that its encoding changes")
        }
    }

    private static var auditBlockSeed: [UInt8] {
        var read = AuditRecord(.read, at: 800_000_000)
        read.program = "exe./usr/bin/program"
        read.item = [UInt8](repeating: 3, count: AuditRecord.digestByteCount)
        read.itemClass = .genericPassword
        var refused = AuditRecord(.search, at: 800_000_001)
        refused.refusal = .init(status: .missingEntitlement, reason: .groupNotEntitled(group: "g"))
        return AuditRecord.encode([read, refused])
    }

    #if DEBUG
        /// Where the record ends, as it lies in the enclave's folder.
        static let auditHead = FuzzTarget("audit-head", largestInput: 512, seeds: { [auditHeadSeed(AuditLack()), auditHeadSeed(AuditLack(lost: 3, waiting: 4, teller: 5))] }) {
            bytes throws(Finding) in
            guard let store = StoreID(store), let head = AuditHead(bytes, chain: chain, under: auditKey, of: store)
            else {
                return
            }
            // A code cannot be guessed: it is the one that was made with the key.
            try claim(head.generation == 7 && head.state.place.file == 3, "a state that nobody wrote")
            var spoilt = bytes
            spoilt[bytes.count % AuditHead.recordCount] ^= 1
            let other = AuditHead(spoilt, chain: chain, under: auditKey, of: store)
            try claim(other == nil, "a state that was changed")
        }

        private static var auditKey: SharedSecret {
            SharedSecret(SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
        }

        private static func auditHeadSeed(_ lack: AuditLack) -> [UInt8] {
            guard let store = StoreID(store) else { return [] }
            let state = AuditState(chain: chain, file: 3, ordinal: 2, previousCount: 5, fileKey: auditKey)
            return AuditHead(generation: 7, state: state, lack: lack).sealed(under: auditKey, of: store)
        }
    #endif
}
