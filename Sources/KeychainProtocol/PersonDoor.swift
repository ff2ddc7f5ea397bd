package import KeychainModel
package import KeychainPlatform

/// What a person opens the keychain with.
package enum PersonCredential: Sendable {
    case passcode(SharedSecret)
    /// As it was shown: case, spaces and hyphens do not matter.
    case recoveryCode(SharedSecret)
}

/// Whether the keychain is open, as the enclave has it.
package struct DeviceState: Hashable, Sendable {
    /// Whether what programs store is open, and stays so for now: a lock that was announced
    /// counts as a lock.
    package var isOpenForPrograms: Bool { openClasses.contains(.whenUnlocked) && !isClosing }

    package enum Lock: UInt8, Hashable, Sendable {
        case unlocked = 1
        /// Was unlocked since the enclave started.
        case locked = 2
        case beforeFirstUnlock = 3
    }

    /// Goes up with each change of anything here; another enclave process begins
    /// anew.
    package var number: UInt64
    package var lock: Lock
    package var hasPasscode: Bool
    package var hasRecoveryCode: Bool
    package var openClasses: Set<ProtectionClass>
    /// Attempts that failed since the last that did not.
    package var failedAttempts: Int
    /// Seconds until the next attempt is looked at; 0: now.
    package var secondsToNextAttempt: Int
    /// Unlocked still, and locked as soon as those that listen have heard of it.
    package var isClosing: Bool
    /// Whether something opens it without a person, although there is a passcode.
    package var opensByItself: Bool
    /// When it locks without anybody asking for it.
    package var lockPolicy: LockPolicy
    /// Whether a person chose that a finger opens it again after a lock.
    package var fingerUnlocks: Bool
    /// Whether it is locked and one would open it now, as far as the enclave is concerned:
    /// the reader is looked at when it is needed.
    package var fingerOpens: Bool
    /// Of what is kept as long as the passcode is set.
    package var effacement = EffacementState()
    /// Of what tells an older copy of the folder.
    package var counter = CounterState()

    package init(
        number: UInt64, lock: Lock, hasPasscode: Bool, hasRecoveryCode: Bool, openClasses: Set<ProtectionClass>,
        failedAttempts: Int = 0, secondsToNextAttempt: Int = 0, isClosing: Bool = false,
        opensByItself: Bool = false, lockPolicy: LockPolicy = .never, fingerUnlocks: Bool = false,
        fingerOpens: Bool = false
    ) {
        self.number = number
        self.lock = lock
        self.hasPasscode = hasPasscode
        self.hasRecoveryCode = hasRecoveryCode
        self.openClasses = openClasses
        self.failedAttempts = failedAttempts
        self.secondsToNextAttempt = secondsToNextAttempt
        self.isClosing = isClosing
        self.opensByItself = opensByItself
        self.lockPolicy = lockPolicy
        self.fingerUnlocks = fingerUnlocks
        self.fingerOpens = fingerOpens
    }
}

/// Where the effacement secret lies, and what is wrong with it.
package struct EffacementState: Hashable, Sendable {
    /// The TPM that has it; nil: the file, where there is a passcode.
    package var tpm: TPMAddress?
    /// Why it did not come at the last unlock; nil: it did, or there was none.
    package var fault: String?
    /// Where TPMs have secrets that are still to be destroyed: they did not answer, or others
    /// did.
    package var left: [TPMPlace]

    package init(tpm: TPMAddress? = nil, fault: String? = nil, left: [TPMPlace] = []) {
        self.tpm = tpm
        self.fault = fault
        self.left = left
    }
}

/// Which TPM counts, so that an older copy of the keychain's folder is told from the newest.
package struct CounterState: Hashable, Sendable {
    /// nil: none does.
    package var tpm: TPMAddress?
    /// Why it has not counted the last time; nil: it has. Until it has, a copy from before may
    /// pass for the newest.
    package var fault: String?
    /// Where TPMs have counters that are not used any more and still to be removed.
    package var left: [TPMPlace]

    package init(tpm: TPMAddress? = nil, fault: String? = nil, left: [TPMPlace] = []) {
        self.tpm = tpm
        self.fault = fault
        self.left = left
    }
}

/// What a person knows an item by. Of a constrained item it is bound to the row
/// key, so that the prompt names what the key was made for, whatever the daemon
/// says when it is used.
package struct ShownItem: Hashable, Sendable {
    /// Unicode scalars of each; the rest is cut, before it is bound as well.
    package static let longest = 128

    /// The item's label, else its service, server or account; empty where it has none.
    package let label: String
    /// The access group.
    package let group: String

    package init(label: String, group: String) {
        self.label = Self.cut(label)
        self.group = Self.cut(group)
    }

    /// By bytes, as they are bound: two ways to write one letter are two names.
    package static func == (one: ShownItem, other: ShownItem) -> Bool {
        one.label.hasSameBytes(as: other.label) && one.group.hasSameBytes(as: other.group)
    }

    package func hash(into hasher: inout Hasher) {
        for text in [label, group] { hasher.combine(Array(text.utf8)) }
    }

    private static func cut(_ text: String) -> String {
        // In bytes first: what has few of them has few scalars.
        if text.utf8.count <= longest { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(longest)))
    }
}

/// What the enclave would have a person be asked.
///
/// Whoever shows it tells apart whose word each part is: the item is what the
/// enclave itself opened, the program is the daemon's word, the reason is the
/// program's own and may say anything.
package struct PersonQuestion: Hashable, Sendable {
    /// Items that are shown by name; of the rest there is the number.
    package static let mostItems = 3

    package enum Purpose: UInt8, Hashable, Sendable {
        /// To open the whole keychain.
        case unlock = 1
        /// To let the program use an item.
        case useItem = 2
        /// To agree to what the program says (LAContext.evaluatePolicy).
        case agree = 3
        /// To let a program reach the items of every program, for five minutes in
        /// its terminal session.
        case deputy = 4
        /// The same for one call.
        case deputyOnce = 5
    }

    /// What a finger is good for.
    package enum Finger: UInt8, Hashable, Sendable {
        /// Nothing: the passcode is asked for.
        case none = 0
        /// In place of the passcode: whichever comes first.
        case orPasscode = 1
        /// The passcode is not enough, and not needed.
        case alone = 2
        /// Both are needed.
        case andPasscode = 3
    }

    package var purpose: Purpose
    /// What the fingerprint reader, which is looking by then, is good for.
    package var finger = Finger.none
    /// The first of the items that are to be used, ``mostItems`` at the most.
    package var items: [ShownItem]
    /// How many items are to be used.
    package var itemCount: Int
    /// Whether the enclave found the names of all items bound to their keys; false: some
    /// are the daemon's word, of items that were stored before names were bound.
    package var itemsAreBound: Bool
    /// The daemon's word: path or name of the program that asks.
    package var program: String
    package var programStrength: IdentityStrength
    package var programProcess: Int32
    /// The program's own words; may be empty, long, or imitate ours.
    package var reason: String
    /// Seconds after which the enclave takes no answer any more.
    package var secondsLeft: Int

    package init(
        purpose: Purpose, items: [ShownItem] = [], itemCount: Int = 0, itemsAreBound: Bool = false,
        program: String = "", programStrength: IdentityStrength = .none, programProcess: Int32 = 0, reason: String = "",
        secondsLeft: Int = 50
    ) {
        self.purpose = purpose
        self.items = Array(items.prefix(Self.mostItems))
        self.itemCount = itemCount
        self.itemsAreBound = itemsAreBound
        self.program = program
        self.programStrength = programStrength
        self.programProcess = programProcess
        self.reason = reason
        self.secondsLeft = secondsLeft
    }
}

/// What became of a question while a person was asked.
package struct QuestionNews: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        /// Nobody is asked any more.
        case over(isAgreed: Bool)
        case notRecognized
        /// A finger that could not be read.
        case unreadable
    }

    /// Goes up with each.
    package let number: UInt64
    package let event: Event

    package init(number: UInt64, _ event: Event) {
        self.number = number
        self.event = event
    }
}

/// The enclave as a person reaches it: from the prompt, or from `latchkey` on a
/// terminal. What is typed goes here and nowhere else.
///
/// Every call may take as long as an attempt costs (80 ms and more). All throw
/// `errSecNotAvailable` where the enclave cannot be reached, and `errSecAuthFailed`
/// (`authenticationFailed`, `attemptsDelayed`) where the credential is not right;
/// nothing is changed then.
package protocol PersonDoor: QuestionDoor {
    /// Opens every class. Nothing happens where all are open, but a wrong
    /// credential is refused all the same.
    func unlock(with credential: PersonCredential) throws(KeychainError)

    /// Closes the classes that are open while unlocked; needs no credential.
    ///
    /// - Throws: `errSecAuthFailed`, reason `passcodeNotSet`: it could not be
    ///   opened again.
    func lock() throws(KeychainError)

    /// The first passcode.
    ///
    /// - Throws: `errSecParam` (`passcodeIsSet`, `passcodeRefused`).
    func setPasscode(_ new: SharedSecret) throws(KeychainError)

    /// A new passcode in place of one that is known: keeps every item.
    func changePasscode(from old: SharedSecret, to new: SharedSecret) throws(KeychainError)

    /// A new passcode in place of one that was forgotten: destroys what is stored
    /// for as long as that passcode is set (WhenPasscodeSetThisDeviceOnly).
    func resetPasscode(with code: SharedSecret, to new: SharedSecret) throws(KeychainError)

    /// Destroys what is stored for as long as a passcode is set; opens the rest
    /// for whoever has the folder.
    func removePasscode(with credential: PersonCredential) throws(KeychainError)

    /// A recovery code to be shown once. It opens nothing before it was confirmed.
    ///
    /// - Parameter passcode: nil where there is none: the code then opens what the
    ///   keychain is bound to where the machine's own protectors do not.
    func makeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) -> SharedSecret

    /// The code as a person typed it back: from now on it opens, and one before
    /// it does not.
    func confirmRecoveryCode(_ typed: SharedSecret) throws(KeychainError)

    /// It opens nothing that is written from then on.
    func removeRecoveryCode(passcode: SharedSecret?) throws(KeychainError)
}

/// A question that waits for a person, and the way for the answer.
package protocol QuestionDoor: AnyObject, Sendable {
    func state() throws(KeychainError) -> DeviceState

    /// What this door was opened to ask; nil: nothing.
    func question() throws(KeychainError) -> PersonQuestion?

    /// A person agrees, with a credential.
    ///
    /// - Throws: as above; the question stands until it is answered, declined, or
    ///   its time is over (`promptTimedOut`).
    func agree(with credential: PersonCredential) throws(KeychainError)

    /// Nobody agrees: `userCanceled`, `promptTimedOut`, `nobodyToAsk`, or what the
    /// last of too many attempts was refused for.
    func decline(_ reason: Reason) throws(KeychainError)
}
