internal import KeychainCrypto
internal import KeychainPlatform
internal import MessageBus

/// How values travel between one client and us, from OpenSession until it closes or its
/// connection ends.
struct TransferSession: Sendable {
    enum Kind: Sendable {
        case plain
        case encrypted(SessionCipher)
    }

    let path: ObjectPath
    /// Whose it is: the name of a connection.
    let owner: String
    let kind: Kind
    /// Higher than that of any that was used before.
    var lastUse: UInt64

    /// A value as it came with CreateItem or SetSecret.
    func value(_ secret: TransferredSecret) throws(BusError) -> SharedSecret {
        switch kind {
        case .plain:
            // What has some was encrypted for another session: it would be kept as the secret itself.
            guard secret.parameters.bytes.count == 0 else { throw Self.notForThis }
            return secret.value
        case .encrypted(let cipher):
            do throws(CryptoError) {
                return SharedSecret(
                    try cipher.decrypt(secret.value.bytes, vector: secret.parameters.bytes.insecureArray()))
            } catch { throw Self.notForThis }
        }
    }

    private static let notForThis = BusError(.invalidArguments, "the secret is not as this session transfers it")

    /// (oayays)
    func secret(_ value: SharedSecret, contentType: String) throws(BusError) -> BusValue {
        let (parameters, bytes): (SharedSecret, SharedSecret)
        switch kind {
        case .plain: (parameters, bytes) = (SharedSecret(SecretBytes(count: 0)), value)
        case .encrypted(let cipher):
            let vector = Random.bytes(SessionCipher.vectorByteCount)
            do throws(CryptoError) {
                (parameters, bytes) = (
                    SharedSecret(SecretBytes(copying: vector)),
                    SharedSecret(try cipher.encrypt(value.bytes, vector: vector))
                )
            } catch { throw BusError(.noMemory, "there is no memory for the secret") }
        }
        return .structure([.path(path), .bytes(parameters), .bytes(bytes), .string(contentType)])
    }
}

/// (oayays): a session's path, its parameters, the value, its content type.
struct TransferredSecret {
    static let signature = "(oayays)"

    let session: ObjectPath
    let parameters: SharedSecret
    let value: SharedSecret
    let contentType: String

    init?(_ value: BusValue) {
        guard value.signature == Self.signature, let members = value.members, members.count == 4,
            let session = members[0].objectPath, let parameters = members[1].secret, let bytes = members[2].secret,
            let contentType = members[3].text
        else { return nil }
        (self.session, self.parameters, self.value, self.contentType) = (session, parameters, bytes, contentType)
    }
}
