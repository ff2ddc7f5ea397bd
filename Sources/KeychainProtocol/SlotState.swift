internal import FoundationEssentials
package import KeychainMessages

/// One slot, as a person is told of it.
package struct SlotState: Hashable, Sendable {
    /// "open", "passcode", "recovery", "tpm2", "credential", "login", "fingerprint", or what a
    /// newer program wrote.
    package let kind: String
    /// 16 bytes.
    package let identifier: [UInt8]
    /// Of a TPM: that opens it, or that guards the passcode.
    package let address: TPMAddress?

    package init(kind: String, identifier: [UInt8], address: TPMAddress?) {
        self.kind = kind
        self.identifier = identifier
        self.address = address
    }

    /// No slot of the keybag: that a finger opens it again after a lock.
    package static let fingerprint = SlotState(kind: "fingerprint", identifier: fingerprintName, address: nil)
    /// The name that no slot has, whose names are random.
    package static let fingerprintName = [UInt8](repeating: 0, count: 16)
}

extension Latchkey_PersonReply.Slot {
    package init(_ state: SlotState) {
        self.init()
        kind = state.kind
        identifier = Data(state.identifier)
        address = state.address?.description ?? ""
    }
}

extension SlotState {
    /// nil for what no enclave of ours says.
    init?(_ message: Latchkey_PersonReply.Slot) {
        let address = TPMAddress(message.address)
        guard message.identifier.count == 16, message.address.isEmpty || address != nil else { return nil }
        self.init(kind: message.kind, identifier: Array(message.identifier), address: address)
    }
}
