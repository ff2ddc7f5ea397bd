internal import Foundation
internal import KeychainModel
internal import KeychainPlatform

/// Walks a caller's dictionary once and makes its values plain: bridged or not,
/// boxed or not, one of ``RawValue``'s cases comes out.
struct DoorDictionary {
    private(set) var dictionary = QueryDictionary()
    /// The bytes of kSecValueData, where this call carries them.
    private(set) var value: SharedSecret?
    /// The object of kSecUseAuthenticationContext.
    private(set) var context: (any AuthenticationContext)?
    private let carriesValue: Bool

    init(carriesValue: Bool) { self.carriesValue = carriesValue }

    /// - Throws: errSecAllocate where there is no memory for a copy of the value.
    mutating func take(_ source: NSDictionary) throws(KeychainError) {
        dictionary.entries.reserveCapacity(source.count)
        if carriesValue, let objects = Self.objects(of: source) {
            for (key, object) in objects { try take(key, object is NSData ? object : source.object(forKey: key) ?? object) }
        } else {
            for (key, value) in source { try take(key, value) }
        }
        if let context { apply(context) }
    }

    /// What a dictionary of Foundation's own class holds, as the objects that they are; nil for others.
    ///
    /// Foundation's iteration and `object(forKey:)` give what Swift calls an object, and make a copy of data
    /// for that, byte by byte: half a second a MiB with Swift 6.3.1, and nobody wipes it. Its mirror
    /// shows the objects themselves, in 2 to 4 µs.
    private static func objects(of source: NSDictionary) -> [(key: NSObject, value: AnyObject)]? {
        guard type(of: source) == NSDictionary.self || type(of: source) == NSMutableDictionary.self else { return nil }
        let objects = source.customMirror.children.compactMap { $0.value as? (key: NSObject, value: AnyObject) }
        return objects.count == source.count ? objects : nil
    }

    private mutating func take(_ key: Any, _ value: Any) throws(KeychainError) {
        guard let text = Self.keyText(key) else { return dictionary.append(.foreign, .null) }
        if text == "u_AuthCtx" { return takeContext(value) }
        guard text == "v_Data" else { return dictionary.append(.text(text), Self.plain(value)) }
        // A value that is not data is refused by its type; what it says stays here.
        guard let data = Self.data(value) else { return dictionary.append(.text(text), .foreign(type: "value")) }
        if carriesValue { self.value = try SharedSecret(copying: data, what: "the value") }
        dictionary.append(.text(text), .secret)
    }

    /// An object is not made `Data` by a cast, which goes byte by byte (``ResultData``); what
    /// comes of it shares its bytes, and is not kept.
    private static func data(_ value: Any) -> Data? {
        guard type(of: value) != Data.self, let object = value as? NSData else { return value as? Data }
        return unsafe Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: object.bytes), count: object.length,
            deallocator: .custom { _, _ in withExtendedLifetime(object) {} })
    }

    private static func keyText(_ key: Any) -> String? {
        if let text = key as? String { return text }
        return (key as? NSString).map { $0 as String }
    }

    /// Any other object is refused by its type, whatever its class is called.
    private mutating func takeContext(_ value: Any) {
        context = value as? any AuthenticationContext
        dictionary.append(.text("u_AuthCtx"), context == nil ? .foreign(type: "value") : .authenticationContext)
    }

    /// What the context says of every call, as if this one's dictionary said it; a
    /// prompt of the dictionary's own goes before the context's.
    private mutating func apply(_ context: any AuthenticationContext) {
        if context.forbidsInteraction { dictionary.append(.text("u_NoAuthUI"), .bool(true)) }
        let reason = context.promptReason
        if !reason.isEmpty, dictionary["u_OpPrompt"] == nil { dictionary.append(.text("u_OpPrompt"), .string(reason)) }
    }

    /// Deeper lists mean nothing to any call; one that holds itself has no end.
    private static let deepestList = 3

    private static func plain(_ value: Any, depth: Int = 0) -> RawValue {
        // Text first, which most values are: a cast that fails costs more than one that does not.
        switch value {
        case let text as String: .string(text)
        case let flag as Bool where isBoolean(value): .bool(flag)
        case is Data, is NSData: .data(Array(data(value) ?? Data()))
        case let number as NSNumber: plain(number: number)
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let uuid as UUID: .uuid(unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) })
        case is NSNull: .null
        case let access as SecAccessControl: .accessControl(access.accessControl)
        case let list as NSArray where depth < deepestList: .array(list.map { plain($0, depth: depth + 1) })
        case is NSDictionary: .dictionary
        default: .foreign(type: "\(type(of: value))")
        }
    }

    /// CFBoolean is two particular objects; a number that happens to be 1 is not one.
    static func isBoolean(_ value: Any) -> Bool {
        if type(of: value) == Bool.self { return true }
        guard let number = value as AnyObject as? NSNumber else { return false }
        return number === NSNumber(value: true) || number === NSNumber(value: false)
    }

    private static func plain(number: NSNumber) -> RawValue {
        let code = unsafe number.objCType.pointee
        if code == CChar(UInt8(ascii: "d")) || code == CChar(UInt8(ascii: "f")) {
            return Int64(exactly: number.doubleValue).map(RawValue.integer) ?? .real(number.doubleValue)
        }
        // Above Int64 it would come out as another, negative number.
        guard code != CChar(UInt8(ascii: "Q")) || number.uint64Value <= UInt64(Int64.max) else {
            return .foreign(type: "a number above \(Int64.max)")
        }
        return .integer(number.int64Value)
    }
}
