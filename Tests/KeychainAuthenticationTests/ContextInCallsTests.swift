import Foundation
import KeychainAuthentication
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices
import Testing

/// kSecUseAuthenticationContext in the four calls.
@Suite struct ContextInCallsTests {
    private func dictionary(_ context: Any, _ more: [CFString: Any] = [:]) -> CFDictionary {
        let base: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecUseAuthenticationContext: context,
        ]
        return base.merging(more) { $1 } as CFDictionary
    }

    private func within(_ keychain: ScriptedKeychain, _ body: () throws -> Void) rethrows {
        try CurrentKeychain.$scoped.withValue(keychain, operation: body)
    }

    @Test func everyCallGoesThroughItsContext() throws {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            let context = LAContext()
            #expect(SecItemAdd(dictionary(context, [kSecValueData: Data("v".utf8)]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(dictionary(context), nil) == errSecSuccess)
            #expect(SecItemUpdate(dictionary(context), [kSecAttrLabel: "l"] as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(dictionary(context)) == errSecSuccess)
        }
        let session = try #require(keychain.sessions.first)
        #expect(keychain.sessions.count == 1 && keychain.plain.isEmpty)
        #expect(session.requests.map(\.operation) == [.add, .copy, .update, .delete])
        for request in session.requests {
            #expect(request.query["u_AuthCtx"] == .foreign(type: "<LAContext>"))
            #expect(request.query.entries.count == 3 + (request.operation == .add ? 1 : 0))
        }
        #expect(session.requests.first?.value?.bytes.insecureArray() == Array("v".utf8))
    }

    @Test(arguments: ["NSString", "NSDictionary", "[String: AnyHashable]", "AnyHashable"])
    func theObjectIsFoundHoweverItIsBoxed(_ kind: String) {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            let context = LAContext()
            let query: CFDictionary =
                switch kind {
                case "NSString": [kSecUseAuthenticationContext: context] as [NSString: Any] as CFDictionary
                case "NSDictionary": NSDictionary(object: context, forKey: kSecUseAuthenticationContext)
                case "AnyHashable":
                    [kSecUseAuthenticationContext: AnyHashable(context)] as [CFString: Any] as CFDictionary
                default:
                    [kSecUseAuthenticationContext as String: context] as [String: AnyHashable] as CFDictionary
                }
            SecItemCopyMatching(query, nil)
        }
        #expect(keychain.sessions.map(\.requests.count) == [1] && keychain.plain.isEmpty)
    }

    @Test func callsWithoutAContextDoNot() {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            SecItemCopyMatching([kSecClass: kSecClassGenericPassword] as CFDictionary, nil)
        }
        #expect(keychain.sessions.isEmpty && keychain.plain.count == 1)
    }

    /// An object of a class that is called LAContext too.
    final class Other {
        final class LAContext: NSObject {}
    }

    @Test(arguments: [0, 1, 2, 3])
    func anotherObjectIsRefusedAsAParameter(_ which: Int) throws {
        let objects: [Any] = [NSObject(), "<LAContext>", NSNull(), Other.LAContext()]
        let keychain = ScriptedKeychain(.init())
        within(keychain) { SecItemCopyMatching(dictionary(objects[which]), nil) }
        let query = try #require(keychain.plain.first?.query)
        #expect(keychain.sessions.isEmpty)
        let error = #expect(throws: KeychainError.self) {
            try QueryParser.parse(query, for: .copy, entitlements: Entitlements())
        }
        #expect(error == .parameter(.malformed(key: "kSecUseAuthenticationContext")))
    }

    @Test func beforeTheParserItIsOneThing() throws {
        let alone = QueryDictionary([("class", .string("genp")), ("u_AuthCtx", .authenticationContext)])
        _ = try QueryParser.parse(alone, for: .copy, entitlements: Entitlements())
        var both = alone
        both.append(.text("u_CredRef"), .data([1]))
        let error = #expect(throws: KeychainError.self) {
            try QueryParser.parse(both, for: .copy, entitlements: Entitlements())
        }
        #expect(error == .parameter(.notAllowedHere(key: "kSecUseCredentialReference")))
    }

    @Test func whoMayNotAskFailsAsByTheDictionary() throws {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            let context = LAContext()
            context.interactionNotAllowed = true
            SecItemCopyMatching(dictionary(context), nil)
            SecItemCopyMatching(dictionary(context, [kSecUseNoAuthenticationUI: false]), nil)
            SecItemCopyMatching(
                dictionary(context, [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]), nil)
        }
        let requests = try #require(keychain.sessions.first?.requests)
        let parsed = try requests.map { try QueryParser.parse($0.query, for: .copy, entitlements: Entitlements()) }
        #expect(parsed.map(\.interaction) == [.failed, .failed, .skipped])
    }

    @Test func theDictionarysPromptGoesBeforeTheContexts() throws {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            let context = LAContext()
            context.localizedReason = "context"
            SecItemCopyMatching(dictionary(context), nil)
            SecItemCopyMatching(dictionary(context, [kSecUseOperationPrompt: "call"]), nil)
        }
        let requests = try #require(keychain.sessions.first?.requests)
        #expect(requests.map { $0.query["u_OpPrompt"] } == [.string("context"), .string("call")])
    }

    @Test func anInvalidContextFailsTheCall() {
        let keychain = ScriptedKeychain(.init())
        within(keychain) {
            let context = LAContext()
            context.invalidate()
            #expect(SecItemCopyMatching(dictionary(context), nil) == errSecAuthFailed)
        }
        #expect(keychain.sessions.isEmpty && keychain.plain.isEmpty)
    }

    @Test func whereNoSessionOpensNothingIsAskedWithoutIt() {
        let keychain = ScriptedKeychain()
        within(keychain) {
            #expect(SecItemCopyMatching(dictionary(LAContext()), nil) == errSecNotAvailable)
        }
        #expect(keychain.plain.isEmpty)
    }
}
