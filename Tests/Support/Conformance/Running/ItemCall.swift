internal import Foundation
internal import KeychainModel
internal import KeychainClient
internal import KeychainProtocol
internal import KeychainServices

/// One of the four calls at the C-shaped door, as a program makes it.
struct ItemCall {
    private let step: ConformanceCase.Step
    private let query: NSDictionary
    private let changes: NSDictionary

    init(_ step: ConformanceCase.Step, _ reader: ValueReader) throws {
        self.step = step
        query = try reader.dictionary(step["query"], merging: step["merge"] ?? step["query"]?["merge"])
        changes = try reader.dictionary(step["attrs"])
        guard step["resultPointer"] == nil || step["resultPointer"] == .string("null") else {
            throw CorpusError("resultPointer \(step["resultPointer"] ?? .null)")
        }
    }

    func perform() throws -> CaseRun.Answer {
        switch step.call {
        case "add": unsafe withResult { unsafe SecItemAdd(query, $0) }
        case "copy": unsafe withResult { unsafe SecItemCopyMatching(query, $0) }
        case "update": CaseRun.Answer(status: SecItemUpdate(query, changes))
        case "delete": CaseRun.Answer(status: SecItemDelete(query))
        default: throw CorpusError("unknown call \(step.call)")
        }
    }

    private func withResult(_ call: (UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus) -> CaseRun.Answer {
        if step["resultPointer"] != nil { return CaseRun.Answer(status: call(nil)) }
        var result: CFTypeRef?
        let status = unsafe call(&result)
        return CaseRun.Answer(status: status, object: result)
    }
}

/// SecItemDeleteAllWithAccessGroups, which no public header has: made where the
/// C-shaped calls end up, by the system's own program, which is entitled to it.
struct GroupPurge {
    private let groups: [String]

    init(_ step: ConformanceCase.Step) throws {
        let names = step["groups"]?.array?.map { $0.string ?? $0["string"]?.string }
        guard let names, !names.contains(nil) else { throw CorpusError("deleteAllWithAccessGroups without groups") }
        groups = names.compactMap { $0 }
    }

    func perform() throws -> CaseRun.Answer {
        do throws(KeychainError) {
            _ = try CurrentKeychain.transport().perform(KeychainRequest(.deleteGroups(groups)))
            return .success
        } catch {
            return CaseRun.Answer(status: error.status.rawValue)
        }
    }
}

/// Finds the rows that a hook is to damage.
struct RowSearch {
    private let query: NSDictionary

    init(_ match: JSONValue?, _ reader: ValueReader) throws {
        guard let match, match.object != nil else { throw CorpusError("corruptItem without match") }
        query = try reader.dictionary(match)
    }

    /// A match without class looks in generic and internet passwords (decisions.md).
    func references() throws -> [Data] {
        let classes = query[kSecClass] == nil ? [kSecClassGenericPassword, kSecClassInternetPassword] : [nil]
        let found = classes.flatMap { references(of: $0) }
        guard !found.isEmpty else { throw CorpusError("corruptItem matches nothing") }
        return found
    }

    private func references(of itemClass: CFString?) -> [Data] {
        let search = query.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        if let itemClass { search[kSecClass] = itemClass }
        if search[kSecAttrSynchronizable] == nil { search[kSecAttrSynchronizable] = kSecAttrSynchronizableAny }
        search[kSecMatchLimit] = kSecMatchLimitAll
        search[kSecReturnPersistentRef] = NSNumber(value: true)
        var result: CFTypeRef?
        // An attribute of the other class is no match there.
        guard unsafe SecItemCopyMatching(search, &result) == errSecSuccess else { return [] }
        return (result as? NSArray)?.compactMap { $0 as? Data } ?? []
    }
}
