internal import Conformance
internal import Foundation
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The dictionaries of the conformance corpus, as inputs. What only a whole run
/// knows (saved values, certificates) is left out of them.
package enum ConformanceSeeds {
    /// One call of the corpus.
    package struct Call: Sendable {
        package let name: String
        package let query: QueryDictionary
        package let changes: QueryDictionary
    }

    package static let calls: [Call] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../ConformanceTests/Corpus").standardized.path
        let files = ["cases.jsonl", "ours.jsonl"].map { "\(folder)/\($0)" }
        do {
            let corpus = try Corpus(files: files, fixtures: Fixtures(folder: folder + "/fixtures"))
            return corpus.cases.flatMap(\.steps).filter { ["add", "copy", "update", "delete"].contains($0.call) }.map {
                Call(name: $0.call, query: dictionary($0["query"]), changes: dictionary($0["attrs"]))
            }
        } catch {
            preconditionFailure("the corpus cannot be read: \(error)")
        }
    }()

    /// Inputs of the target `query`.
    static let queries: [[UInt8]] = calls.map { call in
        var sink = ByteSink()
        sink.byte(UInt8(["add", "copy", "update", "delete"].firstIndex(of: call.name) ?? 0))
        sink.byte(0)
        sink.dictionary(call.query)
        return sink.bytes
    }

    /// Inputs of the target `changes`.
    static let changes: [[UInt8]] = calls.filter { !$0.changes.entries.isEmpty }.map { call in
        var sink = ByteSink()
        sink.byte(0)
        sink.byte(0)
        sink.dictionary(call.changes)
        return sink.bytes
    }

    /// Inputs of the target `request`.
    static let requests: [[UInt8]] = calls.map { call in
        let operation: [String: KeychainRequest.Operation] = [
            "add": .add, "copy": .copy, "update": .update, "delete": .delete,
        ]
        let request = KeychainRequest(operation[call.name] ?? .copy, query: call.query, changes: call.changes)
        let carrier = call.name == "update" ? call.changes : call.query
        let carries = call.name != "copy" && call.name != "delete" && carrier["v_Data"] == .secret
        return ByteSink.message(request.encoded(number: 1), carries ? Array("value".utf8) : [])
    }

    private static func dictionary(_ json: JSONValue?) -> QueryDictionary {
        var dictionary = QueryDictionary()
        for (name, value) in (json?.object ?? [:]).sorted(by: { $0.key < $1.key }) where name != "merge" {
            let key = NamedConstants.text(name) ?? name
            dictionary.append(.text(key), key == "v_Data" ? .secret : raw(value))
        }
        return dictionary
    }

    private static func raw(_ json: JSONValue) -> RawValue {
        guard let (kind, value) = json.only else { return .null }
        switch (kind, value) {
        case ("string", .string(let text)): return .string(text)
        case ("const", .string("kCFBooleanTrue")): return .bool(true)
        case ("const", .string("kCFBooleanFalse")): return .bool(false)
        case ("const", .string(let name)): return .string(NamedConstants.text(name) ?? name)
        case ("data", .string(let text)): return .data(Array(text.utf8))
        case ("bool", .bool(let flag)): return .bool(flag)
        case ("int", .integer(let number)): return .integer(number)
        case ("int", .real(let number)): return .real(number)
        case ("date", _): return .date(1)
        case ("array", .array(let values)): return .array(values.map { raw($0) })
        case ("dict", _): return .dictionary
        case ("accessControl", _): return .accessControl(AccessControl(unconstrained: .whenUnlocked))
        default: return .null
        }
    }
}
