@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Everything that a descriptor gives up to its end, straight into memory that
/// is wiped; nil where that is more than `limit` bytes.
///
/// - Parameter beforeEach: called before each read, which may wait there.
func readSecret(
    _ descriptor: Int32, atMost limit: Int, beforeEach: () throws(SystemCallError) -> Void = {}
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
    }
    if count > limit { return nil }
    secret.truncate(to: count)
    return secret
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
