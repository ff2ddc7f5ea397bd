internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// What the enclave's hands answer, and what they are asked: header and tail.
    static let hardware = FuzzTarget("hardware", seeds: { HardwareSeeds.all }) { bytes throws(Finding) in
        var source = ByteSource(bytes)
        let (header, tail) = source.message()
        if let (number, request) = HardwareProtocol.decodeRequest(header: header, tail: SecretBytes(copying: tail)) {
            let again = HardwareProtocol.encode(request, number: number)
            let decoded = HardwareProtocol.decodeRequest(header: again.header, tail: again.tail)
            try claim(decoded?.number == number, "a request that its encoding changes")
            try claim(tail.count == request.secretByteCount, "a secret that nothing was to be done with")
        }
        if let (number, answer) = HardwareProtocol.decodeAnswer(header: header, tail: SecretBytes(copying: tail)) {
            let again = HardwareProtocol.encode(answer, number: number)
            let decoded = HardwareProtocol.decodeAnswer(header: again.header, tail: again.tail)
            try claim(decoded?.number == number, "an answer that its encoding changes")
            switch answer {
            case .unsealed, .secrets, .record: break
            default: try claim(tail.isEmpty, "a secret that nobody unsealed")
            }
        }
    }

    /// What lies in a protector's parameters.
    static let sealedByTPM = FuzzTarget("sealed-by-tpm", seeds: { [HardwareSeeds.sealed.encoded] }) {
        bytes throws(Finding) in
        guard let sealed = SealedByTPM(encoded: bytes) else { return }
        try claim(SealedByTPM(encoded: sealed.encoded) == sealed, "what was sealed changes with its encoding")
        try claim(TPMAddress(sealed.address.description) == sealed.address, "an address that its text changes")
    }

    static let sealedByFIDO2 = FuzzTarget("sealed-by-fido2", seeds: { [HardwareSeeds.keySealed.encoded] }) {
        bytes throws(Finding) in
        guard let sealed = SealedByFIDO2(encoded: bytes) else { return }
        try claim(SealedByFIDO2(encoded: sealed.encoded) == sealed, "what was sealed changes with its encoding")
        let isShowable = sealed.credential.product.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        try claim(isShowable, "a name that cannot be shown")
    }
}

extension HardwareRequest {
    /// Of the secret that is to be sealed, of the password, and of a PIN.
    fileprivate var secretByteCount: Int {
        switch self {
        case .describe, .unseal(_, nil), .undefine, .storageKey, .secrets: 0
        case .makeCredential(_, let pin, _): pin?.bytes.count ?? 0
        case .seal(_, _, nil), .unseal, .read, .defineCounter, .readCounter, .raiseCounter: 32
        case .define: 124
        case .seal: 64
        }
    }
}

enum HardwareSeeds {
    static let sealed: SealedByTPM = {
        let area = { (byte: UInt8, count: Int) in [UInt8](repeating: byte, count: count) }
        guard
            let sealed = SealedByTPM(
                address: .machines, storageKey: area(1, 92), publicArea: area(2, 48), privateArea: area(3, 160))
        else { preconditionFailure("a seed that is none") }
        return sealed
    }()

    static let index: TPMIndex = {
        let bytes = { (byte: UInt8, count: Int) in [UInt8](repeating: byte, count: count) }
        guard
            let index = TPMIndex(
                address: .machines, handle: 0x0180_0001, label: bytes(6, TPMIndex.labelByteCount),
                storageKey: bytes(1, 92))
        else { preconditionFailure("a seed that is none") }
        return index
    }()

    static let keySealed: SealedByFIDO2 = {
        let name = [UInt8](repeating: 4, count: 64)
        guard
            let credential = FIDO2Credential(
                relyingParty: FIDO2Credential.ourParty, name: name, product: "Yubico YubiKey"),
            let salt = FIDO2Salt([UInt8](repeating: 5, count: FIDO2Salt.byteCount))
        else { preconditionFailure("a seed that is none") }
        return SealedByFIDO2(credential, salt: salt)
    }()

    static let all: [[UInt8]] = {
        let pin = SharedSecret(SecretBytes(copying: Array("1234".utf8)))
        let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let record = SharedSecret(SecretBytes(copying: [UInt8](repeating: 8, count: HardwareProtocol.recordByteCount)))
        let requests: [HardwareRequest] = [
            .describe(.machines), .seal(secret, .socket("/run/tpm")), .unseal(sealed),
            .seal(secret, .machines, password: secret), .unseal(sealed, password: secret),
            .define(index, password: secret, record: record), .read(index, password: secret), .undefine(index),
            .storageKey(.machines), .defineCounter(index, password: secret), .readCounter(index, password: secret),
            .raiseCounter(index, to: 7, password: secret, patience: .seconds(5)),
            .makeCredential(.plugged, pin: nil, patience: .seconds(12)),
            .makeCredential(.device("/dev/hidraw3"), pin: pin, patience: .seconds(12)),
            .secrets(keySealed, next: nil, patience: .seconds(3)),
            .secrets(keySealed, next: keySealed.salt, patience: .seconds(3)),
        ]
        let answers: [HardwareAnswer] = [
            .sealed(sealed), .unsealed(secret), .made(keySealed.credential), .secrets(secret, next: nil),
            .secrets(secret, next: secret), .failed("tpm:parameter(1):integrity check failed"), .refused,
            .lockedOut("later"), .defined(index), .record(record), .gone("it is not in the TPM any more"), .undefined,
            .storageKey(index.storageKey), .count(7),
            .described(
                TPMDescription(
                    manufacturer: "IBM ", firmwareMajor: 1, firmwareMinor: 2, isInLockout: true, failedTries: 3,
                    mostTries: 5, recoverySeconds: 600)),
        ]
        return requests.map { seed(HardwareProtocol.encode($0, number: 1)) }
            + answers.map { seed(HardwareProtocol.encode($0, number: 1)) }
    }()

    private static func seed(_ message: consuming EncodedMessage) -> [UInt8] {
        ByteSink.message(message.header, message.tail.insecureArray())
    }
}
