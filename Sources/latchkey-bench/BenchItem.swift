import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices

/// The items of a benchmark, and the calls made on them. A thousand share a service.
enum BenchItem {
    static let perService = 1000

    static func service(_ index: Int) -> String { "bench \(index / perService)" }
    static func account(_ index: Int) -> String { "item \(index)" }
    /// One that is not there yet, about as long as the others: the floor stores rows of their sizes.
    static func freshAccount() -> String { "item \(UInt64.random(in: 0..<1 << 40))" }

    private static func value() -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array("correct horse battery".utf8)))
    }

    static func add(_ index: Int) -> KeychainRequest { add(service(index), account(index)) }

    static func add(_ service: String, _ account: String, group: String? = nil) -> KeychainRequest {
        var pairs: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string(service)), ("acct", .string(account)), ("v_Data", .secret),
        ]
        if let group { pairs.append(("agrp", .string(group))) }
        return KeychainRequest(.add, query: QueryDictionary(pairs), value: value())
    }

    /// - Parameter returning: `r_Data` or `r_Attributes`.
    static func read(_ index: Int, returning: String) -> KeychainRequest {
        read(service(index), account(index), returning: returning)
    }

    static func missing(_ index: Int) -> KeychainRequest {
        read(service(index), account(index) + " missing", returning: "r_Attributes")
    }

    private static func read(_ service: String, _ account: String, returning: String) -> KeychainRequest {
        let pairs: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string(service)), ("acct", .string(account)),
            (returning, .bool(true)),
        ]
        return KeychainRequest(.copy, query: QueryDictionary(pairs))
    }

    /// Every item of the first service, with values.
    static let readAll = KeychainRequest(
        .copy,
        query: QueryDictionary([
            ("class", .string("genp")), ("svce", .string(service(0))), ("r_Data", .bool(true)),
            ("m_Limit", .string("m_LimitAll")),
        ]))

    static func deleteAll(_ service: String) -> KeychainRequest {
        KeychainRequest(.delete, query: QueryDictionary([("class", .string("genp")), ("svce", .string(service))]))
    }

    /// Items in an order that has nothing to do with where they lie.
    static func scattered(_ index: Int, of items: Int) -> Int { index &* 7919 % items }

    /// The value through the C-shaped door, as a program asks for it.
    static func readThroughDoor(_ index: Int) throws {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service(index), kSecAttrAccount: account(index),
            kSecReturnData: true,
        ]
        var result: CFTypeRef?
        guard unsafe SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, result != nil else {
            throw BenchFailure("SecItemCopyMatching")
        }
    }
}
