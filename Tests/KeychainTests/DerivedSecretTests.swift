import KeychainDerivation
import Testing

@Suite struct DerivedSecretTests {
    private let salt = [UInt8](0..<16)
    private let cheap = DerivationCost(passes: 1, kibibytes: 64)

    /// Computed once with libsodium (pynacl) and the HKDF of Python's cryptography:
    /// another program must come to the same.
    @Test func itIsWhatItsDocumentationSays() throws {
        let derived = try Secret("correct horse").derived(
            for: "sync.example.com", salt: salt, cost: try #require(cheap))
        let hex = derived.insecureData.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == "2d871061b210cdc0e5d08ad9fb280bdce5be2e20efd4ecbec4f876a20b7f4e21")
    }

    @Test func everythingThatGoesInCounts() async throws {
        let cheap = try #require(cheap)
        let dear = try #require(DerivationCost(passes: 2, kibibytes: 64))
        let password = Secret("correct horse")
        let first = try await password.derived(for: "a", salt: salt, cost: cheap)
        let others = [
            try await Secret("another").derived(for: "a", salt: salt, cost: cheap),
            try await password.derived(for: "b", salt: salt, cost: cheap),
            try await password.derived(for: "a", salt: salt.reversed(), cost: cheap),
            try await password.derived(for: "a", salt: salt, cost: dear), password,
        ]
        for other in others { #expect(!first.isEqual(to: other)) }
        let again = try await password.derived(for: "a", salt: salt, cost: cheap)
        #expect(again.isEqual(to: first) && again.byteCount == 32)
    }

    @Test func costsHaveBounds() {
        #expect(DerivationCost(passes: 0, kibibytes: 64) == nil && DerivationCost(passes: 17, kibibytes: 64) == nil)
        #expect(
            DerivationCost(passes: 1, kibibytes: 7) == nil && DerivationCost(passes: 1, kibibytes: 2_000_000) == nil)
    }

    /// A salt comes from a server.
    @Test(arguments: [0, 15, 17]) func aSaltOfAnotherLengthIsRefused(_ count: Int) async throws {
        let salt = [UInt8](repeating: 1, count: count)
        await #expect(throws: KeychainError(.param, reason: .malformed(key: "the salt"))) {
            _ = try await Secret("password").derived(for: "x", salt: salt)
        }
    }
}
