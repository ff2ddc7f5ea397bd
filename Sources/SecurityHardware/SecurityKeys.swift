internal import KeychainPlatform
internal import KeychainProtocol

/// The security keys that are plugged in, for one question.
///
/// Which of them is meant shows by which knows the credential: the kernel's number for a
/// key is another one whenever it is plugged in. Only that one waits for a touch.
struct SecurityKeys {
    private let deadline: Deadline

    init(_ patience: Duration) { deadline = Deadline(after: patience, on: SystemClock()) }

    func makeCredential(
        at address: FIDO2Address, pin: SharedSecret?
    ) throws(SecurityKey.Failure) -> FIDO2Credential {
        let place = try one(address)
        let key = try SecurityKey(at: place, until: deadline)
        try key.requireSecrets(until: deadline)
        return try key.makeCredential(pin: pin, product: place.product, until: deadline)
    }

    func secrets(
        of sealed: SealedByFIDO2, next: FIDO2Salt?
    ) throws(SecurityKey.Failure) -> (SharedSecret, next: SharedSecret?) {
        var refusal: SecurityKey.Failure?
        for place in try present() {
            do throws(SecurityKey.Failure) {
                let key = try SecurityKey(at: place, until: deadline)
                guard try key.knows(sealed.credential, until: deadline) else { continue }
                return try key.secrets(of: sealed, next: next, until: deadline)
            } catch { refusal = refusal ?? error }
        }
        throw refusal ?? .init("no security key that is plugged in is the one: it is another one, or was reset")
    }

    private func present() throws(SecurityKey.Failure) -> [SecurityKey.Place] {
        let places = try SecurityKey.plugged()
        guard !places.isEmpty else { throw .init("no security key is plugged in") }
        return places
    }

    private func one(_ address: FIDO2Address) throws(SecurityKey.Failure) -> SecurityKey.Place {
        let places = try present()
        switch address {
        case .plugged:
            guard let first = places.first, places.count == 1 else {
                let names = places.map { "\($0.path) (\($0.product))" }.joined(separator: ", ")
                throw .init("several security keys are plugged in: \(names); say which with --at")
            }
            return first
        case .device(let path):
            guard let place = places.first(where: { $0.path == path }) else {
                throw .init("there is no security key at \(path)")
            }
            return place
        }
    }
}
