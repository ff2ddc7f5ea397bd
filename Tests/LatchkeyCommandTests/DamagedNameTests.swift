import Foundation
import KeychainClient
import KeychainServices
import KeychainTestSupport
import KeychainTesting
import Testing

@testable import LatchkeyCommand

/// A name whose item does not open must not lead to another item's secret.
@Suite struct DamagedNameTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    private func add(_ itemClass: CFString, _ name: CFString, _ account: String, _ value: String) {
        let given: [CFString: Any] = [
            kSecClass: itemClass, name: "both", kSecAttrAccount: account, kSecValueData: Data(value.utf8),
        ]
        #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
    }

    private func damage(_ account: String) throws {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "both", kSecAttrAccount: account,
        ]
        #expect(try keychain.insecureCorruptItems(matching: query as CFDictionary) == 1)
    }

    /// Twice: the first time the damage is found, the second time it is known.
    @Test(arguments: [["get", "both", "u"], ["get", "both"], ["rm", "both", "u"], ["info", "both", "u"]])
    func anotherKindIsNotTakenForIt(_ arguments: [String]) throws {
        try keychain.withScope { () throws in
            add(kSecClassGenericPassword, kSecAttrService, "u", "GENERIC")
            add(kSecClassInternetPassword, kSecAttrServer, "u", "INTERNET")
            try damage("u")
            let transport = try CurrentKeychain.transport()
            for _ in 0..<2 {
                let outcome = CommandRun(list: arguments, on: transport)
                #expect(outcome.status == .noMatch && outcome.text.isEmpty, "\(outcome.text)")
                #expect(outcome.notes.joined().contains("damaged"), "\(outcome.notes)")
            }
            // By its own kind the other one is there.
            #expect(CommandRun("get", "--internet", "both", "u", on: transport).text == "INTERNET")
        }
    }

    /// Also where it is the export that finds the damage.
    @Test func anExportLeavesItOutAndSaysSoEachTime() throws {
        try keychain.withScope { () throws in
            add(kSecClassGenericPassword, kSecAttrService, "u", "GENERIC")
            add(kSecClassGenericPassword, kSecAttrService, "v", "OTHER")
            try damage("u")
            let transport = try CurrentKeychain.transport()
            let folder = try TemporaryDirectory()
            for file in ["first", "second"] {
                let outcome = CommandRun(
                    list: ["export", "--insecure-plaintext", "--yes", "--json", folder.path(file)], on: transport)
                #expect(outcome.status == .done, "\(outcome.notes)")
                #expect(outcome.text.contains(#""items":1"#), "\(outcome.text)")
                #expect(outcome.notes.joined().contains("1 damaged item is set aside"), "\(outcome.notes)")
            }
        }
    }

    @Test func anItemWithoutDamageIsFetchedAsEver() throws {
        try keychain.withScope { () throws in
            add(kSecClassGenericPassword, kSecAttrService, "u", "GENERIC")
            add(kSecClassInternetPassword, kSecAttrServer, "v", "INTERNET")
            let transport = try CurrentKeychain.transport()
            #expect(CommandRun("get", "both", "u", on: transport).text == "GENERIC")
            #expect(CommandRun("get", "both", "v", on: transport).text == "INTERNET")
            #expect(CommandRun("get", "both", on: transport).text == "GENERIC")
            #expect(CommandRun("get", "both", "w", on: transport).status == .noMatch)
        }
    }
}
