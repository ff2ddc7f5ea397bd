public import Foundation

/// What ``CFNumberGetValue(_:_:_:)`` writes; Apple's numbers.
public enum CFNumberType: CFIndex, Sendable {
    /// `Int8`.
    case sInt8Type = 1
    /// `Int16`.
    case sInt16Type
    /// `Int32`.
    case sInt32Type
    /// `Int64`.
    case sInt64Type
    /// `Float`.
    case float32Type
    /// `Double`.
    case float64Type
    /// C's `char`: `Int8`.
    case charType
    /// C's `short`: `Int16`.
    case shortType
    /// C's `int`: `Int32`.
    case intType
    /// C's `long`: `Int`.
    case longType
    /// C's `long long`: `Int64`.
    case longLongType
    /// C's `float`: `Float`.
    case floatType
    /// C's `double`: `Double`.
    case doubleType
    /// ``CFIndex``: `Int`.
    case cfIndexType
    /// `Int`.
    case nsIntegerType
    /// `CGFloat`: `Double`.
    case cgFloatType
}

/// What a truth value says.
public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean.boolValue }

/// Writes a number to memory, as the type that is named.
///
/// - Parameters:
///   - number: The number.
///   - theType: Which type the memory is of.
///   - valuePtr: Where it is written, also where it does not fit.
/// - Returns: Whether nothing of it was lost.
public func CFNumberGetValue(
    _ number: CFNumber!, _ theType: CFNumberType, _ valuePtr: UnsafeMutableRawPointer!
) -> Bool {
    switch theType {
    case .sInt8Type, .charType: unsafe write(number, as: Int8.self, to: valuePtr)
    case .sInt16Type, .shortType: unsafe write(number, as: Int16.self, to: valuePtr)
    case .sInt32Type, .intType: unsafe write(number, as: Int32.self, to: valuePtr)
    case .sInt64Type, .longLongType, .longType, .cfIndexType, .nsIntegerType:
        unsafe write(number, as: Int64.self, to: valuePtr)
    case .float32Type, .floatType: unsafe write(number, Float(number.doubleValue), to: valuePtr)
    case .float64Type, .doubleType, .cgFloatType: unsafe write(number, number.doubleValue, to: valuePtr)
    }
}

private func write<T: FixedWidthInteger>(
    _ number: NSNumber, as type: T.Type, to memory: UnsafeMutableRawPointer
) -> Bool {
    let value = T(truncatingIfNeeded: number.int64Value)
    unsafe memory.storeBytes(of: value, as: T.self)
    return NSNumber(value: Int64(value)).compare(number) == .orderedSame
}

private func write<T: BinaryFloatingPoint>(
    _ number: NSNumber, _ value: T, to memory: UnsafeMutableRawPointer
) -> Bool {
    unsafe memory.storeBytes(of: value, as: T.self)
    return value.isNaN || NSNumber(value: Double(value)).compare(number) == .orderedSame
}
