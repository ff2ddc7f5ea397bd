internal import Foundation
internal import KeychainTesting

/// The engine in this process, as KeychainTesting offers it.
final class InProcessKeychain: KeychainUnderTest {
    private let keychain: TestKeychain
    private var program: TestEntitlements

    init(_ context: CaseContext) throws {
        program = context.entitlements
        keychain = try TestKeychain(entitlements: program)
    }

    var now: Date { keychain.clock.now }

    func calling<R>(_ body: () throws -> R) throws -> R { try keychain.withScope(as: program, body) }

    func become(_ context: CaseContext) { program = context.entitlements }

    func corrupt(_ references: [Data]) throws { try keychain.insecureCorruptItems(references) }

    func corruptMetadataKey(of protection: String) throws {
        try keychain.insecureCorruptMetadataKey(of: protection as NSString)
    }

    func corruptDatabase() throws { try keychain.insecureCorruptDatabase() }

    func change(_ change: DeviceChange) throws {
        switch change {
        case .lock:
            // Locked is what comes after a first unlock, also where the device has just started.
            try keychain.unlock()
            try keychain.lock()
        case .unlock: try keychain.unlock()
        case .restart: try keychain.restartDevice()
        case .setPasscode: try keychain.setPasscode("0000")
        case .changePasscode: try keychain.setPasscode("another")
        case .removePasscode: try keychain.removePasscode()
        case .enrolBiometry: keychain.enrolBiometry()
        case .answer(let result): keychain.setAuthentication(try Self.authentication(result))
        }
    }

    private static func authentication(_ result: String) throws -> TestKeychain.Authentication {
        switch result {
        case "success": .success
        case "fail": .failure
        case "cancel": .cancel
        default: throw CorpusError("unknown result of an authentication: \(result)")
        }
    }

    /// A store that does not open is for the next call to find.
    func restart() {
        do throws(TestKeychainError) { try keychain.restart() } catch {}
    }

    func close() { keychain.close() }
}
