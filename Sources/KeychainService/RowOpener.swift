internal import KeychainCrypto
internal import KeychainModel
internal import KeychainStore

/// What became of one row's metadata.
enum OpenedRow {
    case item(ItemMetadata)
    case locked(ProtectionClass)
    /// What it was sealed under is gone for good: it is as if it were not there.
    case effaced
    case damaged(StoreTransaction.DamageCause)
}

/// A row to be moved to the table `damaged`, as it was when it did not open.
struct DamageReport: Sendable {
    let itemClass: ItemClass
    let row: SealedRow
    let cause: StoreTransaction.DamageCause
}

/// Opens the metadata of rows under verified keys; says "damaged" only where
/// AES-GCM refuses under a key whose own check value held.
struct RowOpener: Sendable {
    let keys: MetadataKeys
    let sealer: RowSealer

    func open(_ row: SealedRow, _ itemClass: ItemClass, _ reader: StoreReader) throws(KeychainError) -> OpenedRow {
        guard let protectionClass = ProtectionClass(rawValue: row.protection) else { return .damaged(.metadata) }
        switch try keys.find(protectionClass, generation: row.metadataGeneration, using: reader) {
        case .key(let key):
            do throws(CryptoError) {
                return .item(try sealer.openMetadata(of: row, itemClass, under: key.key))
            } catch {
                return .damaged(.metadata)
            }
        case .locked: return .locked(protectionClass)
        case .effaced: return .effaced
        // The class has no key without a passcode: its code in the column is not
        // what the row was sealed under.
        case .absent where protectionClass == .whenPasscodeSetThisDeviceOnly:
            guard try reader.hasMetadataKeys() else { throw MetadataKeys.mismatch }
            return .damaged(.metadata)
        case .damaged: return .damaged(.metadataKey)
        // No key was ever made for this class, or it is lost. As long as other
        // classes have theirs that is damage; a store that lost all of them is no
        // row's damage, and neither is a key of another keybag.
        case .absent:
            guard try reader.hasMetadataKeys() else { throw MetadataKeys.mismatch }
            let isKeyLost = try keys.mayHave(row.metadataGeneration, protectionClass)
            return .damaged(isKeyLost ? .metadataKey : .metadata)
        // In a store that has gone on since, this row was written under a keybag from before.
        // Where it is the newest, database and keybag are of different times, and no row is to
        // blame.
        case .noClassKey:
            guard try reader.hasMetadataKey(of: protectionClass, above: row.metadataGeneration) else {
                throw MetadataKeys.mismatch
            }
            return .damaged(.metadataKey)
        }
    }
}
