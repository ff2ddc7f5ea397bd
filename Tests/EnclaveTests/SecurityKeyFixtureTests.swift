import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What was ever bound to a security key opens for ever.
@Suite struct SecurityKeyFixtureTests {
    private static let name = "protectors-fido2"

    /// What is kept beside the files of the fixture.
    private struct Expected: Codable {
        /// What the key makes its secrets of.
        var key: [UInt8]
        var store: [UInt8]
        var indexKey: [UInt8]
    }

    /// Makes secrets as a function of the salt alone, as a security key does.
    private struct FixtureKey: HardwareDoor {
        let key: [UInt8]

        func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
            switch request {
            case .makeCredential:
                guard
                    let credential = FIDO2Credential(
                        relyingParty: FIDO2Credential.ourParty, name: Array(key.reversed()), product: "Key of a fixture"
                    )
                else { throw .failed("no credential") }
                return .made(credential)
            case .secrets(let sealed, let next, _):
                guard sealed.credential.name == Array(key.reversed()) else { throw .failed("another key's") }
                return .secrets(secret(sealed.salt), next: next.map(secret))
            case .describe, .seal, .unseal, .define, .read, .undefine, .storageKey, .defineCounter, .readCounter,
                .raiseCounter:
                throw .failed("no TPM")
            }
        }

        private func secret(_ salt: FIDO2Salt) -> SharedSecret {
            SharedSecret(KeyDerivation.derive(from: SecretBytes(copying: key + salt.bytes), purpose: "fixture"))
        }
    }

    @Test func anOldProtectorOfASecurityKeyOpens() throws {
        let fixture = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(Self.name)")
        let expected = try JSONDecoder().decode(
            Expected.self, from: Data(contentsOf: fixture.appending(path: "expected.json")))
        let home = try EnclaveHome()
        _ = try PrivateDirectory(home.path(""), creating: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: fixture.path) where file != "expected.json" {
            try home.write(file, Array(try Data(contentsOf: fixture.appending(path: file))))
        }
        let enclave = try InProcessEnclave(
            dataDirectory: home.dataDirectory, expecting: .named(expected.store),
            hardware: FixtureKey(key: expected.key))
        #expect(enclave.indexBytes == expected.indexKey)
        enclave.close()
        // Another key's secret opens nothing.
        #expect(throws: KeychainError.self) {
            _ = try InProcessEnclave(
                dataDirectory: home.dataDirectory, expecting: .named(expected.store),
                hardware: FixtureKey(key: expected.key.reversed()))
        }
    }

    /// Run once for each new form: LATCHKEY_WRITE_KEY_FIXTURE=1.
    @Test(.enabled(if: ProcessEnvironment.variable("LATCHKEY_WRITE_KEY_FIXTURE") != nil, "writes a new fixture"))
    func writeFixture() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(Self.name)")
        try FileManager.default.createDirectory(at: fixture, withIntermediateDirectories: true)
        let key = FixtureKey(key: Random.bytes(32))
        let scene = try HardwareScene(key)
        _ = try scene.opened()
        _ = try scene.door().addProtector(.plugged, pin: nil, passcode: nil)
        try scene.remove("software-file")
        let files = try scene.home.contents()
        for (file, bytes) in files { try Data(bytes).write(to: fixture.appending(path: file)) }
        let copy = try EnclaveHome()
        _ = try PrivateDirectory(copy.path(""), creating: true)
        for (file, bytes) in files { try copy.write(file, bytes) }
        let enclave = try InProcessEnclave(dataDirectory: copy.dataDirectory, expecting: .anyOrNew, hardware: key)
        let expected = Expected(key: key.key, store: enclave.storeID, indexKey: enclave.indexBytes)
        enclave.close()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(expected).write(to: fixture.appending(path: "expected.json"))
    }
}
