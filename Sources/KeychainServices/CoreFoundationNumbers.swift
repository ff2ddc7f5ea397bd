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

/// A number of what memory holds.
///
/// - Parameters:
///   - allocator: Ignored.
///   - theType: Which type the memory is of.
///   - valuePtr: Where it is.
/// - Returns: Nil where there is no memory.
public func CFNumberCreate(
    _ allocator: CFAllocator!, _ theType: CFNumberType, _ valuePtr: UnsafeRawPointer!
) -> CFNumber! {
    guard let memory = unsafe valuePtr else { return nil }
    return switch theType {
    case .sInt8Type, .charType: unsafe NSNumber(value: memory.loadUnaligned(as: Int8.self))
    case .sInt16Type, .shortType: unsafe NSNumber(value: memory.loadUnaligned(as: Int16.self))
    case .sInt32Type, .intType: unsafe NSNumber(value: memory.loadUnaligned(as: Int32.self))
    case .sInt64Type, .longLongType, .longType, .cfIndexType, .nsIntegerType:
        unsafe NSNumber(value: memory.loadUnaligned(as: Int64.self))
    case .float32Type, .floatType: unsafe NSNumber(value: memory.loadUnaligned(as: Float.self))
    case .float64Type, .doubleType, .cgFloatType: unsafe NSNumber(value: memory.loadUnaligned(as: Double.self))
    }
}

/// What a number is stored as: one of the first six types, and not always the one that it
/// was made of, as on Apple's systems. A truth value is C's `char`.
public func CFNumberGetType(_ number: CFNumber!) -> CFNumberType {
    if CFGetTypeID(number) == CFBooleanGetTypeID() { return .charType }
    return switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"): .sInt8Type
    case UInt8(ascii: "s"): .sInt16Type
    case UInt8(ascii: "i"): .sInt32Type
    case UInt8(ascii: "f"): .float32Type
    case UInt8(ascii: "d"): .float64Type
    default: .sInt64Type
    }
}

/// Whether a number is stored as a `Float` or a `Double`.
public func CFNumberIsFloatType(_ number: CFNumber!) -> Bool {
    [.float32Type, .float64Type].contains(CFNumberGetType(number))
}

/// Which of two numbers is smaller. What is no number comes before those above zero, and
/// -0.0 before 0.0; `context` is ignored.
public func CFNumberCompare(
    _ number: CFNumber!, _ otherNumber: CFNumber!, _ context: UnsafeMutableRawPointer!
) -> CFComparisonResult {
    let (one, other): (NSNumber, NSNumber) = (number, otherNumber)
    let order = CFComparisonResult(one.compare(other))
    guard order == .compareEqualTo, one.doubleValue == 0 else { return order }
    switch (one.doubleValue.sign, other.doubleValue.sign) {
    case (.minus, .plus): return .compareLessThan
    case (.plus, .minus): return .compareGreaterThan
    case (.plus, .plus), (.minus, .minus): return .compareEqualTo
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
