/// What the enclave will say by itself in the next block of the audit record.
struct AuditWitness: Sendable {
    /// How much of it a block that was sealed has.
    struct Mark: Sendable {
        let rowKeys: UInt64
        let events: Int
        let dropped: UInt64
    }

    /// Without a daemon nobody takes them.
    static let mostEvents = 256
    /// As many are counted as lost; a daemon may say any number.
    static let mostLost: UInt64 = 1 << 32

    private(set) var rowKeys: UInt64 = 0
    /// With their moment since the machine was started.
    private var events: [(kind: AuditEvent.Kind, moment: Duration)] = []
    /// Events that no line will tell; said with the next block.
    private(set) var dropped: UInt64 = 0

    /// What is lost has no moment of its own, and waits for a line that has one.
    var hasEvents: Bool { !events.isEmpty }
    var mark: Mark { Mark(rowKeys: rowKeys, events: events.count, dropped: dropped) }

    mutating func note(rowKeys count: Int) { rowKeys += UInt64(count) }

    mutating func note(_ kind: AuditEvent.Kind, at moment: Duration) {
        if events.count < Self.mostEvents { events.append((kind, moment)) } else { lose(1) }
    }

    /// Events of a daemon that has ended.
    mutating func lose(_ count: UInt64) { dropped = min(dropped + min(count, Self.mostLost), Self.mostLost) }

    /// A block is on the disk that an enclave before this one sealed.
    mutating func hasSaid(lost count: UInt64) { dropped -= min(dropped, count) }

    /// - Parameter wallClock: what the calendar says at `moment`.
    func block(_ records: [UInt8], previousCount: UInt32, at moment: Duration, wallClock: Double) -> OpenedAuditBlock {
        OpenedAuditBlock(
            records: records, rowKeys: rowKeys,
            events: events.map { event in
                AuditEvent(kind: event.kind, time: wallClock - (moment - event.moment) / .seconds(1))
            },
            droppedEvents: dropped, previousCount: previousCount)
    }

    /// A block that is on the disk has said it.
    mutating func remove(_ mark: Mark) {
        rowKeys -= min(rowKeys, mark.rowKeys)
        dropped -= min(dropped, mark.dropped)
        events.removeFirst(min(events.count, mark.events))
    }
}
