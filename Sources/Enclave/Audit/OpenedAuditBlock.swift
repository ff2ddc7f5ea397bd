internal import FoundationEssentials
internal import KeychainMessages

/// What a block says: the daemon's records, and what the enclave itself knows.
package struct OpenedAuditBlock: Hashable, Sendable {
    /// As the daemon gave them.
    package let records: [UInt8]
    /// Keys of items that the enclave handed to the daemon since the block before.
    package let rowKeys: UInt64
    package let events: [AuditEvent]
    /// Events for which there was no place.
    package let droppedEvents: UInt64
    /// Of the first block of a file: how many blocks the file before it has.
    package let previousCount: UInt32

    init(
        records: [UInt8], rowKeys: UInt64 = 0, events: [AuditEvent] = [], droppedEvents: UInt64 = 0,
        previousCount: UInt32 = 0
    ) {
        self.records = records
        self.rowKeys = rowKeys
        self.events = events
        self.droppedEvents = droppedEvents
        self.previousCount = previousCount
    }

    /// nil for bytes that no enclave of ours sealed.
    package init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_AuditBlock.self, bytes),
            message.previousCount <= AuditPlace.mostBlocks
        else { return nil }
        self.init(
            records: Array(message.records), rowKeys: message.witness.rowKeys,
            events: message.witness.events.map { AuditEvent(kind: .init(rawValue: $0.kind), time: $0.time) },
            droppedEvents: message.witness.droppedEvents, previousCount: message.previousCount)
    }

    package var encoded: [UInt8] {
        var message = Latchkey_AuditBlock()
        message.records = Data(records)
        message.previousCount = previousCount
        if rowKeys > 0 { message.witness.rowKeys = rowKeys }
        if droppedEvents > 0 { message.witness.droppedEvents = droppedEvents }
        if !events.isEmpty {
            message.witness.events = events.map { event in
                var out = Latchkey_AuditBlock.Event()
                out.kind = event.kind.rawValue
                out.time = event.time
                return out
            }
        }
        return MessageCoding.encode(message)
    }
}

/// Something that happened within the enclave, which no daemon can leave out.
package struct AuditEvent: Hashable, Sendable {
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The enclave's process began.
        package static let started = Kind(rawValue: 1)
        package static let unlocked = Kind(rawValue: 2)
        package static let locked = Kind(rawValue: 3)
        /// Somebody brought a wrong passcode or recovery code.
        package static let attemptFailed = Kind(rawValue: 4)
        package static let passcodeSet = Kind(rawValue: 5)
        package static let passcodeChanged = Kind(rawValue: 6)
        package static let passcodeReset = Kind(rawValue: 7)
        package static let passcodeRemoved = Kind(rawValue: 8)
        package static let recoveryCodeMade = Kind(rawValue: 9)
        package static let recoveryCodeRemoved = Kind(rawValue: 10)
        package static let protectorAdded = Kind(rawValue: 11)
        package static let protectorRemoved = Kind(rawValue: 12)
        package static let protectorResealed = Kind(rawValue: 13)
        /// A person agreed to a question.
        package static let agreed = Kind(rawValue: 14)
        /// The file that says where the record ends was gone or damaged: what stood at
        /// the end of the record before cannot be proved.
        package static let headLost = Kind(rawValue: 15)
        // 16 is what the record calls its count of keys.
        package static let slotAdded = Kind(rawValue: 17)
        package static let slotRemoved = Kind(rawValue: 18)
        /// By a TPM, or by the credential of a slot: by no person.
        package static let unlockedBySlot = Kind(rawValue: 19)
        /// Nobody asked for it then: the person had chosen when.
        package static let lockedByItself = Kind(rawValue: 20)
        package static let lockPolicyChanged = Kind(rawValue: 21)
        /// The slot of the login password was made for another one.
        package static let slotChanged = Kind(rawValue: 40)
        /// By a finger, after a lock.
        package static let unlockedByFinger = Kind(rawValue: 80)
        /// From then on a finger opens it again after a lock, or no more.
        package static let fingerAdded = Kind(rawValue: 81)
        package static let fingerRemoved = Kind(rawValue: 82)
        /// From then on a TPM's counter tells an older copy of the folder, or none does.
        package static let counterBegun = Kind(rawValue: 110)
        package static let counterEnded = Kind(rawValue: 111)
        /// A person accepted a folder that the counter spoke against.
        package static let copyAccepted = Kind(rawValue: 112)
    }

    package let kind: Kind
    /// Seconds since 2001-01-01T00:00:00Z.
    package let time: Double

    package init(kind: Kind, time: Double) {
        self.kind = kind
        self.time = time
    }
}
