#if DEBUG
    internal import KeychainModel
    internal import KeychainPlatform
    internal import KeychainProtocol
    @testable internal import KeychainService

    extension FuzzTarget {
        /// What the secret seal of a row holds.
        static let payload = FuzzTarget("payload", seeds: { PayloadSeeds.all }) { bytes throws(Finding) in
            guard let again = reencoded(bytes) else { return }
            try claim(again == bytes, "accepted bytes that are not its encoding")
        }
    }

    private enum PayloadSeeds {
        static let all: [[UInt8]] = {
            var extras = AttributeMap()
            extras.append("binn", .data([1, 2, 3]))
            extras.append("bin0", .data([]))
            let value = SharedSecret(SecretBytes(copying: [7, 7]))
            return [
                encoded(SecretPayload(extras: extras, value: value)),
                encoded(SecretPayload(extras: extras, value: nil)),
                encoded(SecretPayload(extras: AttributeMap(), value: SharedSecret(SecretBytes(count: 0)))),
            ]
        }()
    }

    /// nil where they are no payload.
    private func reencoded(_ bytes: [UInt8]) -> [UInt8]? {
        do throws(KeychainError) {
            guard let payload = try SecretPayload(encoded: SecretBytes(copying: bytes)) else { return nil }
            return encoded(payload)
        } catch { return nil }
    }

    /// Empty where there is no memory, which is not what is looked for here.
    private func encoded(_ payload: borrowing SecretPayload) -> [UInt8] {
        do throws(KeychainError) { return try payload.encoded().insecureArray() } catch { return [] }
    }
#endif
