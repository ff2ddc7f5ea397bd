public import Foundation

// What Foundation has on Apple's systems, keychain code uses, and Foundation on
// Linux lacks (checked against Swift 6.3.1). `URLProtectionSpace.serverTrust` is
// not here: FoundationNetworking declares it unavailable itself, with the reason.

/// A pointer to a variable that a call may fill with an object.
///
/// An ordinary pointer here: there is no autorelease pool to keep the object in.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// A pointer to a variable that a failing call fills with the error.
public typealias NSErrorPointer = AutoreleasingUnsafeMutablePointer<NSError?>?

/// Calls `body`. There are no autoreleased objects to let go of afterwards.
public func autoreleasepool<Failure, Result: ~Copyable>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

extension NSMutableDictionary {
    /// Sets the value of a key; nil removes the key.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            setObject(value, forKey: key)
        } else {
            removeObject(forKey: key)
        }
    }

    /// Sets the value of a key that is known as `NSCopying` alone, as in
    /// `setObject(value, forKey: kSecReturnData as NSCopying)`.
    @_disfavoredOverload
    public func setObject(_ anObject: Any, forKey aKey: any NSCopying) {
        guard let key = aKey as? NSObject else { preconditionFailure("a key is an object of Foundation") }
        setObject(anObject, forKey: AnyHashable(key))
    }

    /// The value of a key that is known as `NSCopying` alone, as in
    /// `query[kSecClass as! NSCopying] = kSecClassGenericPassword`; nil removes the key.
    public subscript(key: any NSCopying) -> Any? {
        get { object(forKey: key) }
        set {
            if let newValue {
                setObject(newValue, forKey: key)
            } else {
                removeObject(forKey: key)
            }
        }
    }
}

extension NSDictionary {
    /// Values and their keys, which are known as `NSCopying` alone; as many of one as of the other.
    @_disfavoredOverload
    public convenience init(objects: [Any], forKeys keys: [any NSCopying]) {
        self.init(
            objects: objects,
            forKeys: keys.map { key in
                guard let key = key as? NSObject else { preconditionFailure("a key is an object of Foundation") }
                return key
            })
    }

    /// What another has.
    public convenience init(dictionary otherDictionary: NSDictionary) {
        let keys = otherDictionary.allKeys
        self.init(
            objects: keys.map { otherDictionary.object(forKey: $0) ?? NSNull() },
            forKeys: keys.map { $0 as AnyObject as? NSObject ?? NSNull() })
    }
}

/// A table that holds its keys strongly and its values weakly.
///
/// Keys are the same if `isEqual` says so. An entry whose value is gone counts
/// as absent. As on Apple's systems, threads that share a table must take turns.
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
    private var entries: [Key: Entry] = [:]
    /// The number of entries at which those with a lost value are swept out.
    private var sweepCount = 16

    private override init() {}

    /// A new, empty table.
    public static func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
        NSMapTable()
    }

    /// The number of entries, with those whose value is gone but not yet swept.
    public var count: Int { entries.count }

    /// The value of a key, if it is still alive.
    public func object(forKey aKey: KeyType?) -> ObjectType? {
        aKey.flatMap { entries[Key(object: $0)]?.object }
    }

    /// Sets the value of a key. A nil key or value changes nothing.
    public func setObject(_ anObject: ObjectType?, forKey aKey: KeyType?) {
        guard let anObject, let aKey else { return }
        sweep()
        entries[Key(object: aKey)] = Entry(object: anObject)
    }

    /// Removes a key and its value.
    public func removeObject(forKey aKey: KeyType?) {
        guard let aKey else { return }
        entries[Key(object: aKey)] = nil
    }

    /// Removes everything.
    public func removeAllObjects() {
        entries = [:]
    }

    private func sweep() {
        guard entries.count >= sweepCount else { return }
        entries = entries.filter { $0.value.object != nil }
        sweepCount = max(16, 2 * entries.count)
    }
}

@available(*, unavailable)
extension NSMapTable: @unchecked Sendable {}

extension NSMapTable {
    private struct Key: Hashable {
        let object: KeyType

        static func == (one: Key, other: Key) -> Bool {
            if one.object === other.object { return true }
            guard let object = one.object as? NSObject else { return false }
            return object.isEqual(other.object)
        }

        func hash(into hasher: inout Hasher) {
            if let object = object as? NSObject {
                hasher.combine(object.hash)
            } else {
                hasher.combine(ObjectIdentifier(object))
            }
        }
    }

    private struct Entry {
        weak var object: ObjectType?
    }
}
