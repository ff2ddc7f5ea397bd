@_implementationOnly import CLatchkeyFIDO
internal import KeychainPlatform
internal import KeychainProtocol

/// One FIDO2 security key, through libfido2, as long as this value lives.
///
/// No PIN is sent but where a credential is made: a start has nobody to type it. With
/// and without one a key makes different secrets (CTAP 2.1, 12.5), so that is settled for
/// good. What goes over the bus is encrypted for this exchange (ECDH with the key).
@safe struct SecurityKey: ~Copyable {
    private nonisolated(unsafe) let key: OpaquePointer
    let name: String

    /// Why, in words; which key where there are several.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    struct Place {
        let path: String
        /// Printable ASCII; may be empty.
        let product: String

        fileprivate init(_ place: lk_fido_place) {
            var place = place
            path = Self.text(&place.path)
            product = Self.text(&place.product)
        }

        private static func text<Bytes>(_ bytes: inout Bytes) -> String {
            unsafe withUnsafeBytes(of: &bytes) { bytes in
                let printable = unsafe bytes.prefix { $0 != 0 }.filter { (0x20..<0x7F).contains($0) }
                return String(decoding: printable, as: UTF8.self)
            }
        }
    }

    /// Those that are plugged in.
    static func plugged() throws(Failure) -> [Place] {
        var places = [lk_fido_place](repeating: lk_fido_place(), count: mostPlaces)
        let count = unsafe lk_fido_list(&places, Int32(places.count))
        guard count >= 0 else { throw Failure("the security keys of this machine cannot be listed") }
        return places.prefix(Int(count)).map(Place.init)
    }

    private static let mostPlaces = 16
    /// What a key may take for anything but waiting for a person; they take some 100 ms. Of
    /// these an opening has two for the first key.
    private static let promptness: Duration = .seconds(1)

    init(at place: Place, until deadline: Deadline) throws(Failure) {
        var key: OpaquePointer?
        name = place.product.isEmpty ? place.path : "\(place.product) at \(place.path)"
        let limit = min(Self.promptness, deadline.remaining)
        let begun = SystemClock().monotonic
        let code = unsafe lk_fido_open(place.path, &key, Self.milliseconds(limit))
        guard code == 0, let opened = unsafe key else {
            guard SystemClock().monotonic - begun < limit else { throw Failure("\(name) gives no answer") }
            throw Self.failure(code, name)
        }
        unsafe self.key = opened
    }

    deinit { unsafe lk_fido_close(key) }

    /// - Throws: where it could not open a keychain without a person who types.
    func requireSecrets(until deadline: Deadline) throws(Failure) {
        var found = lk_fido_description()
        try unsafe promptly(deadline) { unsafe lk_fido_describe($0, &found) }
        guard found.has_hmac_secret != 0 else { throw Failure("\(name) makes no secrets (it has no hmac-secret)") }
        guard found.always_verifies == 0 else {
            throw Failure(
                "\(name) takes its PIN or a finger for everything (alwaysUv), which nobody gives when programs start")
        }
    }

    func makeCredential(
        pin: SharedSecret?, product: String, until deadline: Deadline
    ) throws(Failure) -> FIDO2Credential {
        var made = lk_fido_credential()
        let party = FIDO2Credential.ourParty
        if let pin {
            let text = SecretBytes(joining: pin.bytes, SecretBytes(count: 1))
            try unsafe withTouch(deadline) { key in
                unsafe text.withUnsafeBytes { pin in
                    unsafe lk_fido_make(key, party, pin.bindMemory(to: CChar.self).baseAddress, &made)
                }
            }
        } else {
            try unsafe withTouch(deadline) { unsafe lk_fido_make($0, party, nil, &made) }
        }
        let identifier = unsafe withUnsafeBytes(of: &made.bytes) { unsafe Array($0.prefix(Int(made.count))) }
        guard let credential = FIDO2Credential(relyingParty: party, name: identifier, product: product) else {
            throw Self.failure(LK_FIDO_ODD_ANSWER, name)
        }
        return credential
    }

    /// Whether it made that credential; waits for nobody.
    func knows(_ credential: FIDO2Credential, until deadline: Deadline) throws(Failure) -> Bool {
        var named = Self.named(credential)
        var code: Int32 = 0
        do throws(Failure) {
            try unsafe promptly(deadline) { key in
                unsafe code = lk_fido_knows(key, credential.relyingParty, &named)
                return code
            }
        } catch {
            guard Self.isForeign(code) else { throw error }
            return false
        }
        return true
    }

    func secrets(
        of sealed: SealedByFIDO2, next: FIDO2Salt?, until deadline: Deadline
    ) throws(Failure) -> (SharedSecret, next: SharedSecret?) {
        var named = Self.named(sealed.credential)
        let salts = sealed.salt.bytes + (next?.bytes ?? [])
        let count = next == nil ? 1 : 2
        var secrets = SecretBytes(count: count * HardwareProtocol.secretByteCount)
        try unsafe withTouch(deadline) { key in
            unsafe secrets.withUnsafeMutableBytes { place in
                unsafe lk_fido_secrets(
                    key, sealed.credential.relyingParty, &named, salts, Int32(count),
                    place.bindMemory(to: UInt8.self).baseAddress)
            }
        }
        let first = SharedSecret(secrets.copy(0..<HardwareProtocol.secretByteCount))
        return (
            first, next == nil ? nil : SharedSecret(secrets.copy(HardwareProtocol.secretByteCount..<secrets.count))
        )
    }

    // MARK: Calls

    private func promptly(_ deadline: Deadline, _ call: (OpaquePointer) -> Int32) throws(Failure) {
        let limit = min(Self.promptness, deadline.remaining)
        unsafe lk_fido_limit(key, Self.milliseconds(limit))
        let begun = SystemClock().monotonic
        let code = unsafe call(key)
        guard code != 0 else { return }
        guard SystemClock().monotonic - begun < limit else { throw Failure("\(name) gives no answer") }
        throw Self.failure(code, name)
    }

    private func withTouch(_ deadline: Deadline, _ call: (OpaquePointer) -> Int32) throws(Failure) {
        unsafe lk_fido_limit(key, Self.milliseconds(deadline.remaining))
        let code = unsafe call(key)
        guard code != 0 else { return }
        if deadline.hasPassed { unsafe lk_fido_cancel(key) }
        if deadline.hasPassed || Self.isUntouched(code) {
            throw Failure("nobody touched \(name): touch it while it blinks, and try again")
        }
        if code == Self.pinIsWrong {
            let tries = unsafe lk_fido_tries_left(key)
            throw Failure("that is not the PIN of \(name)\(tries < 0 ? "" : "; \(tries) tries are left")")
        }
        throw Self.failure(code, name)
    }

    private static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(clamping: Int64(duration / .milliseconds(1)))
    }

    private static func named(_ credential: FIDO2Credential) -> lk_fido_credential {
        var named = lk_fido_credential()
        unsafe withUnsafeMutableBytes(of: &named.bytes) { unsafe $0.copyBytes(from: credential.name) }
        named.count = UInt16(credential.name.count)
        return named
    }
}

// What a key says; the numbers are of CTAP 2.1, 8.2, those below zero of fido/err.h.
extension SecurityKey {
    /// CTAP2_ERR_PIN_INVALID.
    private static let pinIsWrong: Int32 = 0x31

    /// CTAP2_ERR_USER_ACTION_TIMEOUT, CTAP2_ERR_ACTION_TIMEOUT, CTAP2_ERR_KEEPALIVE_CANCEL.
    private static func isUntouched(_ code: Int32) -> Bool { [0x2F, 0x3A, 0x2D].contains(code) }

    /// CTAP2_ERR_INVALID_CREDENTIAL, CTAP2_ERR_NO_CREDENTIALS.
    private static func isForeign(_ code: Int32) -> Bool { [0x22, 0x2E].contains(code) }

    private static func failure(_ code: Int32, _ name: String) -> Failure {
        switch code {
        case LK_FIDO_ABSENT: return Failure("\(name) is not plugged in any more")
        case LK_FIDO_DENIED: return Failure("this user may not use \(name); udev's rules decide (70-u2f, uaccess)")
        case LK_FIDO_ODD_ANSWER: return Failure("\(name) answered what no security key answers")
        case LK_FIDO_OLD: return Failure("\(name) is no FIDO2 key: it knows U2F alone")
        case 0x22, 0x2E: return Failure("\(name) does not know this keychain: it is another key, or was reset")
        case 0x27: return Failure("\(name) refused")
        case 0x32: return Failure("the PIN of \(name) is blocked: only a reset helps, which destroys what it makes")
        case 0x34: return Failure("the PIN of \(name) was wrong too often: pull the key and plug it in again")
        case 0x36: return Failure("\(name) takes its PIN for this: `latchkey protector add fido2 --key-pin`")
        case -1, -2: return Failure("\(name) was pulled, or broke off")
        default: return unsafe Failure("\(name) does not do it (\(String(cString: lk_fido_text(code))))")
        }
    }
}
