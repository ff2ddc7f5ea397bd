@_implementationOnly import CLatchkeyPlatform

extension PacketSocket {
    /// Waits until the other end has received what was sent, but for one small
    /// message at the most.
    ///
    /// A socket is ready to be written while a quarter of its room is used
    /// (unix(7), `unix_writable`): the room is made as small as can be for the
    /// time of the wait, so that "ready" means "hardly anything is unread".
    ///
    /// - Parameter beforeWaiting: called where something is unread, however soon that changes.
    package func waitUntilRead(
        until deadline: Deadline, beforeWaiting: () -> Void
    ) throws(SystemCallError) -> WaitOutcome {
        guard try checked("ioctl SIOCOUTQ", lk_unread(descriptor.raw)) > 0 else { return .ready }
        let room = try checked("setsockopt SO_SNDBUF", lk_set_send_room(descriptor.raw, 0))
        defer { _ = lk_set_send_room(descriptor.raw, room) }
        beforeWaiting()
        return try wait(for: descriptor.raw, to: .send, until: deadline)
    }
}
