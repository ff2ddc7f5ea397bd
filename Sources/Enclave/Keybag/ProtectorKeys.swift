internal import KeychainCrypto
internal import KeychainPlatform
internal import KeychainProtocol

/// What opens protectors at an opening: the file's secret, a recovery code where a
/// person brought one, and the devices. Each device is asked once.
final class ProtectorKeys {
    /// A TPM takes about a second for what an opening needs; who opens the store waits.
    /// That is for all devices of an opening together. One that takes longer alone is not
    /// accepted as a protector either.
    static let patience: Duration = .seconds(3)

    let secrets: SoftwareSecretFile
    private let code: SharedSecret?
    private let hardware: any HardwareDoor
    private var answers: [SealedByTPM: Result<SharedSecret, HardwareError>] = [:]
    private var keyAnswers: [SealedByFIDO2: Result<SharedSecret, HardwareError>] = [:]
    /// What is left of it for all devices together.
    private(set) var left = ProtectorKeys.patience
    /// Why devices did not open what they sealed.
    private(set) var refusals: [String] = []
    /// The software protector's secret, where that was what opened.
    private(set) var softwareSecret: SoftwareSecret?

    /// - Parameter code: a recovery code's bytes.
    init(_ secrets: SoftwareSecretFile, code: SharedSecret?, hardware: any HardwareDoor) {
        self.secrets = secrets
        self.code = code
        self.hardware = hardware
    }

    /// The root key, by the cheapest that opens: devices are asked where nothing else does.
    func open(_ protectors: [ProtectorsBody.Protector], of store: StoreID) -> RootKey? {
        for kind in ProtectorKind.known {
            for protector in protectors where protector.kind == kind {
                if let root = open(protector, of: store) { return root }
            }
        }
        return nil
    }

    private func open(_ protector: ProtectorsBody.Protector, of store: StoreID) -> RootKey? {
        switch protector.kind {
        case .softwareFile:
            for secret in secrets.secrets where secret.identifier == protector.identifier {
                guard let root = RootKey(protector, of: store, under: secret.key) else { continue }
                softwareSecret = secret
                return root
            }
            return nil
        case .recoveryCode:
            return code.flatMap { RootKey(protector, of: store, under: .ofRecoveryCode($0.bytes)) }
        case .tpm2:
            guard let sealed = protector.sealed, let secret = unseal(sealed) else { return nil }
            return RootKey(protector, of: store, under: SealingKey(secret.bytes.copy()))
        case .fido2:
            guard let sealed = protector.sealedByKey else { return nil }
            guard case .success(let secret) = secret(of: sealed) else { return nil }
            return RootKey(protector, of: store, under: .ofSecurityKey(secret.bytes))
        case .unknown: return nil
        }
    }

    private func unseal(_ sealed: SealedByTPM) -> SharedSecret? {
        switch answer(to: sealed) {
        case .success(let secret): return secret
        case .failure: return nil
        }
    }

    /// What a device gives back, asked once.
    func answer(to sealed: SealedByTPM) -> Result<SharedSecret, HardwareError> { answers[sealed] ?? ask(sealed) }

    private func ask(_ sealed: SealedByTPM) -> Result<SharedSecret, HardwareError> {
        let answer = ask("\(sealed.address)") { patience throws(HardwareError) in
            try hardware.unseal(sealed, patience: patience)
        }
        answers[sealed] = answer
        return answer
    }

    /// What a counter has.
    func value(of index: TPMIndex, password: SharedSecret) -> Result<UInt64, HardwareError> {
        ask("\(index.address)") { patience throws(HardwareError) in
            try hardware.readCounter(index, password: password, patience: patience)
        }
    }

    /// What a security key makes, asked once: after what opens without a touch.
    private func secret(of sealed: SealedByFIDO2) -> Result<SharedSecret, HardwareError> {
        if let answer = keyAnswers[sealed] { return answer }
        let answer = ask("\(ProtectorKind.fido2.name)") { patience throws(HardwareError) in
            try hardware.secret(of: sealed, patience: patience)
        }
        keyAnswers[sealed] = answer
        return answer
    }

    /// - Parameter name: of the device, for people.
    private func ask<Answer>(
        _ name: String, _ question: (Duration) throws(HardwareError) -> Answer
    ) -> Result<Answer, HardwareError> {
        guard left > .zero else { return .failure(.silent(Self.patience)) }
        let begun = SystemClock().monotonic
        defer { left -= SystemClock().monotonic - begun }
        do throws(HardwareError) { return .success(try question(left)) } catch {
            if case .silent = error { left = .zero }
            refusals.append("\(name): \(error)")
            return .failure(error)
        }
    }
}

extension SealingKey {
    /// What wraps the root key for a security key: what it makes, for this use alone.
    static func ofSecurityKey(_ secret: borrowing SecretBytes) -> SealingKey {
        SealingKey(KeyDerivation.derive(from: secret, purpose: "latchkey fido2 protector 1"))
    }

    /// What wraps the root key for a recovery code.
    static func ofRecoveryCode(_ code: borrowing SecretBytes) -> SealingKey {
        SealingKey(KeyDerivation.derive(from: code, purpose: "latchkey recovery protector 1"))
    }
}

extension RootKey {
    /// nil where this key is not what wrapped it.
    init?(_ protector: ProtectorsBody.Protector, of store: StoreID, under key: borrowing SealingKey) {
        let binding = WrapBinding.rootKey(store: store, protector: protector.kind, protector.identifier)
        do throws(CryptoError) { self.init(try key.open(protector.wrappedRoot, bound: binding)) } catch { return nil }
    }

    /// As a protector of that kind keeps it.
    func protected(
        by kind: ProtectorKind, named identifier: [UInt8], under key: borrowing SealingKey, of store: StoreID,
        parameters: [UInt8] = []
    ) -> ProtectorsBody.Protector {
        let binding = WrapBinding.rootKey(store: store, protector: kind, identifier)
        return ProtectorsBody.Protector(
            kind: kind, identifier: identifier, wrappedRoot: wrapped(by: key, bound: binding), parameters: parameters)
    }
}
