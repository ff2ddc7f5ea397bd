import Foundation
import KeychainServices
import KeychainTesting
import Synchronization
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

    /// Foundation's own way to `Data` asks an object for its length once or more for each byte.
    @safe private final class AskedData: NSData {
        let times = Atomic(0)
        // As long as the test's process.
        private let place = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)

        override var length: Int {
            times.add(1, ordering: .relaxed)
            return unsafe place.count
        }

        override var bytes: UnsafeRawPointer {
            unsafe place.initializeMemory(as: UInt8.self, repeating: 7)
            return unsafe UnsafeRawPointer(place.baseAddress.unsafelyUnwrapped)
        }

        override func copy(with zone: NSZone? = nil) -> Any { self }
    }

    @Test(arguments: [false, true]) func aLongValueIsTakenAsAWhole(isMutable: Bool) throws {
        try keychain.withScope { () throws in
            let (added, changed) = (AskedData(), AskedData())
            func dictionary(_ values: [CFString: Any]) -> CFDictionary {
                guard isMutable else { return values as CFDictionary }
                let changing = NSMutableDictionary()
                for (key, value) in values { changing.setObject(value, forKey: key) }
                return changing
            }
            #expect(SecItemAdd(dictionary(item.merging([kSecValueData: added]) { $1 }), nil) == errSecSuccess)
            #expect(SecItemUpdate(with([:]), dictionary([kSecValueData: changed])) == errSecSuccess)
            #expect(added.times.load(ordering: .relaxed) < 100)
            #expect(changed.times.load(ordering: .relaxed) < 100)
            var result: CFTypeRef?
            #expect(unsafe SecItemCopyMatching(with([kSecReturnData: true]), &result) == errSecSuccess)
            #expect(result as? Data == Data(repeating: 7, count: 100_000))
        }
    }

    /// Bytes that come from a call are like any others, wherever they go.
    @Test func whatACallGivesIsData() throws {
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "data"]
        try keychain.withScope { () throws in
            for value in [Data(), Data([7]), Data((0..<5000).map { UInt8($0 % 251) })] {
                let item = query.merging([kSecValueData: value, kSecAttrGeneric: value as NSData]) { $1 }
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
                let wanted: [CFString: Any] = [kSecReturnData: true, kSecReturnAttributes: true]
                var result: CFTypeRef?
                #expect(unsafe SecItemCopyMatching(query.merging(wanted) { $1 } as CFDictionary, &result) == errSecSuccess)
                let found = try #require(result as? NSDictionary)
                let held = try #require(found[kSecValueData] as? NSData)
                #expect(held as Data == value && (found[kSecAttrGeneric] as? Data) == value)
                #expect(held.isEqual(value as NSData) && (value as NSData).isEqual(held) && held.hash == (value as NSData).hash)
                #expect(CFEqual(held, value as NSData) && CFGetTypeID(held) == CFDataGetTypeID())
                #expect(held.base64EncodedString(options: []) == value.base64EncodedString())
                #expect((held.copy() as? NSData) == held && (held.mutableCopy() as? NSMutableData)?.length == value.count)
                let archive = try NSKeyedArchiver.archivedData(withRootObject: held, requiringSecureCoding: true)
                #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSData.self, from: archive) == held)
                let list = try PropertyListSerialization.data(fromPropertyList: ["k": held], format: .binary, options: 0)
                let read = try unsafe PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Data]
                #expect(read?["k"] == value)
                // As a query again, and as a value.
                let same = query.merging([kSecAttrGeneric: held]) { $1 } as CFDictionary
                #expect(SecItemUpdate(same, [kSecValueData: held] as CFDictionary) == errSecSuccess)
                #expect(SecItemDelete(same) == errSecSuccess)
            }
        }
    }
}
