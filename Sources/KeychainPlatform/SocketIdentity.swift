@_implementationOnly import CLatchkeyPlatform

/// Which socket a descriptor stands for, so that one is told from another that has its
/// number: within a program of somebody else, who closes what they did not open (a daemon at
/// its start, say), numbers come back as something else.
package struct SocketIdentity: Hashable, Sendable {
    private let device: UInt64
    private let file: UInt64

    /// nil where the number stands for nothing.
    package init?(_ socket: PacketSocket) {
        var (device, file): (UInt64, UInt64) = (0, 0)
        guard unsafe lk_file_identity(socket.descriptor.raw, &device, &file) == 0 else { return nil }
        (self.device, self.file) = (device, file)
    }

    /// Whether it is what this descriptor stands for now.
    package func isStill(_ socket: PacketSocket) -> Bool {
        guard let now = SocketIdentity(socket) else { return false }
        return now.device == device && now.file == file
    }
}
