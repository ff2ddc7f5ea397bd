import Foundation
import KeychainServices
import KeychainTesting
import Testing

/// What goes through the C-shaped door, and what does not.
@Suite struct DoorTests {
    private let keychain: TestKeychain
    private let item: [CFString: Any] = [kSecClass: kSecClassInternetPassword, kSecAttrServer: "example.com"]

    init() throws { keychain = try TestKeychain() }

    private func with(_ more: [CFString: Any]) -> CFDictionary { item.merging(more) { $1 } as CFDictionary }

    /// The memory holds what is no object: a call that released it would crash.
    @Test func aResultGoesIntoUninitializedMemory() throws {
        try keychain.withScope { () throws in
            let given = with([kSecValueData: Data("v".utf8)])
            #expect(SecItemAdd(given, nil) == errSecSuccess)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
            unsafe memory.storeBytes(of: 0x4141_4141_4141_4141, as: UInt64.self)
            let result = unsafe memory.assumingMemoryBound(to: CFTypeRef?.self)
            #expect(unsafe SecItemCopyMatching(with([kSecReturnData: true]), result) == errSecSuccess)
            let found = unsafe result.move()
            unsafe memory.deallocate()
            #expect(try #require(found as? Data) == Data("v".utf8))
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aDateThatIsNoMomentIsRefused(_ seconds: Double) {
        keychain.withScope {
            let date = [kSecAttrCreationDate: Date(timeIntervalSinceReferenceDate: seconds)]
            #expect(SecItemAdd(with(date), nil) == errSecParam)
            #expect(SecItemAdd(with([:]), nil) == errSecSuccess)
            #expect(SecItemUpdate(with([:]), date as CFDictionary) == errSecParam)
            #expect(SecItemCopyMatching(with(date), nil) == errSecParam)
        }
    }

    /// It would come back as -1, and be found as it.
    @Test func aNumberAboveTheKeychainsIsRefused() {
        keychain.withScope {
            for number in [UInt64.max, UInt64(Int64.max) + 1] {
                #expect(SecItemAdd(with([kSecAttrCreator: number]), nil) == errSecParam)
                #expect(SecItemAdd(with([kSecAttrAccount: number]), nil) == errSecParam)
            }
            #expect(SecItemAdd(with([kSecAttrCreator: UInt64(Int64.max)]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(with([kSecAttrCreator: Int64.max]), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(with([kSecAttrCreator: -1]), nil) == errSecItemNotFound)
        }
    }
}
