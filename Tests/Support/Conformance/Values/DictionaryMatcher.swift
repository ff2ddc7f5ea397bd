internal import Foundation

/// The matchers that look into a dictionary.
struct DictionaryMatcher {
    let matcher: Matcher
    let got: NSDictionary

    func difference(_ name: String, _ value: JSONValue) throws -> String? {
        switch name {
        case "dict": try entries(value)
        case "present": try keys(value, present: true)
        case "absent": try keys(value, present: false)
        case "dateNear": try dates(value)
        default: try compare(name, value)
        }
    }

    private func entry(_ name: String) throws -> AnyObject? {
        got.object(forKey: try matcher.reader.key(name)) as AnyObject?
    }

    private func entries(_ value: JSONValue) throws -> String? {
        guard let members = value.object else { throw CorpusError("dict: \(value)") }
        for (name, wanted) in members.sorted(by: { $0.key < $1.key }) {
            let held = try entry(name)
            if let found = try entryDifference(wanted, held) { return "\(name) is \(found)" }
        }
        return nil
    }

    /// Constants of keys are decimal text ("42"), and come back as the number
    /// (spec section 3.1): the two are one where a case names the constant.
    private func entryDifference(_ wanted: JSONValue, _ held: AnyObject?) throws -> String? {
        if let (kind, value) = wanted.only, kind == "const", let number = held as? NSNumber,
            let text = value.string.flatMap(KeyName.text), text == number.stringValue
        {
            return nil
        }
        return try matcher.difference(wanted, held)
    }

    private func keys(_ value: JSONValue, present: Bool) throws -> String? {
        guard let names = value.array?.compactMap(\.string), names.count == value.array?.count else {
            throw CorpusError("present or absent: \(value)")
        }
        for name in names where (try entry(name) != nil) != present {
            return present ? "\(name) is missing" : "\(name) is \(Shown.text(try entry(name)))"
        }
        return nil
    }

    /// `now` within seconds: the keychain's clock may stand, the machine's goes on.
    private static let tolerance = 30.0

    private func dates(_ value: JSONValue) throws -> String? {
        let pairs: [(String, JSONValue)]
        if let names = value.array {
            pairs = try names.map { name in
                guard let text = name.string else { throw CorpusError("dateNear: \(value)") }
                return (text, .string("now"))
            }
        } else if let members = value.object {
            pairs = members.sorted { $0.key < $1.key }
        } else {
            throw CorpusError("dateNear: \(value)")
        }
        for (name, moment) in pairs {
            guard let date = try entry(name) as? NSDate else { return "\(name) is \(Shown.text(try entry(name)))" }
            let (wanted, tolerance) = try self.moment(moment)
            if abs(date.timeIntervalSince(wanted)) > tolerance { return "\(name) is \(Shown.text(date))" }
        }
        return nil
    }

    /// "now", a number of seconds around now, or a date.
    private func moment(_ json: JSONValue) throws -> (Date, Double) {
        switch json {
        case .string("now"): return (matcher.now, Self.tolerance)
        case .integer(let seconds): return (matcher.now, Double(seconds))
        case .real(let seconds): return (matcher.now, seconds)
        case .object where ["seconds", "within", "tolerance"].contains(json.only?.key):
            return try self.moment(json.only?.value ?? .null)
        case .string(let text):
            guard let date = try matcher.reader.object(.object(["date": .string(text)])) as? NSDate else { break }
            return (date as Date, Self.tolerance)
        default:
            guard let date = try matcher.reader.object(json) as? NSDate else { break }
            return (date as Date, Self.tolerance)
        }
        throw CorpusError("dateNear: \(json)")
    }

    // MARK: Entries against entries

    private func compare(_ name: String, _ value: JSONValue) throws -> String? {
        for pair in try KeyComparison.pairs(value, in: matcher.reader.saved) {
            let other = try pair.other(in: got, matcher.reader)
            let held = try entry(pair.key)
            guard let held, let other else { return "\(pair.key) or what it is compared with is missing" }
            if !Self.holds(name, held, other) {
                return "\(pair.key) is \(Shown.text(held)) beside \(Shown.text(other))"
            }
        }
        return nil
    }

    private static func holds(_ name: String, _ one: AnyObject, _ other: AnyObject) -> Bool {
        if name == "laterKeys" { return isLater(one, than: other) }
        return (other as? NSObject).map { Equality.holds($0, one) } ?? false
    }

    private static func isLater(_ one: AnyObject, than other: AnyObject) -> Bool {
        if let a = one as? NSDate, let b = other as? NSDate {
            return a.timeIntervalSinceReferenceDate > b.timeIntervalSinceReferenceDate
        }
        if let a = one as? NSNumber, let b = other as? NSNumber { return a.doubleValue > b.doubleValue }
        return false
    }
}
