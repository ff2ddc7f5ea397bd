internal import FoundationEssentials
package import KeychainMessages
package import KeychainPlatform

/// Where a TPM 2.0 is reached: `device:/dev/tpm…` for the kernel's device, `swtpm:PATH` for
/// the socket of a software TPM, which has its control socket at `PATH.ctrl`.
package enum TPMAddress: Hashable, Sendable, CustomStringConvertible {
    case device(String)
    case socket(String)

    /// The kernel's resource manager, which lets several programs use the TPM.
    package static let machines = TPMAddress.device("/dev/tpmrm0")

    private static let longestPath = 256

    /// nil for anything but one of the two forms with an absolute path. A comma would
    /// begin another option of tpm2-tss's modules.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let path = String(text[text.index(after: colon)...])
        guard path.hasPrefix("/"), path.utf8.count <= Self.longestPath,
            path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") })
        else { return nil }
        switch text[..<colon] {
        // Whoever opens it writes to it before anything is authenticated.
        case "device":
            guard path.hasPrefix("/dev/tpm"), !path.dropFirst("/dev/".count).contains("/") else { return nil }
            self = .device(path)
        case "swtpm": self = .socket(path)
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .device(let path): "device:\(path)"
        case .socket(let path): "swtpm:\(path)"
        }
    }
}

/// A secret of 32 bytes as a TPM sealed it: only that TPM opens it, and only as long as
/// it is not cleared. No secret itself.
package struct SealedByTPM: Hashable, Sendable {
    package let address: TPMAddress
    /// The public area of the key above it: what is sent to another TPM in its place is
    /// encrypted to nobody.
    package let storageKey: [UInt8]
    package let publicArea: [UInt8]
    package let privateArea: [UInt8]

    /// Of each area, in bytes; those of ours have 160 at the most.
    package static let longestArea = 512

    /// nil for an area that is empty or too long.
    package init?(address: TPMAddress, storageKey: [UInt8], publicArea: [UInt8], privateArea: [UInt8]) {
        guard [storageKey, publicArea, privateArea].allSatisfy({ (1...Self.longestArea).contains($0.count) })
        else { return nil }
        self.address = address
        self.storageKey = storageKey
        self.publicArea = publicArea
        self.privateArea = privateArea
    }

    package init?(_ message: Latchkey_SealedByTPM) {
        guard let address = TPMAddress(message.address) else { return nil }
        self.init(
            address: address, storageKey: Array(message.storageKey), publicArea: Array(message.publicArea),
            privateArea: Array(message.privateArea))
    }

    package init?(encoded bytes: [UInt8]) {
        guard let message = decoded(Latchkey_SealedByTPM.self, bytes) else { return nil }
        self.init(message)
    }

    package var message: Latchkey_SealedByTPM {
        var message = Latchkey_SealedByTPM()
        message.address = address.description
        message.storageKey = Data(storageKey)
        message.publicArea = Data(publicArea)
        message.privateArea = Data(privateArea)
        return message
    }

    package var encoded: [UInt8] { message.wireBytes }
}

/// What a TPM says of itself.
package struct TPMDescription: Hashable, Sendable {
    /// Four letters of the TCG's registry of vendors.
    package var manufacturer: String
    package var firmwareMajor: UInt32
    package var firmwareMinor: UInt32
    /// Too many wrong passwords of other objects: what has a password is refused until
    /// the machine's owner resets it, or time passes. What we seal has none.
    package var isInLockout: Bool
    package var failedTries: UInt32
    package var mostTries: UInt32
    package var recoverySeconds: UInt32

    package init(
        manufacturer: String, firmwareMajor: UInt32, firmwareMinor: UInt32, isInLockout: Bool, failedTries: UInt32,
        mostTries: UInt32, recoverySeconds: UInt32
    ) {
        self.manufacturer = manufacturer
        self.firmwareMajor = firmwareMajor
        self.firmwareMinor = firmwareMinor
        self.isInLockout = isInLockout
        self.failedTries = failedTries
        self.mostTries = mostTries
        self.recoverySeconds = recoverySeconds
    }
}

/// What the enclave asks of its hands.
package enum HardwareRequest: Sendable {
    case describe(TPMAddress)
    /// With a password, 32 bytes, it is given back for that alone, and a wrong one counts.
    case seal(SharedSecret, TPMAddress, password: SharedSecret? = nil)
    case unseal(SealedByTPM, password: SharedSecret? = nil)
    /// By which the TPM is known again.
    case storageKey(TPMAddress)
    /// Writes the record, 92 bytes, into an index that is not there yet, in the TPM that has
    /// its storage key.
    case define(TPMIndex, password: SharedSecret, record: SharedSecret)
    case read(TPMIndex, password: SharedSecret)
    case undefine(TPMIndex)
    /// A counter in an index that is not there yet, in the TPM that has its storage key.
    case defineCounter(TPMIndex, password: SharedSecret)
    case readCounter(TPMIndex, password: SharedSecret)
    /// By one, where that brings it to the target; nothing of it happens after the patience.
    case raiseCounter(TPMIndex, to: UInt64, password: SharedSecret, patience: Duration)
    /// A new credential of a security key: takes a touch, and its PIN where it asks for one.
    case makeCredential(FIDO2Address, pin: SharedSecret?, patience: Duration)
    /// What a security key makes of the salt, and of another: takes one touch.
    case secrets(SealedByFIDO2, next: FIDO2Salt?, patience: Duration)
}

/// What they answer.
package enum HardwareAnswer: Sendable {
    case described(TPMDescription)
    case sealed(SealedByTPM)
    case unsealed(SharedSecret)
    /// It was sealed with another password.
    case refused
    /// Too many passwords were wrong, of ours or of others: none is looked at for now.
    case lockedOut(String)
    /// As it was asked for.
    case defined(TPMIndex)
    case record(SharedSecret)
    /// Nothing of ours is there any more: the TPM that has the storage key says so.
    case gone(String)
    case undefined
    /// What a counter has now.
    case count(UInt64)
    case storageKey([UInt8])
    case made(FIDO2Credential)
    case secrets(SharedSecret, next: SharedSecret?)
    /// In the words of the device or of its library; no secret.
    case failed(String)
}

/// How both travel: one request, one answer, on a socket pair.
package enum HardwareProtocol {
    /// Every secret, in bytes.
    package static let secretByteCount = 32
    /// What an NV index of ours holds, in bytes.
    package static let recordByteCount = 92
    /// The descriptor under which `latchkey-hardware` finds its end.
    package static let descriptor: Int32 = 3
    /// What a device may take before the process that talks to it ends itself. TPMs take
    /// a few hundred milliseconds a command.
    package static let longestOperation: Duration = .seconds(20)
    /// Of a failure's text, in Unicode scalars.
    private static let longestText = 200
    /// What the hands get less than who asks them, so that their word of what became of
    /// a touch comes in time.
    package static let grace: Duration = .milliseconds(500)

    package static func encode(_ request: HardwareRequest, number: UInt64) -> EncodedMessage {
        var message = Latchkey_HardwareRequest()
        message.number = number
        var tail = SecretBytes(count: 0)
        switch request {
        case .describe(let address): message.describeTpm = address.description
        case .seal(let secret, let address, nil):
            message.sealInTpm = address.description
            tail = secret.bytes.copy()
        case .seal(let secret, let address, let password?):
            message.sealGuardedInTpm = address.description
            tail = SecretBytes(joining: secret.bytes, password.bytes)
        case .unseal(let sealed, nil): message.unseal = sealed.message
        case .unseal(let sealed, let password?):
            message.unsealGuarded = sealed.message
            tail = password.bytes.copy()
        case .define(let index, let password, let record):
            message.defineIndex = index.message
            tail = SecretBytes(joining: password.bytes, record.bytes)
        case .read(let index, let password):
            message.readIndex = index.message
            tail = password.bytes.copy()
        case .undefine(let index): message.undefineIndex = index.message
        case .storageKey(let address): message.storageKeyOfTpm = address.description
        case .defineCounter(let index, let password):
            message.defineCounter = index.message
            tail = password.bytes.copy()
        case .readCounter(let index, let password):
            message.readCounter = index.message
            tail = password.bytes.copy()
        case .raiseCounter(let index, let target, let password, let patience):
            message.raiseCounter.index = index.message
            message.raiseCounter.target = target
            message.raiseCounter.milliseconds = milliseconds(patience)
            tail = password.bytes.copy()
        case .makeCredential(let address, let pin, let patience):
            message.makeFido2.address = address.description
            message.makeFido2.milliseconds = milliseconds(patience)
            if let pin { tail = pin.bytes.copy() }
        case .secrets(let sealed, let next, let patience):
            message.askFido2.sealed = sealed.message
            message.askFido2.nextSalt = Data(next?.bytes ?? [])
            message.askFido2.milliseconds = milliseconds(patience)
        }
        return EncodedMessage(header: message.wireBytes, tail: tail)
    }

    /// nil for anything that ``encode(_:number:)`` does not write.
    package static func decodeRequest(
        header: [UInt8], tail: borrowing SecretBytes
    ) -> (number: UInt64, request: HardwareRequest)? {
        guard let message = decoded(Latchkey_HardwareRequest.self, header) else { return nil }
        switch message.request {
        case .describeTpm(let text):
            guard let address = TPMAddress(text), tail.count == 0 else { return nil }
            return (message.number, .describe(address))
        case .sealInTpm(let text):
            guard let address = TPMAddress(text), tail.count == secretByteCount else { return nil }
            return (message.number, .seal(SharedSecret(tail.copy()), address))
        case .sealGuardedInTpm(let text):
            guard let address = TPMAddress(text), tail.count == 2 * secretByteCount else { return nil }
            let secret = SharedSecret(tail.copy(0..<secretByteCount))
            let password = SharedSecret(tail.copy(secretByteCount..<2 * secretByteCount))
            return (message.number, .seal(secret, address, password: password))
        case .unseal(let sealed):
            guard let sealed = SealedByTPM(sealed), tail.count == 0 else { return nil }
            return (message.number, .unseal(sealed))
        case .unsealGuarded(let sealed):
            guard let sealed = SealedByTPM(sealed), tail.count == secretByteCount else { return nil }
            return (message.number, .unseal(sealed, password: SharedSecret(tail.copy())))
        case .defineIndex(let index):
            guard let index = TPMIndex(index), tail.count == secretByteCount + recordByteCount else { return nil }
            let password = SharedSecret(tail.copy(0..<secretByteCount))
            let record = SharedSecret(tail.copy(secretByteCount..<tail.count))
            return (message.number, .define(index, password: password, record: record))
        case .readIndex(let index):
            guard let index = TPMIndex(index), tail.count == secretByteCount else { return nil }
            return (message.number, .read(index, password: SharedSecret(tail.copy())))
        case .undefineIndex(let index):
            guard let index = TPMIndex(index), tail.count == 0 else { return nil }
            return (message.number, .undefine(index))
        case .storageKeyOfTpm(let text):
            guard let address = TPMAddress(text), tail.count == 0 else { return nil }
            return (message.number, .storageKey(address))
        case .defineCounter(let index):
            guard let index = TPMIndex(index), tail.count == secretByteCount else { return nil }
            return (message.number, .defineCounter(index, password: SharedSecret(tail.copy())))
        case .readCounter(let index):
            guard let index = TPMIndex(index), tail.count == secretByteCount else { return nil }
            return (message.number, .readCounter(index, password: SharedSecret(tail.copy())))
        case .raiseCounter(let raise):
            guard let index = TPMIndex(raise.index), let patience = patience(raise.milliseconds),
                tail.count == secretByteCount
            else { return nil }
            let password = SharedSecret(tail.copy())
            return (
                message.number, .raiseCounter(index, to: raise.target, password: password, patience: patience)
            )
        case .makeFido2(let make):
            // libfido2 takes the PIN as a C string.
            guard let address = FIDO2Address(make.address), let patience = patience(make.milliseconds),
                tail.count <= FIDO2Credential.longestPIN, unsafe tail.withUnsafeBytes({ unsafe !$0.contains(0) })
            else { return nil }
            let pin = tail.count == 0 ? nil : SharedSecret(tail.copy())
            return (message.number, .makeCredential(address, pin: pin, patience: patience))
        case .askFido2(let ask):
            guard let sealed = SealedByFIDO2(ask.sealed), let patience = patience(ask.milliseconds), tail.count == 0
            else { return nil }
            let next = FIDO2Salt(Array(ask.nextSalt))
            guard next != nil || ask.nextSalt.isEmpty else { return nil }
            return (message.number, .secrets(sealed, next: next, patience: patience))
        case nil: return nil
        }
    }

    private static func milliseconds(_ patience: Duration) -> UInt32 {
        UInt32(clamping: Int64(max(.zero, patience) / .milliseconds(1)))
    }

    /// nil for none, and for more than an operation may take.
    private static func patience(_ milliseconds: UInt32) -> Duration? {
        let patience = Duration.milliseconds(Int64(milliseconds))
        return patience > .zero && patience < longestOperation ? patience : nil
    }

    package static func encode(_ answer: HardwareAnswer, number: UInt64) -> EncodedMessage {
        var message = Latchkey_HardwareReply()
        message.number = number
        var tail = SecretBytes(count: 0)
        switch answer {
        case .described(let tpm): message.tpm = Latchkey_HardwareReply.TPMDescription(tpm)
        case .sealed(let sealed): message.sealed = sealed.message
        case .unsealed(let secret):
            message.unsealed = true
            tail = secret.bytes.copy()
        case .refused: message.refused = true
        case .lockedOut(let text): message.lockedOut = cut(text)
        case .defined(let index): message.defined = index.message
        case .record(let record):
            message.record = true
            tail = record.bytes.copy()
        case .gone(let text): message.gone = cut(text)
        case .undefined: message.undefined = true
        case .count(let value): message.count = value
        case .storageKey(let key): message.storageKey = Data(key)
        case .made(let credential): message.made = credential.message
        case .secrets(let secret, let next):
            message.secrets = next == nil ? 1 : 2
            tail = next.map { SecretBytes(joining: secret.bytes, $0.bytes) } ?? secret.bytes.copy()
        case .failed(let text): message.failure = cut(text)
        }
        return EncodedMessage(header: message.wireBytes, tail: tail)
    }

    private static func cut(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestText)))
    }

    /// nil for anything that ``encode(_:number:)`` does not write.
    package static func decodeAnswer(
        header: [UInt8], tail: borrowing SecretBytes
    ) -> (number: UInt64, answer: HardwareAnswer)? {
        guard let message = decoded(Latchkey_HardwareReply.self, header) else { return nil }
        switch message.reply {
        case .failure(let text):
            guard tail.count == 0, text.unicodeScalars.count <= longestText else { return nil }
            return (message.number, .failed(text))
        case .tpm(let tpm):
            guard tail.count == 0, let tpm = TPMDescription(tpm) else { return nil }
            return (message.number, .described(tpm))
        case .sealed(let sealed):
            guard tail.count == 0, let sealed = SealedByTPM(sealed) else { return nil }
            return (message.number, .sealed(sealed))
        case .unsealed(true):
            guard tail.count == secretByteCount else { return nil }
            return (message.number, .unsealed(SharedSecret(tail.copy())))
        case .refused(true) where tail.count == 0: return (message.number, .refused)
        case .lockedOut(let text):
            guard tail.count == 0, text.unicodeScalars.count <= longestText else { return nil }
            return (message.number, .lockedOut(text))
        case .defined(let index):
            guard tail.count == 0, let index = TPMIndex(index) else { return nil }
            return (message.number, .defined(index))
        case .record(true):
            guard tail.count == recordByteCount else { return nil }
            return (message.number, .record(SharedSecret(tail.copy())))
        case .gone(let text):
            guard tail.count == 0, text.unicodeScalars.count <= longestText else { return nil }
            return (message.number, .gone(text))
        case .undefined(true) where tail.count == 0: return (message.number, .undefined)
        case .count(let value) where tail.count == 0: return (message.number, .count(value))
        case .storageKey(let key):
            guard tail.count == 0, (1...SealedByTPM.longestArea).contains(key.count) else { return nil }
            return (message.number, .storageKey(Array(key)))
        case .made(let credential):
            guard tail.count == 0, let credential = FIDO2Credential(credential) else { return nil }
            return (message.number, .made(credential))
        case .secrets(let count):
            guard (1...2).contains(count), tail.count == Int(count) * secretByteCount else { return nil }
            let next = count == 2 ? SharedSecret(tail.copy(secretByteCount..<tail.count)) : nil
            return (message.number, .secrets(SharedSecret(tail.copy(0..<secretByteCount)), next: next))
        case .unsealed(false), .refused, .record(false), .undefined, .count, nil: return nil
        }
    }
}

extension Latchkey_HardwareReply.TPMDescription {
    fileprivate init(_ tpm: TPMDescription) {
        self.init()
        manufacturer = tpm.manufacturer
        firmwareMajor = tpm.firmwareMajor
        firmwareMinor = tpm.firmwareMinor
        inLockout = tpm.isInLockout
        failedTries = tpm.failedTries
        mostTries = tpm.mostTries
        recoverySeconds = tpm.recoverySeconds
    }
}

extension TPMDescription {
    fileprivate init?(_ message: Latchkey_HardwareReply.TPMDescription) {
        guard message.manufacturer.utf8.count == 4, message.manufacturer.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else { return nil }
        self.init(
            manufacturer: message.manufacturer, firmwareMajor: message.firmwareMajor,
            firmwareMinor: message.firmwareMinor, isInLockout: message.inLockout, failedTries: message.failedTries,
            mostTries: message.mostTries, recoverySeconds: message.recoverySeconds)
    }
}
