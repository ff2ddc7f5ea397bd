@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Everything that a descriptor gives up to its end, straight into memory that
/// is wiped; nil where that is more than `limit` bytes.
///
/// - Parameters:
///   - beforeEach: called before each read, which may wait there.
///   - isWhole: whether the first `count` bytes are enough, of which `new` came with the
///     last read.
func readSecret(
    _ descriptor: Int32, atMost limit: Int, beforeEach: () throws(SystemCallError) -> Void = {},
    isWhole: (borrowing SecretBytes, _ count: Int, _ new: Int) -> Bool = { _, _, _ in false }
) throws(SystemCallError) -> SecretBytes? {
    var secret = SecretBytes(count: min(limit + 1, 64 * 1024))
    var count = 0
    while true {
        if count == secret.count {
            if count > limit { return nil }
            secret = try secret.enlarged(to: min(limit + 1, 2 * count))
        }
        try beforeEach()
        let got = unsafe secret.withUnsafeMutableBytes { space in
            unsafe read(descriptor, space.baseAddress! + count, space.count - count)
        }
        if got < 0 {
            if errno == EINTR { continue }
            throw SystemCallError("read", errno: errno)
        }
        if got == 0 { break }
        count += got
        if isWhole(secret, count, got) { break }
    }
    if count > limit { return nil }
    secret.truncate(to: count)
    return secret
}

extension Descriptor {
    /// What comes until it is whole; nil where that is not within `limit` bytes, or the other
    /// side ends before.
    ///
    /// - Parameter isWhole: looks at the first `count` bytes of what has come.
    /// - Throws: ETIMEDOUT once the deadline has passed.
    package func readSecret(
        atMost limit: Int, until deadline: Deadline, isWhole: (borrowing SecretBytes, _ count: Int) -> Bool
    ) throws(SystemCallError) -> SecretBytes? {
        var wasWhole = false
        let bytes = try KeychainPlatform.readSecret(
            raw, atMost: limit,
            beforeEach: { () throws(SystemCallError) in
                guard try wait(for: raw, to: .receive, until: deadline) == .ready else {
                    throw SystemCallError("read", errno: ETIMEDOUT)
                }
            },
            isWhole: { bytes, count, _ in
                wasWhole = isWhole(bytes, count)
                return wasWhole
            })
        return wasWhole ? bytes : nil
    }
}

extension StandardStream {
    /// Everything up to a blank line (of nothing or a CR), or to the end, or nil where that is more than
    /// `limit` bytes. Whoever waits for an answer may leave the stream open.
    package func readSecretLines(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        let (newline, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        return try KeychainPlatform.readSecret(
            rawValue, atMost: limit,
            isWhole: { bytes, count, new in
                // A blank line may have begun with the last bytes of the read before.
                for index in count - new..<count where bytes[index] == newline {
                    let start = index > 0 && bytes[index - 1] == carriageReturn ? index - 1 : index
                    if start == 0 || bytes[start - 1] == newline { return true }
                }
                return false
            })
    }
}

/// What a person names to be read: a file's content, or a folder.
package enum NamedSource: ~Copyable {
    case folder
    case file(SecretBytes)

    /// - Throws: what open(2) and read(2) refuse; EFBIG for more than `limit` bytes.
    package static func read(_ path: String, atMost limit: Int) throws(SystemCallError) -> NamedSource {
        let file = Descriptor(owning: try checked("open", unsafe lk_open(path, O_RDONLY | O_NOCTTY, 0)))
        if try FileStatus(of: file).isDirectory { return .folder }
        guard let content = try readSecret(file.raw, atMost: limit) else { throw SystemCallError("read", errno: EFBIG) }
        return .file(content)
    }
}

/// A secret that whoever started us passes on a descriptor.
package enum InheritedSecret {
    /// Everything up to the end; nil where it is longer than `limit`.
    package static func readAll(descriptor: Int32, atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try readSecret(descriptor, atMost: limit)
    }

    /// The first line, without its newline; nil where it is longer than `limit`.
    package static func readLine(descriptor: Int32, atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        guard var secret = try readSecret(descriptor, atMost: limit + 1) else { return nil }
        let end = unsafe secret.withUnsafeBytes { bytes in
            unsafe bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        }
        secret.truncate(to: end)
        return secret
    }
}

extension SecretBytes {
    /// A larger copy, with zeros after what there is.
    ///
    /// - Throws: ENOMEM.
    package func enlarged(to count: Int) throws(SystemCallError) -> SecretBytes {
        var larger = try SecretBytes(allocating: count)
        unsafe larger.withUnsafeMutableBytes { place in
            unsafe withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        return larger
    }
}
