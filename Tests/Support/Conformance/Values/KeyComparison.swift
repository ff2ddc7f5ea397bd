internal import Foundation

/// One entry of a result, and what it is compared with: another entry of the
/// same dictionary, or an entry of a saved one.
struct KeyComparison {
    let key: String
    private let against: Against

    private enum Against {
        case entry(String)
        case saved(JSONValue)
    }

    func other(in got: NSDictionary, _ reader: ValueReader) throws -> AnyObject? {
        switch against {
        case .entry(let name): return got.object(forKey: try reader.key(name)) as AnyObject?
        case .saved(let reference):
            let object = try reader.saved.object(for: reference)
            guard let dictionary = object as? NSDictionary else { return object }
            return dictionary.object(forKey: try reader.key(key)) as AnyObject?
        }
    }

    /// The schema leaves the form open; each of these is taken, nothing else:
    /// - `[key, key, …]`: entries of one dictionary;
    /// - `{key: saved}`, `{saved: key}`, `{saved: [key, …]}`;
    /// - `{"var": saved, "keys": [key, …]}`, also with as, than or sameAs for var;
    /// - `[saved, key, …]`; a list of any of these.
    static func pairs(_ json: JSONValue, in saved: SavedValues) throws -> [KeyComparison] {
        let found: [KeyComparison]
        switch json {
        case .array(let values) where values.allSatisfy({ $0.string != nil }):
            found = try mixed(values.compactMap(\.string), saved)
        case .array(let values): found = try values.flatMap { try pairs($0, in: saved) }
        case .object(let members): found = try pairs(members, saved)
        default: throw CorpusError("a comparison of keys of unknown form: \(json)")
        }
        guard !found.isEmpty else { throw CorpusError("a comparison of no keys: \(json)") }
        return found
    }

    /// Names of keys, with at most one name of a saved value among them.
    private static func mixed(_ names: [String], _ saved: SavedValues) throws -> [KeyComparison] {
        let references = names.filter { KeyName.text($0) == nil }
        let keys = names.filter { KeyName.text($0) != nil }
        switch references.count {
        case 0 where keys.count > 1:
            return keys.dropFirst().map { KeyComparison(key: keys[0], against: .entry($0)) }
        case 1 where saved.has(references[0]) && !keys.isEmpty:
            return keys.map { KeyComparison(key: $0, against: .saved(.string(references[0]))) }
        default: throw CorpusError("a comparison of keys of unknown form: \(names)")
        }
    }

    private static func pairs(_ members: [String: JSONValue], _ saved: SavedValues) throws -> [KeyComparison] {
        if let keys = members["keys"] ?? members["key"] { return try pairs(keys, besides: members) }
        return try members.sorted { $0.key < $1.key }.flatMap { name, value in
            if KeyName.text(name) != nil { return [KeyComparison(key: name, against: try against(value, saved))] }
            guard saved.has(name) else { throw CorpusError("nothing is saved as \(name)") }
            return try keyNames(value).map { KeyComparison(key: $0, against: .saved(.string(name))) }
        }
    }

    private static func pairs(_ keys: JSONValue, besides members: [String: JSONValue]) throws -> [KeyComparison] {
        let rest = members.filter { $0.key != "keys" && $0.key != "key" }
        var reference: JSONValue?
        if let name = rest["var"]?.string {
            reference = rest["path"].map { .object(["var": .string(name), "path": $0]) } ?? .string(name)
        } else if rest.count == 1, let only = rest.first, ["as", "than", "sameAs", "of"].contains(only.key) {
            reference = only.value
        }
        guard let reference else {
            throw CorpusError("a comparison of keys of unknown form: \(JSONValue.object(members))")
        }
        return try keyNames(keys).map { KeyComparison(key: $0, against: .saved(reference)) }
    }

    private static func against(_ json: JSONValue, _ saved: SavedValues) throws -> Against {
        if let name = json.string, KeyName.text(name) != nil { return .entry(name) }
        if let name = json.string, !saved.has(name) { throw CorpusError("nothing is saved as \(name)") }
        return .saved(json)
    }

    private static func keyNames(_ json: JSONValue) throws -> [String] {
        let names = (json.array ?? [json]).map { $0.string.flatMap { KeyName.text($0) == nil ? nil : $0 } }
        guard !names.isEmpty, !names.contains(nil) else { throw CorpusError("no names of keys: \(json)") }
        return names.compactMap { $0 }
    }
}
