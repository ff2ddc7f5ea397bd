internal import FoundationEssentials
package import KeychainMessages

/// One protector, as a person is told of it.
package struct ProtectorState: Hashable, Sendable {
    /// What trying it brought.
    package enum Trial: Hashable, Sendable {
        case none
        case opens
        /// In the device's words.
        case failed(String)
        /// Only whoever has the code can tell.
        case needsPerson
    }

    /// "software-file", "tpm2", "fido2", "recovery-code", or what a newer program wrote.
    package let kind: String
    /// 16 bytes.
    package let identifier: [UInt8]
    /// Of a TPM.
    package let address: TPMAddress?
    /// Of a security key: what it is called; may be empty.
    package let product: String
    package let trial: Trial

    package init(kind: String, identifier: [UInt8], address: TPMAddress?, product: String, trial: Trial) {
        self.kind = kind
        self.identifier = identifier
        self.address = address
        self.product = product
        self.trial = trial
    }
}

extension Latchkey_PersonReply.Protector {
    package init(_ state: ProtectorState) {
        self.init()
        kind = state.kind
        identifier = Data(state.identifier)
        address = state.address?.description ?? ""
        product = state.product
        switch state.trial {
        case .none: trial = .none
        case .opens: trial = .opens
        case .failed(let why): (trial, refusal) = (.failed, why)
        case .needsPerson: trial = .needsPerson
        }
    }
}

extension ProtectorState {
    /// nil for what no enclave of ours says.
    init?(_ message: Latchkey_PersonReply.Protector) {
        let address = TPMAddress(message.address)
        guard message.identifier.count == 16, message.address.isEmpty || address != nil else { return nil }
        let trial: Trial
        switch message.trial {
        case .none: trial = .none
        case .opens: trial = .opens
        case .failed: trial = .failed(message.refusal)
        case .needsPerson: trial = .needsPerson
        case .UNRECOGNIZED: return nil
        }
        self.init(
            kind: message.kind, identifier: Array(message.identifier), address: address, product: message.product,
            trial: trial)
    }
}
