internal import Foundation

/// When a value that came back is the one that a case names.
enum Equality {
    /// Types count, except that 0 and 1 equal the booleans, as the schema says.
    static func holds(_ wanted: NSObject, _ got: AnyObject) -> Bool {
        switch (wanted, got) {
        // Swift's == on text would also join characters that differ in their bytes.
        case (let a as NSString, let b as NSString): (a as String).utf8.elementsEqual((b as String).utf8)
        case (let a as NSNumber, let b as NSNumber): a.isEqual(b)
        case (let a as NSData, let b as NSData): a.isEqual(to: b as Data)
        case (let a as NSDate, let b as NSDate): a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate
        case (is NSNull, is NSNull): true
        case (let a as NSArray, let b as NSArray): arrays(a, b)
        case (let a as NSDictionary, let b as NSDictionary): dictionaries(a, b)
        default: type(of: wanted) == type(of: got) && wanted.isEqual(got)
        }
    }

    private static func arrays(_ a: NSArray, _ b: NSArray) -> Bool {
        a.count == b.count
            && (0..<a.count).allSatisfy { index in
                guard let one = a.object(at: index) as AnyObject as? NSObject else { return false }
                return holds(one, b.object(at: index) as AnyObject)
            }
    }

    private static func dictionaries(_ a: NSDictionary, _ b: NSDictionary) -> Bool {
        a.count == b.count
            && a.allSatisfy { key, value in
                guard let one = value as AnyObject as? NSObject, let other = b.object(forKey: key) else { return false }
                return holds(one, other as AnyObject)
            }
    }
}

/// A value as a failure shows it: test data, so nothing is held back but length.
enum Shown {
    static func text(_ value: Any?) -> String {
        guard let value else { return "nothing" }
        switch value as AnyObject {
        case let data as NSData: return data.length > 32 ? "\(data.length) bytes" : "<\((data as Data).hex)>"
        case let text as NSString: return "\"\(text)\""
        case let number as NSNumber: return "\(number)"
        case let date as NSDate: return "date \(date.timeIntervalSinceReferenceDate)"
        case let list as NSArray: return "[" + list.map { text($0) }.joined(separator: ", ") + "]"
        case let dictionary as NSDictionary: return text(dictionary)
        default: return "\(value)"
        }
    }

    private static func text(_ dictionary: NSDictionary) -> String {
        let members = dictionary.map { "\($0.key): \(text($0.value))" }.sorted()
        return "{" + members.joined(separator: ", ") + "}"
    }
}
