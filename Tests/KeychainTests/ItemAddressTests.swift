import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Testing

/// The address of an item that any program stored leads to that item, and only there.
@Suite struct ItemAddressTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    private func add(_ itemClass: CFString, _ attributes: [CFString: Any]) {
        let given = attributes.merging([kSecClass: itemClass, kSecValueData: Data("old".utf8)]) { $1 }
        #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
    }

    private func leadsBack(_ item: Item) throws {
        let store = SecretStore()
        #expect(try store.item(at: item.address)?.reference == item.reference)
        #expect(try store.secret(for: item.address)?.insecureText == "old")
        #expect(try store.set(Secret("new"), for: item.address) == .replaced)
        #expect(try store.remove(item.address))
        // And what it stores where nothing is any more is such an item again.
        #expect(try store.set(Secret("again"), for: item.address) == .added)
        #expect(try store.item(at: item.address)?.address == item.address)
        #expect(try store.remove(item.address))
    }

    @Test(
        arguments: [
            [kSecAttrProtocol as String: 0x6874_7073], [kSecAttrProtocol as String: ""],
            [kSecAttrProtocol as String: Int64(1) << 40], [kSecAttrPort as String: "http"],
            [kSecAttrPort as String: 70000], [kSecAttrPort as String: -1], [kSecAttrPort as String: ""],
            [kSecAttrPort as String: 1.5], [kSecAttrAccount as String: 42], [kSecAttrAccount as String: 1.5],
            [kSecAttrAuthenticationType as String: 0x6466_6c74], [kSecAttrPath as String: Data("/x".utf8)],
            [kSecAttrSecurityDomain as String: Data([0xFF])], [kSecAttrPort as String: 8443],
        ] as [[String: any Sendable]])
    func theAddressOfAnInternetPasswordLeadsBack(_ attributes: [String: any Sendable]) throws {
        try keychain.withScope { () throws in
            let attributes = Dictionary(uniqueKeysWithValues: attributes.map { ($0.key as CFString, $0.value as Any) })
            // A neighbour, which is another item.
            try SecretStore().set(Secret("neighbour"), for: .internetPassword(server: "example.com"))
            add(kSecClassInternetPassword, attributes.merging([kSecAttrServer: "example.com"]) { $1 })
            let items = try SecretStore().items(.internetPasswords())
            #expect(items.count == 2 && items[0].address != items[1].address)
            try leadsBack(items[1])
            #expect(try SecretStore().items(.internetPasswords()).count == 1)
        }
    }

    @Test func aNumberAsAccountLeadsBack() throws {
        try keychain.withScope { () throws in
            try SecretStore().set(Secret("text"), for: .password(service: "s", account: "42"))
            add(kSecClassGenericPassword, [kSecAttrService: "s", kSecAttrAccount: 42])
            let item = try #require(try SecretStore().items(.passwords(service: "s")).last)
            #expect("\(item.address.account)" == "42" && item.address.account.string == nil)
            #expect(item.address != .password(service: "s", account: "42"))
            var query = ItemQuery.passwords(service: "s")
            query.account = item.address.account
            #expect(query.account == item.address.account)
            #expect(try SecretStore().items(query).map(\.reference) == [item.reference])
            try leadsBack(item)
            #expect(try SecretStore().secret(for: .password(service: "s", account: "42"))?.insecureText == "text")
        }
    }

    @Test func aPortThatIsSetTakesThePlaceOfWhatWasStored() throws {
        try keychain.withScope { () throws in
            add(kSecClassInternetPassword, [kSecAttrServer: "example.com", kSecAttrPort: "http", kSecAttrProtocol: 7])
            let item = try #require(try SecretStore().items(.internetPasswords()).first)
            guard case .internet(var address) = item.address.form else { return #expect(Bool(false)) }
            address.port = 80
            address.protocol = .http
            #expect(
                ItemAddress(.internet(address))
                    == .internetPassword(server: "example.com", port: 80, protocol: .http))
        }
    }

    // MARK: Bytes

    // Swift's `==` joins them; the keychain has an item for each.
    private let one = "\u{e9}"
    private let two = "e\u{301}"

    @Test func textsOfOtherBytesAreOthers() throws {
        try keychain.withScope { () throws in
            let store = SecretStore()
            let places = [one, two].map { ItemAddress.password(service: "s", account: $0) }
            for place in places { #expect(try store.set(Secret("x"), for: place) == .added) }
            #expect(places[0] != places[1] && Set(places).count == 2)
            #expect(Set(try store.items(.passwords()).map(\.address)) == Set(places))
        }
        #expect(ItemText(one).form != ItemText(two).form && ItemText(one) != ItemText(two))
        let (first, second) = (InternetProtocol(rawValue: one), InternetProtocol(rawValue: two))
        #expect(first != second && !(first == second) && Set([first, second]).count == 2)
        #expect(ItemAttributes(label: one) != ItemAttributes(label: two))
        #expect(Set([ItemAttributes(comment: one), ItemAttributes(comment: two)]).count == 2)
        #expect(ItemAttributes(kind: "k", generic: Data([1])) == ItemAttributes(kind: "k", generic: Data([1])))
        let vaults = [one, two].map { SecretVault($0, accessible: .whenUnlocked) }
        #expect(vaults[0] != vaults[1] && Set(vaults).count == 2)
    }

    @Test func queriesOfOtherBytesAreOthers() {
        var queries = [ItemQuery.passwords(), .passwords()]
        queries[0].label = one
        queries[1].label = two
        #expect(queries[0] != queries[1] && Set(queries).count == 2)
        queries[1].label = one
        #expect(queries[0] == queries[1])
    }

    @Test func theOrderOfConditionsIsNothing() {
        var (a, b) = (ItemQuery.passwords(service: "s"), ItemQuery.passwords())
        a.account = "x"
        a.label = "l"
        b.label = "l"
        b.account = ItemText(bytes: Array("x".utf8))
        #expect(a != b)
        b = .passwords(service: "s")
        b.label = "l"
        b.account = ItemText(bytes: Array("x".utf8))
        #expect(a == b && a.hashValue == b.hashValue)
        b.label = "L"
        #expect(a != b)
    }
}
