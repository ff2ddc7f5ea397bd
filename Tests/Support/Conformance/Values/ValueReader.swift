internal import Foundation
internal import KeychainServices

/// Makes of a typed value of the corpus the object that a program would pass.
struct ValueReader {
    let fixtures: Fixtures
    var saved = SavedValues()

    /// A dictionary as the calls take it; `merging` (a saved dictionary) lies under it.
    func dictionary(_ json: JSONValue?, merging base: JSONValue? = nil) throws -> NSDictionary {
        let result = NSMutableDictionary()
        for reference in base.map({ $0.array ?? [$0] }) ?? [] {
            guard let under = try saved.object(for: reference) as? NSDictionary else {
                throw CorpusError("what is to be merged is no dictionary: \(reference)")
            }
            for (key, value) in under {
                guard let text = key as? String else {
                    throw CorpusError("a saved dictionary with a key that is no text")
                }
                result[NSString(string: text)] = value
            }
        }
        if json == .null { return try dictionary(nil, merging: base) }
        guard let members = (json ?? .object([:])).object else { throw CorpusError("no dictionary: \(json ?? .null)") }
        for (name, value) in members where name != "merge" { result[try key(name)] = try object(value) }
        return result.copy() as? NSDictionary ?? result
    }

    func key(_ name: String) throws -> NSString {
        guard let text = KeyName.text(name) else { throw CorpusError("unknown constant \(name)") }
        return NSString(string: text)
    }

    func object(_ json: JSONValue) throws -> NSObject {
        guard let members = json.object else { throw CorpusError("no typed value: \(json)") }
        if members["var"] != nil { return try savedObject(json) }
        guard let (kind, value) = json.only else { throw CorpusError("no typed value: \(json)") }
        if let plain = try plainObject(kind, value) { return plain }
        if let nested = try nestedObject(kind, value) { return nested }
        throw CorpusError("unknown kind of value: \(kind)")
    }

    private func savedObject(_ json: JSONValue) throws -> NSObject {
        guard let object = try saved.object(for: json) as? NSObject else { throw CorpusError("no object: \(json)") }
        return object
    }

    private func plainObject(_ kind: String, _ value: JSONValue) throws -> NSObject? {
        switch (kind, value) {
        case ("string", .string(let text)): NSString(string: text)
        case ("data", .string(let hex)): NSData(data: try Data(hexadecimal: hex))
        case ("bool", .bool(let flag)): NSNumber(value: flag)
        case ("int", .integer(let number)): NSNumber(value: number)
        case ("int", .real(let number)): NSNumber(value: number)
        case ("const", .string(let name)): try constant(name)
        case ("date", .string(let text)): try date(text)
        case ("null", _): NSNull()
        case ("certIssuerDER", .string(let name)): NSData(data: try fixtures.issuer(name))
        case ("certDER", .string(let name)): NSData(data: try fixtures.certificate(name))
        default: nil
        }
    }

    private func nestedObject(_ kind: String, _ value: JSONValue) throws -> NSObject? {
        switch (kind, value) {
        case ("array", .array(let values)): NSArray(array: try values.map { try object($0) })
        case ("dict", .object): try dictionary(value)
        case ("repeat", .object): try repeated(value)
        case ("accessControl", .object): try accessControl(value)
        case ("laContext", .object): try context(value)
        case ("data", .object): try object(value)
        default: nil
        }
    }

    /// A boolean constant is the object; every other one is its text.
    private func constant(_ name: String) throws -> NSObject {
        switch name {
        case "kCFBooleanTrue": return NSNumber(value: true)
        case "kCFBooleanFalse": return NSNumber(value: false)
        case "kCFNull": return NSNull()
        default: return try key(name)
        }
    }

    private func date(_ text: String) throws -> NSDate {
        for options: ISO8601DateFormatter.Options in [
            .withInternetDateTime, [.withInternetDateTime, .withFractionalSeconds],
        ] {
            let formatter = ISO8601DateFormatter()
            formatter.formatOptions = options
            if let date = formatter.date(from: text) { return date as NSDate }
        }
        throw CorpusError("no ISO 8601 date: \(text)")
    }

    private func repeated(_ json: JSONValue) throws -> NSData {
        guard let byte = json["byte"]?.string, let length = json["length"]?.integer, length >= 0,
            let value = try Data(hexadecimal: byte).first
        else { throw CorpusError("no repeated byte: \(json)") }
        return NSData(data: Data(repeating: value, count: Int(length)))
    }
}
