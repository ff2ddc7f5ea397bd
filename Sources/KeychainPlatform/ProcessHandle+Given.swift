@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension ProcessHandle {
    /// A process descriptor that somebody else gave; nil for a descriptor of something else.
    ///
    /// What it is says the kernel: the file in /proc/self/fdinfo of a process descriptor, and
    /// of nothing else, has a line "Pid:" (pidfd_open(2); with pidfs as without).
    ///
    /// - Throws: where /proc does not tell.
    package static func given(_ descriptor: Descriptor) throws(SystemCallError) -> ProcessHandle? {
        try number(of: descriptor) == nil ? nil : ProcessHandle(descriptor)
    }

    /// The number of its process; nil for one that has been waited for, or is in a namespace
    /// out of sight.
    ///
    /// - Throws: where /proc does not tell.
    package func number() throws(SystemCallError) -> Int32? {
        guard let number = try Self.number(of: end), number > 0 else { return nil }
        return number
    }

    private static func number(of descriptor: Descriptor) throws(SystemCallError) -> Int32? {
        let file = unsafe lk_open("/proc/self/fdinfo/\(descriptor.raw)", O_RDONLY | O_CLOEXEC, 0)
        let bytes = try Descriptor(owning: try checked("open fdinfo", file)).readOnce(atMost: 4096)
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: Array("Pid:\t".utf8)) {
            return Int32(String(decoding: line.dropFirst(5), as: UTF8.self))
        }
        return nil
    }
}
