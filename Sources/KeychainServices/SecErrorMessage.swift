public import Foundation
import KeychainModel

/// What a result code means, for a person to read.
///
/// English, in our own words: what failed and, where something helps, what to
/// do. `OSStatus N` for a number that is not a code of Security.
///
/// - Parameters:
///   - status: The code.
///   - reserved: Ignored.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    NSString(string: Status(rawValue: status).message)
}
