package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What a row key is bound to, beside format, store id and class key: a wrapped
/// key opens only with the same (architecture section 3).
package struct RowBinding: Sendable, Hashable {
    package let uuid: [UInt8]
    package let protectionClass: ProtectionClass
    /// Canonical encoding of the access control; empty: unconstrained.
    package let accessControl: [UInt8]
    /// What a person who is asked for the row is shown; nil: nobody is, or the row is
    /// of a format before 3, and the daemon's word is all there is.
    package let shown: ShownItem?

    package init(
        uuid: [UInt8], protectionClass: ProtectionClass, accessControl: [UInt8], shown: ShownItem? = nil
    ) {
        self.uuid = uuid
        self.protectionClass = protectionClass
        self.accessControl = accessControl
        self.shown = shown
    }
}

/// A key as it rests in the database: which generation of its class key wrapped
/// it, and the box.
package struct WrappedKey: Sendable, Hashable {
    /// A box around 32 bytes: nonce (12), ciphertext (32), tag (16).
    package static let boxByteCount = 60
    /// A box around such a box, for a row that asks for an application password.
    package static let layeredBoxByteCount = 88

    package let generation: UInt32
    package let box: [UInt8]

    package init(generation: UInt32, box: [UInt8]) {
        self.generation = generation
        self.box = box
    }
}

/// What became of one key of a batch; a batch never asks a person.
package enum KeyOutcome: Sendable {
    /// 32 bytes, and the key as wrapped.
    case key(SharedSecret, WrappedKey)
    /// The class is closed now.
    case locked
    /// A constraint has to be met first.
    case needsAuthentication
    /// An application password is needed, and none or another one was set.
    case wrongApplicationPassword
    /// The class key is verified and refuses the box.
    case damaged
    /// There is no key for this class (no passcode has been set).
    case noClassKey
    /// The class key is gone for good: the passcode that it lasted for was removed
    /// or reset.
    case effaced
}

/// What became of a key that was to be wrapped anew.
package enum RewrapOutcome: Sendable, Hashable {
    case wrapped(WrappedKey)
    case locked
    case damaged
    case noClassKey
    case effaced
    /// A constraint has to be met first (``EnclaveConnection/permit(_:on:in:)`` alone).
    case needsAuthentication
}

/// What the enclave says about itself, for `latchkey status` and doctor.
package struct EnclaveDescription: Sendable, Hashable {
    package var protectors: [String]
    package var slots: [String]
    package var state: DeviceState
    /// The newest generation of each class key, whether it is open or not.
    package var generations: [ProtectionClass: UInt32]
    /// Generations of akpu below it are gone for good.
    package var effacedBelow: UInt32
    package var memoryLocked: Bool
    package var keybagGeneration: UInt64
    package var processID: Int32
    /// Files of the keybag of which one copy is damaged and could not be written
    /// again (a full or read-only disk); the other copy opens.
    package var unrepairedFiles: [String]
    /// Why a slot that opens at the start did not; nil: it did, or there is none.
    package var startRefusal: String?
    /// Why nobody tells of sleep and locked screens, which it was told to lock on.
    package var loginsFault: String?
    /// What the process does to itself; empty for keys within a program.
    package var measures: [MeasureState] = []
    /// Whether the next enclave would not find the files that this one has open; nil: it
    /// would.
    package var placeFault: PlaceFault?

    package init(
        protectors: [String], slots: [String], state: DeviceState, generations: [ProtectionClass: UInt32],
        effacedBelow: UInt32, memoryLocked: Bool, keybagGeneration: UInt64, processID: Int32,
        unrepairedFiles: [String] = [],
        startRefusal: String? = nil
    ) {
        self.protectors = protectors
        self.slots = slots
        self.state = state
        self.generations = generations
        self.effacedBelow = effacedBelow
        self.memoryLocked = memoryLocked
        self.keybagGeneration = keybagGeneration
        self.processID = processID
        self.unrepairedFiles = unrepairedFiles
        self.startRefusal = startRefusal
    }
}

/// Where an enclave learns that a finger or a face is the owner's.
package protocol BiometrySource: AnyObject, Sendable {
    /// nil: there is no reader now.
    var state: BiometryState? { get }
}

/// The daemon's side of the enclave: the real process over a socket, or the same
/// code in process. One connection is used by one thread at a time.
///
/// - Throws: `errSecNotAvailable` with reason `enclaveUnreachable`,
///   `enclaveSilent` or `keybagUnreadable`; never a status that could be mistaken for damage.
package protocol EnclaveConnection: AnyObject, Sendable {
    /// 16 bytes that name the store whose keybag this is.
    var storeID: [UInt8] { get }
    /// 32 bytes for blind values; open from the start.
    var indexKey: SharedSecret { get }

    /// - Parameter session: whose application password goes into the wrap of a row
    ///   that asks for one.
    func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome]
    /// - Parameter session: in which constraints were met.
    func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [KeyOutcome]
    /// Whether the constraint that each row's access control has for an operation is
    /// met in a session: `key` where it is (without a key being told), else as
    /// ``openRowKeys(_:in:)``. The wrapped key has to open with the binding, so that
    /// the constraint is the one that the row was stored with.
    func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?
    ) throws(KeychainError) -> [RewrapOutcome]
    /// A new authentication context.
    func openSession() throws(KeychainError) -> AuthenticationSessionID
    func closeSession(_ session: AuthenticationSessionID) throws(KeychainError)
    /// - Parameter key: 32 bytes that only the application password gives; nil takes
    ///   it back.
    func setApplicationKey(_ key: SharedSecret?, in session: AuthenticationSessionID) throws(KeychainError)
    /// By what a person could agree.
    func means() throws(KeychainError) -> AuthenticationMeans
    /// Whether everything is met already that would be asked.
    ///
    /// - Parameter age: how old an unlock by a finger may be to meet it, in this session
    ///   from then on (``EnclaveCore/oldestFinger`` at the most); zero: none does.
    /// - Throws: as ``ask(_:in:)``.
    func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration
    ) throws(KeychainError) -> Bool
    /// Puts a question that a person answers at the enclave's own door.
    ///
    /// - Returns: what the question is called there (16 bytes); nil where nobody has to
    ///   be asked, because it is met already.
    /// - Throws: `errSecAuthFailed` where nothing that a person could prove would meet
    ///   it: `passcodeNotSet`, `biometryNotAvailable`, `biometryNotEnrolled`,
    ///   `authenticationFailed`, `contextInvalid`.
    func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID
    ) throws(KeychainError) -> [UInt8]?
    /// What became of a question; nil: nobody has answered yet.
    func outcome(of question: [UInt8]) throws(KeychainError) -> QuestionOutcome?
    func makeMetadataKey(for protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome
    func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) throws(KeychainError) -> KeyOutcome
    /// The same keys wrapped under the newest key of their class, for rows that no
    /// one has to agree to: nothing is opened to the caller.
    func rewrapRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) throws(KeychainError) -> [RewrapOutcome]
    /// Forgets the keys of a class below a generation, which nothing is wrapped
    /// under any more.
    func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError)
    /// Closes what is open while unlocked.
    ///
    /// - Throws: `errSecAuthFailed`, reason `passcodeNotSet`.
    func lock() throws(KeychainError)
    func describe() throws(KeychainError) -> EnclaveDescription
    /// Seals the next block of the audit record; nil where there is nothing to say.
    ///
    /// - Parameters:
    ///   - records: the daemon's own, which nobody reads there.
    ///   - lowest: the number of a file that may be begun.
    /// - Throws: `errSecInteractionNotAllowed` where the record has to begin and the
    ///   keychain is locked.
    func sealAudit(_ records: [UInt8], fromFile lowest: UInt64) throws(KeychainError) -> SealedAuditBlock?
    /// Says that a block is on the disk, so that the next one is sealed under the next key.
    /// Waits for the enclave's own disk, 30 s at the most.
    ///
    /// - Returns: where the next block goes: behind this one, if it was the next.
    func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace?
    /// Says how many events wait to be recorded and cannot be, so that the record has their
    /// number if this process ends first. Waits as ``confirmAudit(_:)`` does; does nothing
    /// where no record was begun.
    ///
    /// - Parameters:
    ///   - count: all that wait; 0: none.
    ///   - teller: another number for each process; what another one told is lost from now on.
    func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError)
    /// Where the next block of the audit record goes; nil: none was begun.
    ///
    /// - Parameter settled: `busy` while one is being confirmed; else what counts so far.
    func auditHead(settled: Bool) throws(KeychainError) -> AuditPlace?
    /// Opens blocks that follow each other in one file, while the keychain is unlocked.
    func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) throws(KeychainError) -> AuditOpening
    /// What the enclave says of itself once its state has another number; nil where
    /// `cancelled` was signalled first. Waits for as long as that takes: on a
    /// connection of its own. Asking with a number says that everything up to it was
    /// heard, and that nothing of what closed then is kept.
    func state(after number: UInt64, orUntil cancelled: EventSignal) throws(KeychainError) -> EnclaveDescription?
}

/// Makes connections to one enclave; the daemon takes one per thread.
package protocol EnclaveConnector: Sendable {
    func connect() throws(KeychainError) -> any EnclaveConnection

    /// No connection will be asked for any more: what is held for them is given up.
    func close()
}

extension EnclaveConnector {
    package func close() {}
}
