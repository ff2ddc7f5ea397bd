internal import Foundation

/// What earlier steps of a case kept.
struct SavedValues {
    private var objects: [String: AnyObject] = [:]

    mutating func keep(_ object: AnyObject?, as name: String) { objects[name] = object }

    func has(_ name: String) -> Bool { objects[name] != nil }

    func object(_ name: String) throws -> AnyObject {
        guard let object = objects[name] else { throw CorpusError("nothing is saved as \(name)") }
        return object
    }

    /// What a `{"var": …}` names, or a bare name; `path` leads into it.
    func object(for reference: JSONValue) throws -> AnyObject {
        if let name = reference.string { return try object(name) }
        guard let members = reference.object, let name = members["var"]?.string,
            Set(members.keys).isSubset(of: ["var", "path"])
        else { throw CorpusError("no reference to a saved value: \(reference)") }
        return try follow(members["path"], from: object(name))
    }

    private func follow(_ path: JSONValue?, from start: AnyObject) throws -> AnyObject {
        guard let path else { return start }
        return try (path.array ?? [path]).reduce(start) { object, step in
            switch (object, step) {
            case (let list as NSArray, .integer(let index)) where index >= 0 && index < Int64(list.count):
                list.object(at: Int(index)) as AnyObject
            case (let dictionary as NSDictionary, .string(let name)):
                try Self.value(dictionary, name)
            default: throw CorpusError("the saved value has no \(step)")
            }
        }
    }

    private static func value(_ dictionary: NSDictionary, _ name: String) throws -> AnyObject {
        let key = KeyName.text(name) ?? name
        guard let value = dictionary.object(forKey: key as NSString) else {
            throw CorpusError("the saved dictionary has no \(name)")
        }
        return value as AnyObject
    }
}

/// How a corpus writes a dictionary key: a constant's name, or `raw:` and the
/// literal key.
enum KeyName {
    /// nil: neither.
    static func text(_ name: String) -> String? {
        if name.hasPrefix("raw:") { return String(name.dropFirst(4)) }
        return NamedConstants.text(name)
    }
}
