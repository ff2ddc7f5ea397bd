@_implementationOnly import CLatchkeyTPM
internal import KeychainPlatform
internal import KeychainProtocol

/// A TPM 2.0, through tpm2-tss (ESAPI). Every call is a connection of its own and may
/// block for as long as the device likes.
///
/// What is sealed is bound to this TPM and its owner's seed: no PCR, so that no update of
/// the firmware takes it away; and no password, so that no count of wrong ones does,
/// unless one is given. The machine's lockout parameters are read and never changed. The session is salted to
/// the storage key and encrypts the secret in both directions, because a separate
/// chip's bus can be listened to.
struct TPM {
    let address: TPMAddress

    /// What the device or the library said, and in which step.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        private let code: UInt32

        /// It was sealed with another password.
        var isWrongPassword: Bool { code == LK_TPM_WRONG }
        var isLockout: Bool { code == LK_TPM_LOCKED_OUT }
        /// What was written there is no more: the right TPM says so.
        var isGone: Bool { code == LK_TPM_GONE }

        fileprivate init(_ code: UInt32, _ step: UnsafePointer<CChar>?) {
            self.code = code
            let text = unsafe String(cString: lk_tpm_text(code))
            let name = unsafe step.map { unsafe String(cString: $0) } ?? ""
            description = name.isEmpty ? text : "\(text) (\(name))"
        }
    }

    func describe() throws(Failure) -> TPMDescription {
        var found = lk_tpm_description()
        try unsafe withTPM { tpm, step in unsafe lk_tpm_describe(tpm, &found, &step) }
        let maker = unsafe withUnsafeBytes(of: &found.manufacturer) {
            unsafe String(decoding: $0.prefix(4), as: UTF8.self)
        }
        return TPMDescription(
            manufacturer: maker, firmwareMajor: found.firmware_major, firmwareMinor: found.firmware_minor,
            isInLockout: found.in_lockout != 0, failedTries: found.failed_tries, mostTries: found.most_tries,
            recoverySeconds: found.recovery_seconds)
    }

    /// When it looks at passwords again, in words.
    var endOfLockout: String {
        do throws(Failure) {
            let seconds = try describe().recoverySeconds
            return seconds == 0 ? "its owner has to reset it" : "it forgets one each \(seconds) seconds"
        } catch { return "it does not say for how long" }
    }

    /// - Parameter password: what the TPM wants to see before it gives the secret back, and
    ///   counts where it is wrong; nil: nothing.
    /// - Precondition: 32 bytes, both.
    func seal(_ secret: borrowing SecretBytes, password: SharedSecret?) throws(Failure) -> SealedByTPM? {
        precondition(secret.count == HardwareProtocol.secretByteCount)
        var sealed = lk_tpm_sealed()
        try unsafe withTPM { tpm, step in
            unsafe secret.withUnsafeBytes { bytes in
                unsafe Self.lending(password) { password in
                    unsafe lk_tpm_seal(tpm, bytes.bindMemory(to: UInt8.self).baseAddress, password, &sealed, &step)
                }
            }
        }
        return SealedByTPM(
            address: address, storageKey: Self.bytes(sealed.parent), publicArea: Self.bytes(sealed.public_area),
            privateArea: Self.bytes(sealed.private_area))
    }

    func unseal(_ sealed: SealedByTPM, password: SharedSecret?) throws(Failure) -> SharedSecret {
        var areas = lk_tpm_sealed()
        areas.parent = Self.area(sealed.storageKey)
        areas.public_area = Self.area(sealed.publicArea)
        areas.private_area = Self.area(sealed.privateArea)
        var secret = SecretBytes(count: HardwareProtocol.secretByteCount)
        try unsafe withTPM { tpm, step in
            unsafe secret.withUnsafeMutableBytes { bytes in
                unsafe Self.lending(password) { password in
                    unsafe lk_tpm_unseal(
                        tpm, &areas, password, bytes.bindMemory(to: UInt8.self).baseAddress, &step)
                }
            }
        }
        return SharedSecret(secret)
    }

    // MARK: A record in an NV index

    /// By which it is known again.
    func storageKey() throws(Failure) -> [UInt8] {
        var area = lk_tpm_area()
        try unsafe withTPM { tpm, step in unsafe lk_tpm_storage_key(tpm, &area, &step) }
        return Self.bytes(area)
    }

    /// Defines the index and writes the record, in the TPM that has its storage key, for as
    /// long as somebody waits for it. Only reading it shows that it is whole, and only
    /// ``undefine(_:)`` after a failure that there is none.
    ///
    /// - Parameter asker: a socket whose other end whoever waits holds open.
    /// - Precondition: 32 and 92 bytes.
    func define(
        _ index: TPMIndex, password: SharedSecret, record: SharedSecret, for asker: Descriptor
    ) throws(Failure) {
        precondition(record.bytes.count == HardwareProtocol.recordByteCount)
        var named = Self.named(index)
        var storageKey = Self.area(index.storageKey)
        try unsafe withTPM { tpm, step in
            unsafe record.bytes.withUnsafeBytes { bytes in
                unsafe Self.lending(password) { password in
                    unsafe lk_tpm_define(
                        tpm, &named, &storageKey, password, bytes.bindMemory(to: UInt8.self).baseAddress, asker.raw,
                        &step)
                }
            }
        }
    }

    /// - Throws: also where it is gone (``Failure/isGone``).
    func read(_ index: TPMIndex, password: SharedSecret) throws(Failure) -> SharedSecret {
        var named = Self.named(index)
        var storageKey = Self.area(index.storageKey)
        var record = SecretBytes(count: HardwareProtocol.recordByteCount)
        try unsafe withTPM { tpm, step in
            unsafe record.withUnsafeMutableBytes { bytes in
                unsafe Self.lending(password) { password in
                    unsafe lk_tpm_read(
                        tpm, &named, &storageKey, password, bytes.bindMemory(to: UInt8.self).baseAddress, &step)
                }
            }
        }
        return SharedSecret(record)
    }

    /// - Throws: also where it is gone (``Failure/isGone``).
    func undefine(_ index: TPMIndex) throws(Failure) {
        var named = Self.named(index)
        var storageKey = Self.area(index.storageKey)
        try unsafe withTPM { tpm, step in unsafe lk_tpm_undefine(tpm, &named, &storageKey, &step) }
    }

    // MARK: A counter

    /// As ``define(_:password:record:for:)``; returns what it has at first.
    func defineCounter(_ index: TPMIndex, password: SharedSecret, for asker: Descriptor) throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        try unsafe withCounter(index, password) { tpm, named, storageKey, password, step in
            unsafe lk_tpm_define_counter(tpm, &named, &storageKey, password, asker.raw, &value, &step)
        }
        return value
    }

    /// - Throws: also where it is gone (``Failure/isGone``).
    func readCounter(_ index: TPMIndex, password: SharedSecret) throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        try unsafe withCounter(index, password) { tpm, named, storageKey, password, step in
            unsafe lk_tpm_read_counter(tpm, &named, &storageKey, password, &value, &step)
        }
        return value
    }

    /// Counts once where that brings it to `target`, for as long as somebody waits for it.
    ///
    /// - Parameter patience: how long a TPM may put it off.
    /// - Returns: what it has then, whatever that is.
    /// - Throws: also where it is gone (``Failure/isGone``).
    func raiseCounter(
        _ index: TPMIndex, to target: UInt64, password: SharedSecret, patience: Duration, for asker: Descriptor
    ) throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        let milliseconds = UInt32(clamping: Int64(patience / .milliseconds(1)))
        try unsafe withCounter(index, password) { tpm, named, storageKey, password, step in
            unsafe lk_tpm_raise_counter(
                tpm, &named, &storageKey, password, target, milliseconds, asker.raw, &value, &step)
        }
        return value
    }

    private func withCounter(
        _ index: TPMIndex, _ password: SharedSecret,
        _ body: (
            OpaquePointer, inout lk_tpm_index, inout lk_tpm_area, UnsafePointer<UInt8>?, inout UnsafePointer<CChar>?
        ) -> UInt32
    ) throws(Failure) {
        var named = Self.named(index)
        var storageKey = Self.area(index.storageKey)
        try unsafe withTPM { tpm, step in
            unsafe Self.lending(password) { password in unsafe body(tpm, &named, &storageKey, password, &step) }
        }
    }

    private static func named(_ index: TPMIndex) -> lk_tpm_index {
        var named = lk_tpm_index()
        named.handle = index.handle
        unsafe withUnsafeMutableBytes(of: &named.label) { place in unsafe place.copyBytes(from: index.label) }
        return named
    }

    private func withTPM(
        _ body: (OpaquePointer, inout UnsafePointer<CChar>?) -> UInt32
    ) throws(Failure) {
        let (module, configuration) =
            switch address {
            case .device(let path): ("device", path)
            case .socket(let path): ("swtpm", "path=\(path)")
            }
        var tpm: OpaquePointer?
        var step: UnsafePointer<CChar>?
        var code = unsafe lk_tpm_open(module, configuration, &tpm, &step)
        guard code == 0, let tpm = unsafe tpm else { throw unsafe Failure(code, step) }
        defer { unsafe lk_tpm_close(tpm) }
        code = unsafe body(tpm, &step)
        guard code == 0 else { throw unsafe Failure(code, step) }
    }

    private static func lending(
        _ password: SharedSecret?, _ body: (UnsafePointer<UInt8>?) -> UInt32
    ) -> UInt32 {
        guard let password else { return body(nil) }
        precondition(password.bytes.count == HardwareProtocol.secretByteCount)
        return unsafe password.bytes.withUnsafeBytes { bytes in
            unsafe body(bytes.bindMemory(to: UInt8.self).baseAddress)
        }
    }

    private static func bytes(_ area: lk_tpm_area) -> [UInt8] {
        unsafe withUnsafeBytes(of: area.bytes) { unsafe Array($0.prefix(Int(area.count))) }
    }

    /// - Precondition: ``SealedByTPM`` has no longer ones.
    private static func area(_ bytes: [UInt8]) -> lk_tpm_area {
        var area = lk_tpm_area()
        unsafe withUnsafeMutableBytes(of: &area.bytes) { place in unsafe place.copyBytes(from: bytes) }
        area.count = UInt16(bytes.count)
        return area
    }
}
