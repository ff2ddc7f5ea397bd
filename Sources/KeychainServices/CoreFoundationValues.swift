import Foundation

// Small values that the functions of Core Foundation take and give.

/// Not found; Apple's number (CFBase.h).
@_disfavoredOverload
public var kCFNotFound: CFIndex { -1 }

/// Which of two comes first.
public enum CFComparisonResult: CFIndex, Sendable {
    /// The first.
    case compareLessThan = -1
    /// Neither.
    case compareEqualTo
    /// The second.
    case compareGreaterThan

    init(_ result: ComparisonResult) {
        self =
            switch result {
            case .orderedAscending: .compareLessThan
            case .orderedSame: .compareEqualTo
            case .orderedDescending: .compareGreaterThan
            }
    }
}

/// Some elements in a row.
public struct CFRange: Sendable {
    /// Where they begin.
    public var location: CFIndex
    /// How many.
    public var length: CFIndex

    /// None, at the beginning.
    public init() { self.init(location: 0, length: 0) }

    /// So many from there on.
    public init(location: CFIndex, length: CFIndex) {
        (self.location, self.length) = (location, length)
    }

    /// What of it lies within so many elements; nothing where it begins outside.
    func within(_ count: Int) -> Range<Int> {
        guard (0...count).contains(location), length > 0 else { return 0..<0 }
        return location..<location + min(length, count - location)
    }
}

/// So many from there on.
@_disfavoredOverload
public func CFRangeMake(_ loc: CFIndex, _ len: CFIndex) -> CFRange { CFRange(location: loc, length: len) }

/// A truth value in memory, one byte: C's `Boolean`, which Swift knows by this name alone.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Equatable, Sendable {
    private var byte: UInt8

    /// That value.
    public init(_ value: Bool) { byte = value ? 1 : 0 }

    /// That value.
    public init(booleanLiteral value: Bool) { self.init(value) }

    /// As Swift's own.
    public var boolValue: Bool { byte != 0 }

    /// Equal by what they say.
    public static func == (one: Self, other: Self) -> Bool { one.boolValue == other.boolValue }
}

extension DarwinBoolean: CustomStringConvertible, CustomReflectable {
    /// "true" or "false".
    public var description: String { "\(boolValue)" }

    /// That of Swift's own.
    public var customMirror: Mirror { Mirror(reflecting: boolValue) }
}
