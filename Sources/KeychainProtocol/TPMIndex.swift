internal import FoundationEssentials
package import KeychainMessages

/// An NV index of a TPM 2.0 that is ours. No secret itself.
///
/// Its label is 32 random bytes that stand in its public area where a policy would: an
/// index that somebody else defined at the same handle is told apart by it.
package struct TPMIndex: Hashable, Sendable {
    package let address: TPMAddress
    package let handle: UInt32
    package let label: [UInt8]
    /// The public area of the TPM's storage key: one that was cleared, or another, has another,
    /// and what that says of an index counts for nothing.
    package let storageKey: [UInt8]

    /// What a TPM keeps for its owner: TCG "Registry of Reserved TPM 2.0 Handles and
    /// Localities", 2.2.2, NV indices of the owner.
    package static let handles: ClosedRange<UInt32> = 0x0180_0000...0x01BF_FFFF
    package static let labelByteCount = 32

    /// nil for a handle that is not an owner's, and for a label or a key of another length.
    package init?(address: TPMAddress, handle: UInt32, label: [UInt8], storageKey: [UInt8]) {
        guard Self.handles.contains(handle), label.count == Self.labelByteCount,
            (1...SealedByTPM.longestArea).contains(storageKey.count)
        else { return nil }
        self.address = address
        self.handle = handle
        self.label = label
        self.storageKey = storageKey
    }

    package init?(_ message: Latchkey_TPMIndex) {
        guard let address = TPMAddress(message.address) else { return nil }
        self.init(
            address: address, handle: message.handle, label: Array(message.label),
            storageKey: Array(message.storageKey))
    }

    package var place: TPMPlace { TPMPlace(address: address, handle: handle) }

    /// Whether both speak of one index.
    package func isSame(as other: TPMIndex) -> Bool {
        address == other.address && handle == other.handle && label == other.label
    }

    package var message: Latchkey_TPMIndex {
        var message = Latchkey_TPMIndex()
        message.address = address.description
        message.handle = handle
        message.label = Data(label)
        message.storageKey = Data(storageKey)
        return message
    }
}
