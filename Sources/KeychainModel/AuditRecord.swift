/// What was done with the keychain, by whom, and how it was decided: no value, and of
/// an item nothing but keyed digests of its names.
package struct AuditRecord: Sendable, Hashable {
    /// What happened. Numbers are a promise on disk; those from 64 on are the enclave's
    /// own, which no daemon can leave out or make up.
    package enum Event: Sendable, Hashable {
        /// A value was handed to the program.
        case read
        /// A search that was refused.
        case search
        case add
        case update
        case delete
        /// A program was to be given to a person's agreement (LAContext), or let reach
        /// every program's items.
        case agree
        /// A connection that was refused, or ended because of who spoke on it.
        case connect
        /// Damaged items were brought back, or accepted as lost.
        case repair
        /// The audit record was read.
        case audit
        /// So many records had no place, or could not be written.
        case gap
        /// The enclave's process began.
        case enclaveStarted
        case unlocked
        case locked
        /// A wrong passcode or recovery code was brought.
        case attemptFailed
        case passcodeSet
        case passcodeChanged
        case passcodeReset
        case passcodeRemoved
        case recoveryCodeMade
        case recoveryCodeRemoved
        case protectorAdded
        case protectorRemoved
        case protectorResealed
        case slotAdded
        case slotRemoved
        /// By a TPM, or by the credential of a slot: by no person.
        case unlockedBySlot
        /// Nobody asked for it then: the person had chosen when.
        case lockedByItself
        case lockPolicyChanged
        /// The slot of the login password was made for another one.
        case slotChanged
        /// By a finger, after a lock.
        case unlockedByFinger
        /// From then on a finger opens it again after a lock.
        case fingerAdded
        /// It does no more.
        case fingerRemoved
        /// From then on a TPM's counter tells an older copy of the folder.
        case counterBegun
        /// None does any more.
        case counterEnded
        /// A person accepted a folder that the counter spoke against.
        case copyAccepted
        /// A person agreed to what they were asked.
        case agreed
        /// What says where the record ends was lost: what stood at its end then cannot be
        /// proved.
        case headLost
        /// How many keys of items the enclave gave to the daemon: an upper bound of what
        /// the daemon can have read since the lines before.
        case keysOpened
        /// Of a newer version.
        case unknown(UInt32)
    }

    /// Who says so.
    package enum Voucher: Sendable, Hashable {
        case daemon
        case enclave
    }

    package var event: Event
    package var voucher = Voucher.daemon
    /// Seconds since 2001-01-01T00:00:00Z, of the first that is counted here.
    package var first: Double
    /// Likewise of the last.
    package var last: Double
    package var count: UInt64 = 1
    /// The strongest rung of the program's identity; empty where there is none.
    package var program = ""
    /// Of the first that is counted here.
    package var process: Int32 = 0
    package var strength = IdentityStrength.none
    /// Whether a sandbox or a unit may hold it.
    package var isContained = false
    /// For whom the program said that it called; nil: for itself.
    package var served: ServedProgram?
    package var inPersonsName = false
    package var itemClass: ItemClass?
    package var protection: ProtectionClass?
    /// Cut: a program may name any.
    package var group: String? {
        didSet { group = group?.cut(toScalars: Self.longestGroup) }
    }
    /// Unicode scalars of a group that are kept.
    package static let longestGroup = 128
    /// Keyed digest of class, name and account, 16 bytes; empty: no one item.
    package var item: [UInt8] = []
    /// Keyed digest of class and name alone.
    package var name: [UInt8] = []
    /// Why it was refused; nil: it was allowed.
    package var refusal: Refusal?

    package struct Refusal: Sendable, Hashable {
        package let status: Status
        package let reason: Reason

        package init(status: Status, reason: Reason) {
            self.status = status
            self.reason = reason
        }
    }

    package static let digestByteCount = 16

    package init(_ event: Event, at moment: Double) {
        self.event = event
        first = moment
        last = moment
    }
}

extension AuditRecord.Event {
    /// Every event with its number on disk and its name for programs.
    private static let table: [(event: AuditRecord.Event, number: UInt32, name: String)] = [
        (.read, 1, "read"), (.search, 2, "search"), (.add, 3, "add"), (.update, 4, "update"),
        (.delete, 5, "delete"), (.agree, 6, "agree"), (.connect, 7, "connect"), (.repair, 8, "repair"),
        (.audit, 9, "log"), (.gap, 10, "gap"),
        (.enclaveStarted, 65, "started"), (.unlocked, 66, "unlocked"), (.locked, 67, "locked"),
        (.attemptFailed, 68, "attempt-failed"), (.passcodeSet, 69, "passcode-set"),
        (.passcodeChanged, 70, "passcode-changed"), (.passcodeReset, 71, "passcode-reset"),
        (.passcodeRemoved, 72, "passcode-removed"), (.recoveryCodeMade, 73, "recovery-made"),
        (.recoveryCodeRemoved, 74, "recovery-removed"), (.protectorAdded, 75, "protector-added"),
        (.protectorRemoved, 76, "protector-removed"), (.protectorResealed, 77, "protector-resealed"),
        (.agreed, 78, "agreed"), (.headLost, 79, "head-lost"), (.keysOpened, 80, "keys-opened"),
        (.slotAdded, 81, "slot-added"), (.slotRemoved, 82, "slot-removed"),
        (.unlockedBySlot, 83, "unlocked-by-slot"), (.lockedByItself, 84, "locked-by-itself"),
        (.lockPolicyChanged, 85, "lock-policy"), (.slotChanged, 104, "slot-changed"),
        (.unlockedByFinger, 144, "unlocked-by-finger"), (.fingerAdded, 145, "finger-added"),
        (.fingerRemoved, 146, "finger-removed"), (.counterBegun, 174, "counter-on"),
        (.counterEnded, 175, "counter-off"), (.copyAccepted, 176, "copy-accepted"),
    ]
    private static let byNumber = Dictionary(uniqueKeysWithValues: table.map { ($0.number, $0.event) })
    private static let byEvent = Dictionary(uniqueKeysWithValues: table.map { ($0.event, ($0.number, $0.name)) })

    /// Names of all events, in order.
    package static var names: [String] { table.map(\.name) }
    /// What the enclave counts from is 64 below.
    package static let firstOfEnclave: UInt32 = 64

    package init(number: UInt32) { self = Self.byNumber[number] ?? .unknown(number) }

    package var number: UInt32 {
        if case .unknown(let number) = self { return number }
        return Self.byEvent[self]?.0 ?? 0
    }

    package var name: String { Self.byEvent[self]?.1 ?? "unknown" }
}

/// The names of an item by which the audit record is asked for it.
package struct AuditNames: Sendable, Hashable {
    package let itemClass: ItemClass
    /// Service, server or label, as the class has it.
    package let name: String
    package let account: String

    package init(itemClass: ItemClass, name: String, account: String) {
        self.itemClass = itemClass
        self.name = name
        self.account = account
    }

    /// What stands for an item's name in its class.
    package static func nameCode(of itemClass: ItemClass) -> AttributeCode {
        switch itemClass {
        case .genericPassword: .service
        case .internetPassword: .server
        case .certificate, .key, .identity: .label
        }
    }
}

/// Where in the audit record somebody reads on.
package struct AuditCursor: Sendable, Hashable {
    package let file: UInt64
    /// Of the block in its file.
    package let block: UInt32

    package init(file: UInt64, block: UInt32) {
        self.file = file
        self.block = block
    }
}

/// What is asked of the audit record.
package struct AuditQuery: Sendable, Hashable {
    /// nil: from the oldest line on.
    package var from: AuditCursor?
    /// Only lines about items of this name; nil: all lines.
    package var name: String?
    /// Only of this account as well.
    package var account: String?
    /// Whether items that are there now are told by their names.
    package var wantsNames = false
    /// Refused where a person would have to agree first.
    package var asksNobody = false
    package init() {}
}

/// One answer about the audit record.
package struct AuditPage: Sendable, Hashable {
    package struct Name: Sendable, Hashable {
        package let digest: [UInt8]
        package let names: AuditNames
        package let group: String

        package init(digest: [UInt8], names: AuditNames, group: String) {
            self.digest = digest
            self.names = names
            self.group = group
        }
    }

    package var records: [AuditRecord] = []
    package var findings: [AuditFinding] = []
    package var names: [Name] = []
    /// Where to go on.
    package var next: AuditCursor
    /// Whether the end of the record was reached.
    package var isAtEnd = false
    /// Blocks that were opened and are whole.
    package var blocks: UInt64 = 0
    /// What waits in the daemon because it cannot be written; nil: nothing does.
    package var unwritten: Unwritten?

    package struct Unwritten: Sendable, Hashable {
        /// How many events; they are lost if the daemon is killed.
        package let count: UInt64
        /// Seconds since 2001-01-01T00:00:00Z.
        package let since: Double

        package init(count: UInt64, since: Double) {
            self.count = count
            self.since = since
        }
    }

    package init(next: AuditCursor) { self.next = next }
}

/// Something that is not as the keychain left it.
package struct AuditFinding: Sendable, Hashable {
    /// Numbers are a promise on the wire.
    package enum Kind: UInt32, Sendable, Hashable, CaseIterable {
        /// A file that should be there is not.
        case fileMissing = 1
        /// A file does not begin as one of ours, or stands in another's place.
        case fileDamaged = 2
        /// Lines in the middle of a file are not there.
        case linesMissing = 3
        /// Lines were changed.
        case linesChanged = 4
        /// Lines at the end of a file are not there.
        case linesCut = 5
        /// The record is longer than the keychain knows: its keys were replaced by an
        /// older copy of them.
        case tooLong = 6
        /// What says where the record ends is gone.
        case headMissing = 7
        /// Nobody has the keys of these lines any more; they cannot be checked.
        case keysForgotten = 8
        /// Of a newer version.
        case unknown = 0
    }

    package let kind: Kind
    package let file: UInt64
    /// Of the first block that it is about; 0 of a whole file.
    package let block: UInt32

    package init(_ kind: Kind, file: UInt64, block: UInt32 = 0) {
        self.kind = kind
        self.file = file
        self.block = block
    }
}
