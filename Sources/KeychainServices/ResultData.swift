internal import Foundation
internal import KeychainPlatform

/// Bytes that a call gives to its caller, wiped when the object is let go. A `Data` that is made
/// of them is a copy, which is the caller's.
///
/// Foundation on Linux makes that copy byte by byte, and asks for length and place before each
/// one (200 ns a byte with Swift 6.3.1): an object that has both at hand is copied in an eighth
/// of the time.
@safe final class ResultData: NSData {
    // Both are set once, before anybody else has it.
    private var place: UnsafeMutableRawPointer?
    private var count = 0

    static func copy(of source: UnsafeRawBufferPointer) -> NSData {
        let made = ResultData()
        guard let base = source.baseAddress, source.count > 0 else { return made }
        let place = UnsafeMutableRawPointer.allocate(byteCount: source.count, alignment: 1)
        unsafe place.copyMemory(from: base, byteCount: source.count)
        unsafe (made.place, made.count) = (place, source.count)
        return made
    }

    deinit {
        guard let place = unsafe place else { return }
        unsafe unsafeWipe(UnsafeMutableRawBufferPointer(start: place, count: count))
        unsafe place.deallocate()
    }

    override var length: Int { count }

    /// As NSData's of no bytes, which is no null pointer either.
    override var bytes: UnsafeRawPointer { unsafe place.map { UnsafeRawPointer($0) } ?? Self.nowhere }

    // A pointer to nothing that is read.
    nonisolated(unsafe) private static let nowhere = UnsafeRawPointer(
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

    override func copy(with zone: NSZone? = nil) -> Any { self }

    /// An archive names the class that every program knows.
    override var classForCoder: AnyClass { NSData.self }
}
