import KeychainModel
import KeychainPlatform
import KeychainProtocol

/// What an item holds: the version of its label and that of its value, from
/// which every byte of both follows.
struct FaultContent: Hashable, Sendable {
    var label: Int
    var value: Int
}

/// A generic password of a fault test. Whatever is read back is compared whole.
struct FaultItem: Hashable, Sendable {
    let service: String
    let account: String

    /// A group that every program may name: a thread with mounts of its own is of a process that
    /// has others (``PrivateMounts``), and so has no group.
    private static let group: (String, RawValue) = ("agrp", .string("latchkey"))

    static let allOfService: [(String, RawValue)] = [("m_Limit", .string("m_LimitAll"))]

    var selection: [(String, RawValue)] {
        [("class", .string("genp")), Self.group, ("svce", .string(service)), ("acct", .string(account))]
    }

    func labelText(_ version: Int) -> String { "label \(version) of \(account)" }

    /// Mostly short; some go through the memory file of a long message, a few
    /// fill several pages of the log.
    func valueBytes(_ version: Int) -> [UInt8] {
        var random = SeededRandom(seed: account.utf8.reduce(UInt64(version)) { ($0 << 7) ^ ($0 >> 57) ^ UInt64($1) })
        let size =
            switch random.next() % 40 {
            case 0: 90_000 + Int(random.next() % 20_000)
            case 1...4: 5_000 + Int(random.next() % 10_000)
            default: Int(random.next() % 400)
            }
        let head = Array("value \(version) of \(account):".utf8)
        return head + (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private func secret(_ version: Int) -> SharedSecret { SharedSecret(SecretBytes(copying: valueBytes(version))) }

    // MARK: Requests

    /// - Parameter protection: a class's tag; nil: that of an item that names none.
    func add(_ content: FaultContent, protection: String? = nil) -> KeychainRequest {
        let named = protection.map { [("pdmn", RawValue.string($0))] } ?? []
        let rest = [("labl", RawValue.string(labelText(content.label))), ("v_Data", .secret)]
        return KeychainRequest(
            .add, query: QueryDictionary(selection + named + rest), value: secret(content.value))
    }

    /// The label alone, or both: the first leaves the value's seal as it is.
    func update(from old: FaultContent, to new: FaultContent) -> KeychainRequest {
        let label = [("labl", RawValue.string(labelText(new.label)))]
        guard old.value != new.value else {
            return KeychainRequest(.update, query: QueryDictionary(selection), changes: QueryDictionary(label))
        }
        return KeychainRequest(
            .update, query: QueryDictionary(selection), changes: QueryDictionary(label + [("v_Data", .secret)]),
            value: secret(new.value))
    }

    var delete: KeychainRequest { KeychainRequest(.delete, query: QueryDictionary(selection)) }

    var read: KeychainRequest {
        KeychainRequest(
            .copy, query: QueryDictionary(selection + [("r_Data", .bool(true)), ("r_Attributes", .bool(true))]))
    }

    /// Needs the metadata key alone, no call of the enclave.
    var readLabel: KeychainRequest {
        KeychainRequest(.copy, query: QueryDictionary(selection + [("r_Attributes", .bool(true))]))
    }

    static func readAll(of service: String) -> KeychainRequest {
        KeychainRequest(
            .copy,
            query: QueryDictionary([
                ("class", .string("genp")), Self.group, ("svce", .string(service)), ("m_Limit", .string("m_LimitAll")),
                ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
            ]))
    }

    /// Whether a row is this item, whole, with that content.
    func isIn(_ row: AnswerRow, as content: FaultContent) -> Bool {
        row.attributes[.account] == .string(account) && row.attributes[.service] == .string(service)
            && row.attributes[.label] == .string(labelText(content.label))
            && row.value?.bytes.insecureArray() == valueBytes(content.value)
    }
}
