internal import Foundation
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Gives rows the shape that the caller asked for (spec section 3.1).
enum DoorResult {
    static func object(for answer: KeychainAnswer) -> CFTypeRef? {
        guard answer.many else { return answer.rows.first.flatMap { object(for: $0, answer.returns) } }
        return NSArray(array: answer.rows.compactMap { object(for: $0, answer.returns) })
    }

    private static func object(for row: AnswerRow, _ returns: ReturnTypes) -> NSObject? {
        switch returns {
        case []: nil
        case .data: row.value.map { data($0) }
        case .persistentReference: data(row.persistentReference)
        // Passwords have no reference object.
        case .reference: nil
        default: dictionary(for: row, returns)
        }
    }

    /// Two kinds or more, or attributes: a dictionary. Data and persistent
    /// reference together bring all attributes as well.
    private static func dictionary(for row: AnswerRow, _ returns: ReturnTypes) -> NSDictionary {
        let result = NSMutableDictionary(capacity: row.attributes.count + 4)
        if returns.showsAttributes {
            for (code, value) in row.attributes.entries { result["\(code)" as NSString] = object(for: value) }
            if let access = row.accessControl { result["accc" as NSString] = SecAccessControl(access) }
        }
        if returns.contains(.data), let value = row.value { result[kSecValueData] = data(value) }
        if returns.contains(.persistentReference) {
            result[kSecValuePersistentRef] = data(row.persistentReference)
        }
        if returns.contains(.reference) { result[kSecClass] = row.itemClass.rawValue as NSString }
        return result
    }

    private static func object(for value: AttributeValue) -> NSObject {
        switch value {
        case .string(let text): NSString(string: text)
        case .data(let bytes): data(bytes)
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }

    /// The one place where a secret leaves locked memory: it is what the caller asked for. The
    /// object wipes itself; what the caller makes of it is the caller's.
    private static func data(_ secret: SharedSecret) -> NSData {
        unsafe secret.bytes.withUnsafeBytes { unsafe ResultData.copy(of: $0) }
    }

    private static func data(_ bytes: [UInt8]) -> NSData {
        unsafe bytes.withUnsafeBytes { unsafe ResultData.copy(of: $0) }
    }
}
