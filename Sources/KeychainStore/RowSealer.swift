package import KeychainCrypto
package import KeychainModel
package import KeychainPlatform

/// Seals and opens rows; binds each seal to everything that names the row
/// (architecture section 4: "columns are hints, the sealed metadata is the truth").
package struct RowSealer: Sendable {
    package let storeID: [UInt8]

    package init(storeID: [UInt8]) { self.storeID = storeID }

    /// format, store id, class, uuid, persistref, pdmn, sync, tomb, gen.
    private func binding(
        _ purpose: StaticString, _ row: SealedRow, _ itemClass: ItemClass, _ generation: UInt32?
    ) -> AssociatedData {
        var bound = AssociatedData(purpose)
        bound.append(UInt64(row.format))
        bound.append(storeID)
        bound.append(itemClass.rawValue)
        bound.append(row.uuid)
        bound.append(row.persistref)
        bound.append(row.protection)
        bound.append(row.isSynchronizable ? 1 : 0)
        bound.append(row.isTombstone ? 1 : 0)
        if let generation { bound.append(UInt64(generation)) }
        return bound
    }

    /// The same, and access group, digest of the access control, seal id. The
    /// generation is left out from format 2 on: the wrapped row key is bound to it.
    private func secretBinding(_ row: SealedRow, _ metadata: ItemMetadata, _ itemClass: ItemClass) -> AssociatedData {
        var bound = binding("latchkey row secret", row, itemClass, row.format == 1 ? row.generation : nil)
        bound.append(metadata.attributes[.accessGroup]?.string ?? "")
        bound.append(KeyDerivation.digest(metadata.accessControl?.encoded ?? []))
        bound.append(metadata.sealID)
        return bound
    }

    package func seal(
        metadata: ItemMetadata, of row: SealedRow, _ itemClass: ItemClass, under key: borrowing SealingKey
    ) -> [UInt8] {
        key.seal(metadata.encoded, bound: metadataBinding(row, itemClass))
    }

    private func metadataBinding(_ row: SealedRow, _ itemClass: ItemClass) -> AssociatedData {
        binding("latchkey row metadata", row, itemClass, row.generation)
    }

    /// - Throws: ``CryptoError`` where the seal does not open or what it holds
    ///   contradicts the columns beside it: a damaged row, if `key` is verified.
    package func openMetadata(
        of row: SealedRow, _ itemClass: ItemClass, under key: borrowing SealingKey
    ) throws(CryptoError) -> ItemMetadata {
        guard (1...StoreSchema.rowFormat).contains(row.format) else { throw .malformed }
        let bytes = try key.openArray(row.metadata, bound: metadataBinding(row, itemClass))
        guard let metadata = ItemMetadata(encoded: bytes),
            metadata.attributes[.accessible]?.string == row.protection,
            (metadata.attributes[.synchronizable]?.integer ?? 0) == (row.isSynchronizable ? 1 : 0),
            (metadata.attributes[.tombstone]?.integer ?? 0) == (row.isTombstone ? 1 : 0)
        else { throw .malformed }
        return metadata
    }

    package func seal(
        secret: borrowing SecretBytes, metadata: ItemMetadata, of row: SealedRow, _ itemClass: ItemClass,
        under key: borrowing SealingKey
    ) -> [UInt8] {
        key.seal(secret, bound: secretBinding(row, metadata, itemClass))
    }

    package func openSecret(
        of row: SealedRow, metadata: ItemMetadata, _ itemClass: ItemClass, under key: borrowing SealingKey
    ) throws(CryptoError) -> SecretBytes {
        guard let box = row.secret else { throw .malformed }
        return try key.openValue(box, bound: secretBinding(row, metadata, itemClass))
    }
}
