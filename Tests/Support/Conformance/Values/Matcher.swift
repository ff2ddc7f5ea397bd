internal import Foundation
internal import KeychainServices

/// Compares what came back with what a case says of it. Whatever it does not
/// understand is a difference.
struct Matcher {
    let reader: ValueReader
    /// The keychain's time, for `dateNear`.
    let now: Date

    /// The first difference, or nil.
    func difference(_ wanted: JSONValue, _ got: AnyObject?) throws -> String? {
        guard let members = wanted.object, !members.isEmpty else { throw CorpusError("no matcher: \(wanted)") }
        if Self.isTypedValue(wanted) { return try equals(reader.object(wanted), got) }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            if let found = try difference(name, value, got) { return found }
        }
        return nil
    }

    /// `{"data": …}` is a matcher of its own with the same meaning.
    private static let typedKinds: Set<String> = [
        "string", "bool", "int", "const", "date", "null", "array", "repeat", "var", "accessControl",
    ]

    private static func isTypedValue(_ json: JSONValue) -> Bool {
        guard let members = json.object else { return false }
        if members["var"] != nil { return true }
        return json.only.map { typedKinds.contains($0.key) } ?? false
    }

    private func difference(_ name: String, _ value: JSONValue, _ got: AnyObject?) throws -> String? {
        switch name {
        case "none": return try none(value, got)
        case "count": return count(value, got)
        case "each": return try each(value, got)
        case "type": return try type(value, got)
        case "data", "certDER": return try equals(bytes(name, value), got)
        case "dataLength", "dataPrefix": return try part(name, value, got)
        case "sameAs": return try equals(object(saved: value), got)
        case "notSameAs":
            return try equals(object(saved: value), got) == nil ? "the same as \(value)" : nil
        case "dict", "present", "absent", "dateNear", "equalKeys", "sameKeys", "laterKeys":
            guard let dictionary = got as? NSDictionary else { return "no dictionary but \(Shown.text(got))" }
            return try DictionaryMatcher(matcher: self, got: dictionary).difference(name, value)
        default:
            if Self.typedKinds.contains(name) { return try equals(reader.object(.object([name: value])), got) }
            throw CorpusError("unknown matcher \(name)")
        }
    }

    private func none(_ value: JSONValue, _ got: AnyObject?) throws -> String? {
        guard let wanted = value.bool else { throw CorpusError("none: \(value)") }
        return wanted == (got == nil) ? nil : Shown.text(got)
    }

    private func count(_ value: JSONValue, _ got: AnyObject?) -> String? {
        guard let list = got as? NSArray else { return "no array but \(Shown.text(got))" }
        return value.integer == Int64(list.count) ? nil : "\(list.count) elements"
    }

    private func each(_ value: JSONValue, _ got: AnyObject?) throws -> String? {
        guard let list = got as? NSArray else { return "no array but \(Shown.text(got))" }
        for index in 0..<list.count {
            if let found = try difference(value, list.object(at: index) as AnyObject) {
                return "element \(index): \(found)"
            }
        }
        return nil
    }

    private func type(_ value: JSONValue, _ got: AnyObject?) throws -> String? {
        let holds: Bool
        switch value.string {
        case "dict": holds = got is NSDictionary
        case "data": holds = got is NSData
        case "array": holds = got is NSArray
        case "string": holds = got is NSString
        case "number": holds = got is NSNumber
        case "date": holds = got is NSDate
        case "accessControl": holds = got is SecAccessControl
        case "certificate": holds = got is SecCertificate
        case "key": holds = got is SecKey
        case "identity": holds = got is SecIdentity
        default: throw CorpusError("unknown type \(value)")
        }
        return holds ? nil : "no \(value.string ?? "") but \(Shown.text(got))"
    }

    private func bytes(_ name: String, _ value: JSONValue) throws -> NSObject {
        name == "data" && value.object != nil ? try reader.object(value) : try reader.object(.object([name: value]))
    }

    private func part(_ name: String, _ value: JSONValue, _ got: AnyObject?) throws -> String? {
        guard let data = got as? NSData else { return "no data but \(Shown.text(got))" }
        if name == "dataLength" { return value.integer == Int64(data.length) ? nil : "\(data.length) bytes" }
        guard let prefix = try bytes("data", value) as? NSData else { throw CorpusError("dataPrefix: \(value)") }
        return (data as Data).starts(with: prefix as Data) ? nil : Shown.text(got)
    }

    private func object(saved value: JSONValue) throws -> NSObject {
        guard let object = try reader.saved.object(for: value) as? NSObject else {
            throw CorpusError("no object: \(value)")
        }
        return object
    }

    func equals(_ wanted: NSObject, _ got: AnyObject?) -> String? {
        guard let got, Equality.holds(wanted, got) else { return Shown.text(got) }
        return nil
    }
}
