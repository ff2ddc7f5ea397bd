internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainMessages
internal import KeychainProtocol
internal import SwiftProtobuf

/// A kind of protector: what the root key is bound to.
enum ProtectorKind: Hashable, Sendable {
    /// A random secret in a file beside it: binds to nothing.
    case softwareFile
    /// A random secret that a TPM 2.0 sealed: binds to that TPM.
    case tpm2
    /// A secret that a FIDO2 security key makes of a salt: binds to that key, and takes a
    /// touch.
    case fido2
    /// What a person wrote down: for when the machine is gone.
    case recoveryCode
    /// Of a newer program: opens nothing here.
    case unknown(String)

    /// What opens at once first, what a person has to touch last.
    static let known: [ProtectorKind] = [.softwareFile, .recoveryCode, .tpm2, .fido2]

    init(name: String) { self = Self.known.first { $0.name == name } ?? .unknown(name) }

    var name: String {
        switch self {
        case .softwareFile: "software-file"
        case .tpm2: "tpm2"
        case .fido2: "fido2"
        case .recoveryCode: "recovery-code"
        case .unknown(let name): name
        }
    }
}

/// What the file `protectors` says: the store, and the root key as each
/// protector wraps it.
struct ProtectorsBody: Hashable, Sendable {
    struct Protector: Hashable, Sendable {
        let kind: ProtectorKind
        let identifier: [UInt8]
        let wrappedRoot: [UInt8]
        /// What `tpm2` was sealed as (``SealedByTPM``), `fido2` (``SealedByFIDO2``); empty
        /// otherwise.
        var parameters: [UInt8] = []

        static let identifierCount = SoftwareSecret.identifierCount

        /// Of `tpm2`.
        var sealed: SealedByTPM? { kind == .tpm2 ? SealedByTPM(encoded: parameters) : nil }
        /// Of `fido2`.
        var sealedByKey: SealedByFIDO2? { kind == .fido2 ? SealedByFIDO2(encoded: parameters) : nil }
        /// Bound to a device that is asked.
        var isDevice: Bool { kind == .tpm2 || kind == .fido2 }
    }

    let store: StoreID
    let protectors: [Protector]
    /// While the root key is being replaced: the one that comes. It is the root key from
    /// the moment on at which the keybag is authentic under it.
    var coming: [Protector] = []

    static let mostProtectors = 16

    init(store: StoreID, protectors: [Protector], coming: [Protector] = []) {
        self.store = store
        self.protectors = protectors
        self.coming = coming
    }

    /// nil for anything that a program of this version does not write.
    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_ProtectorsBody.self, bytes),
            let store = StoreID(Array(message.storeID)),
            (1...Self.mostProtectors).contains(message.protectors.count), message.coming.count <= Self.mostProtectors
        else { return nil }
        self.store = store
        protectors = message.protectors.map(Protector.init)
        coming = message.coming.map(Protector.init)
        guard (protectors + coming).allSatisfy(\.isWellFormed), Self.areDifferent(protectors), Self.areDifferent(coming)
        else { return nil }
    }

    private static func areDifferent(_ protectors: [Protector]) -> Bool {
        Set(protectors.map(\.identifier)).count == protectors.count
    }

    var encoded: [UInt8] {
        var message = Latchkey_ProtectorsBody()
        message.storeID = Data(store.bytes)
        message.protectors = protectors.map(\.message)
        message.coming = coming.map(\.message)
        return MessageCoding.encode(message)
    }

    func protector(named identifier: [UInt8]) -> Protector? { protectors.first { $0.identifier == identifier } }

    func contains(_ kind: ProtectorKind) -> Bool { protectors.contains { $0.kind == kind } }
}

extension ProtectorsBody.Protector {
    fileprivate init(_ message: Latchkey_ProtectorsBody.Protector) {
        kind = ProtectorKind(name: message.kind)
        identifier = Array(message.identifier)
        wrappedRoot = Array(message.wrappedRoot)
        parameters = Array(message.parameters)
    }

    fileprivate var message: Latchkey_ProtectorsBody.Protector {
        var message = Latchkey_ProtectorsBody.Protector()
        message.kind = kind.name
        message.identifier = Data(identifier)
        message.wrappedRoot = Data(wrappedRoot)
        message.parameters = Data(parameters)
        return message
    }

    /// What holds for every kind; how long another kind's box is, is its own affair.
    fileprivate var isWellFormed: Bool {
        guard identifier.count == Self.identifierCount else { return false }
        switch kind {
        case .unknown: return true
        case .tpm2: return wrappedRoot.count == WrappedKey.boxByteCount && sealed != nil
        case .fido2: return wrappedRoot.count == WrappedKey.boxByteCount && sealedByKey != nil
        case .softwareFile, .recoveryCode: return wrappedRoot.count == WrappedKey.boxByteCount && parameters.isEmpty
        }
    }
}
