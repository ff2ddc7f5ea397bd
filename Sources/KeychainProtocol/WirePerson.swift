internal import FoundationEssentials
package import KeychainMessages
package import KeychainModel
package import KeychainPlatform
internal import SwiftProtobuf
internal import Synchronization

/// The sizes and times of the hop between a person and the enclave.
package enum PersonProtocol {
    /// The socket's name in the run folder.
    package static let socketName = "person.sock"
    /// What an attempt may take before the enclave counts as silent: the costliest
    /// Argon2id that a keybag may ask for, on a slow and busy machine.
    package static let patience: Duration = .seconds(30)
    /// How long a finger is waited for.
    package static let fingerWait: Duration = .seconds(60)
    /// The same as whoever waits for it has it, with what the enclave does then.
    package static let fingerPatience = fingerWait + patience
    /// Every secret that is typed, in bytes.
    package static let longestSecret = 1024
}

/// What travels of a request beside its number.
package struct PersonMessage: Sendable {
    package var operation: Latchkey_PersonRequest.Operation
    package var credential: PersonCredential?
    /// The login password, in the place of `credential`.
    package var login: SharedSecret?
    package var new: SharedSecret?
    package var reason: Reason?
    /// The number of the state that is known.
    package var state: UInt64
    /// Which question is spoken of: 16 bytes.
    package var question: [UInt8] = []
    /// Which protector or slot is spoken of: 16 bytes.
    package var protector: [UInt8] = []
    /// Of a new protector or slot: a TPM's, a security key's; empty: the software file, or a
    /// credential.
    package var protectorAddress = ""
    /// The recovery code goes with the protector that is removed.
    package var withoutCode = false
    /// When it is to lock by itself.
    package var lockPolicy: LockPolicy?
    /// What a TPM has of items of a set passcode may be lost.
    package var givingUp = false

    package init(
        _ operation: Latchkey_PersonRequest.Operation, credential: PersonCredential? = nil, new: SharedSecret? = nil,
        reason: Reason? = nil, state: UInt64 = 0
    ) {
        self.operation = operation
        self.credential = credential
        self.new = new
        self.reason = reason
        self.state = state
    }

    /// What it means that no answer came to it: a change may be in force all the same, and
    /// whoever tries again with the former passcode would count as one who guesses.
    var whatSilenceMeans: Reason {
        switch operation {
        case .setPasscode, .changePasscode, .resetPasscode, .removePasscode, .confirmRecoveryCode,
            .removeRecoveryCode, .addProtector, .removeProtector, .resealProtector, .addSlot, .removeSlot,
            .guardPasscode, .keepEffacement, .count, .acceptCopy:
            .noAnswer(mayHaveHappened: true)
        default: .enclaveUnreachable
        }
    }

    /// Header and tail.
    func encoded(number: UInt64) throws(KeychainError) -> EncodedMessage {
        var message = Latchkey_PersonRequest()
        message.number = number
        message.operation = operation
        message.state = state
        message.question = Data(question)
        message.protector = Data(protector)
        message.protectorAddress = protectorAddress
        message.withoutCode = withoutCode
        if let lockPolicy { message.lockPolicy = lockPolicy.message }
        message.givingUp = givingUp
        var parts: [SharedSecret] = []
        switch credential {
        case .passcode(let secret):
            message.credential = .passcode
            parts.append(secret)
        case .recoveryCode(let secret):
            message.credential = .recoveryCode
            parts.append(secret)
        case nil:
            guard let login else { break }
            message.credential = .loginPassword
            parts.append(login)
        }
        message.credentialLength = UInt32(clamping: parts.first?.bytes.count ?? 0)
        if let new { parts.append(new) }
        if let reason { message.reason = Latchkey_Failure(KeychainError(.userCanceled, reason: reason)) }
        do throws(SystemCallError) {
            return EncodedMessage(header: message.wireBytes, tail: try SecretBytes.joined(parts))
        } catch { throw .noMemory(for: "what was typed") }
    }

    /// nil for anything that ``encoded(number:)`` does not write.
    package static func decode(header: [UInt8], tail: borrowing SecretBytes) -> (
        number: UInt64, message: PersonMessage
    )? {
        guard let message = decoded(Latchkey_PersonRequest.self, header),
            tail.count <= 2 * PersonProtocol.longestSecret, Int(message.credentialLength) <= tail.count
        else { return nil }
        let split = Int(message.credentialLength)
        let typed = SharedSecret(tail.copy(0..<split))
        var decoded = PersonMessage(message.operation)
        switch message.credential {
        case .passcode: decoded.credential = .passcode(typed)
        case .recoveryCode: decoded.credential = .recoveryCode(typed)
        case .loginPassword: decoded.login = typed
        case .none where split == 0: break
        case .none, .UNRECOGNIZED: return nil
        }
        if tail.count > split { decoded.new = SharedSecret(tail.copy(split..<tail.count)) }
        decoded.state = message.state
        decoded.question = Array(message.question)
        decoded.protector = Array(message.protector)
        decoded.protectorAddress = message.protectorAddress
        decoded.withoutCode = message.withoutCode
        decoded.givingUp = message.givingUp
        if message.hasLockPolicy {
            guard let policy = LockPolicy(message.lockPolicy) else { return nil }
            decoded.lockPolicy = policy
        }
        if message.hasReason { decoded.reason = message.reason.keychainError.reason }
        return (message.number, decoded)
    }
}

extension Latchkey_PersonQuestion {
    package init(_ question: PersonQuestion) {
        self.init()
        purpose = UInt32(question.purpose.rawValue)
        if let first = question.items.first { (itemLabel, itemGroup) = (first.label, first.group) }
        otherItems = question.items.dropFirst().map(Latchkey_PersonQuestion.ShownItem.init)
        itemCount = UInt32(clamping: question.itemCount)
        itemsBound = question.itemsAreBound
        program = question.program
        programStrength = Latchkey_Strength(rawValue: question.programStrength.rawValue) ?? .none
        programProcess = question.programProcess
        reason = question.reason
        secondsLeft = UInt32(clamping: question.secondsLeft)
        finger = UInt32(question.finger.rawValue)
    }
}

extension Latchkey_PersonQuestion.ShownItem {
    package init(_ item: ShownItem) {
        self.init()
        label = item.label
        group = item.group
    }
}

extension ShownItem {
    package init(_ message: Latchkey_PersonQuestion.ShownItem) {
        self.init(label: message.label, group: message.group)
    }
}

extension PersonQuestion {
    /// nil for a purpose, or a part of a finger, that this program does not know: nobody is
    /// asked then.
    package init?(_ message: Latchkey_PersonQuestion) {
        guard let number = UInt8(exactly: message.purpose), let purpose = Purpose(rawValue: number) else { return nil }
        let first = ShownItem(label: message.itemLabel, group: message.itemGroup)
        self.init(
            purpose: purpose, items: message.itemCount == 0 ? [] : [first] + message.otherItems.map(ShownItem.init),
            itemCount: Int(message.itemCount), itemsAreBound: message.itemsBound, program: message.program,
            programStrength: IdentityStrength(rawValue: message.programStrength.rawValue) ?? .none,
            programProcess: message.programProcess, reason: message.reason, secondsLeft: Int(message.secondsLeft))
        guard let finger = UInt8(exactly: message.finger).flatMap(Finger.init) else { return nil }
        self.finger = finger
    }
}

extension QuestionNews {
    package init(_ message: Latchkey_PersonReply.QuestionNews) {
        let event: Event = message.notRecognized ? .notRecognized : .unreadable
        self.init(number: message.number, message.over ? .over(isAgreed: message.agreed) : event)
    }
}

extension Latchkey_PersonReply.QuestionNews {
    package init(_ news: QuestionNews) {
        self.init()
        number = news.number
        switch news.event {
        case .over(let isAgreed): (over, agreed) = (true, isAgreed)
        case .notRecognized: notRecognized = true
        case .unreadable: break
        }
    }
}

/// The enclave's door for a person, over its socket.
///
/// What is typed goes straight to the enclave: the daemon has no part in it. An
/// answer counts only with the kernel's stamp of the process that listens there.
package final class RemotePersonDoor: PersonDoor {
    private let channel: MessageChannel
    private let enclave: SenderCredentials
    /// What this door was opened for; empty: nothing.
    private let asked: [UInt8]
    private let clock: any KeychainClock
    private let number = Atomic<UInt64>(0)

    /// - Parameter runDirectory: the folder in which the enclave listens.
    /// - Throws: `errSecNotAvailable`, reason `enclaveUnreachable`, also where
    ///   another user's process listens: nothing is sent to it then.
    package init(
        runDirectory: String, process: Int32?, asked: [UInt8] = [], clock: any KeychainClock
    ) throws(KeychainError) {
        self.asked = asked
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) { folder = try PrivateDirectory(runDirectory, creating: false) } catch {
            throw Self.unreachable("\(error)")
        }
        do throws(SystemCallError) {
            let socket = try PacketSocket.connectNow(to: PersonProtocol.socketName, in: folder.descriptor)
            enclave = try socket.peerCredentials()
            try socket.stampSenders()
            channel = try MessageChannel(socket)
        } catch { throw Self.unreachable("\(error)") }
        self.clock = clock
        guard enclave.uid == ProcessEnvironment.effectiveUserID, process == nil || process == enclave.pid else {
            throw Self.unreachable("another process listens in \(runDirectory)")
        }
    }

    /// The enclave hears at once that the person has gone, also where a child that has
    /// not reached its exec yet still holds a copy.
    deinit { channel.socket.shutDown() }

    private static func unreachable(_ why: String) -> KeychainError {
        KeychainError(.notAvailable, reason: .enclaveUnreachable, underlying: why)
    }

    package func state() throws(KeychainError) -> DeviceState {
        try Self.state(in: try ask(PersonMessage(.state)))
    }

    /// The state once it has another number than `number`; nil where `cancelled` was
    /// signalled first. Waits for as long as that takes.
    package func state(
        after number: UInt64, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> DeviceState? {
        let question = try send(PersonMessage(.awaitState, state: number))
        do throws(SystemCallError) {
            guard try waitForAny(of: [channel.socket.descriptor, cancelled.descriptor]) == 0 else { return nil }
        } catch { throw Self.unreachable("\(error)") }
        return try Self.state(in: try answer(to: question))
    }

    private static func state(in reply: consuming Reply) throws(KeychainError) -> DeviceState {
        guard let state = DeviceState(reply.header.state) else { throw Self.unreachable("an answer of the wrong form") }
        return state
    }

    package func unlock(with credential: PersonCredential) throws(KeychainError) {
        _ = try ask(PersonMessage(.unlock, credential: credential))
    }

    package func lock() throws(KeychainError) { _ = try ask(PersonMessage(.lock)) }

    package func setPasscode(_ new: SharedSecret) throws(KeychainError) {
        _ = try ask(PersonMessage(.setPasscode, new: new))
    }

    package func changePasscode(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        _ = try ask(PersonMessage(.changePasscode, credential: .passcode(old), new: new))
    }

    package func resetPasscode(with code: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        _ = try ask(PersonMessage(.resetPasscode, credential: .recoveryCode(code), new: new))
    }

    package func removePasscode(with credential: PersonCredential) throws(KeychainError) {
        _ = try ask(PersonMessage(.removePasscode, credential: credential))
    }

    package func makeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        let reply = try ask(PersonMessage(.makeRecoveryCode, credential: passcode.map { .passcode($0) }))
        return SharedSecret(reply.tail.copy())
    }

    package func confirmRecoveryCode(_ typed: SharedSecret) throws(KeychainError) {
        _ = try ask(PersonMessage(.confirmRecoveryCode, new: typed))
    }

    package func removeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) {
        _ = try ask(PersonMessage(.removeRecoveryCode, credential: passcode.map { .passcode($0) }))
    }

    // MARK: Protectors

    /// What the keychain is bound to.
    package func protectors() throws(KeychainError) -> [ProtectorState] {
        try Self.protectors(in: try ask(PersonMessage(.listProtectors)))
    }

    /// Tries each protector as an opening of the keychain would; changes nothing.
    ///
    /// - Parameter gone: is not tried; nil: all are.
    package func testProtectors(pretendingGone gone: [UInt8]?) throws(KeychainError) -> [ProtectorState] {
        var message = PersonMessage(.testProtectors)
        message.protector = gone ?? []
        return try Self.protectors(in: try ask(message))
    }

    /// One more way to open the root key.
    ///
    /// - Parameters:
    ///   - address: of a TPM; nil: the software file.
    ///   - passcode: where there is one.
    /// - Throws: `errSecParam`, reason `protectorRefused`; `errSecNotAvailable`, reason
    ///   `deviceFailed`; `errSecAuthFailed`. Nothing is changed then.
    package func addProtector(
        _ address: TPMAddress?, passcode: SharedSecret?
    ) throws(KeychainError) -> [ProtectorState] {
        var message = PersonMessage(.addProtector, credential: passcode.map { .passcode($0) })
        message.protectorAddress = address?.description ?? ""
        return try Self.protectors(in: try ask(message))
    }

    /// A security key as one more way to open the root key. Waits until it was touched twice.
    ///
    /// - Parameters:
    ///   - pin: the key's, where it makes nothing new without.
    ///   - passcode: where there is one.
    /// - Throws: as ``addProtector(_:passcode:)``.
    package func addProtector(
        _ key: FIDO2Address, pin: SharedSecret?, passcode: SharedSecret?
    ) throws(KeychainError) -> [ProtectorState] {
        var message = PersonMessage(.addProtector, credential: passcode.map { .passcode($0) }, new: pin)
        message.protectorAddress = key.description
        return try Self.protectors(in: try ask(message))
    }

    /// Has a protector open nothing that is written from then on: the root key is
    /// replaced, and the keys below get a new generation.
    ///
    /// - Parameters:
    ///   - code: the recovery code, which goes on opening then; nil: it goes as well.
    /// - Throws: as ``addProtector(_:passcode:)``; `errSecNotAvailable`, reason
    ///   `inputOutput`, which says so, where it is done and the next start finishes it.
    package func removeProtector(
        _ identifier: [UInt8], passcode: SharedSecret?, code: SharedSecret?, withoutCode: Bool
    ) throws(KeychainError) -> [ProtectorState] {
        var message = PersonMessage(.removeProtector, credential: passcode.map { .passcode($0) }, new: code)
        message.protector = identifier
        message.withoutCode = withoutCode
        return try Self.protectors(in: try ask(message))
    }

    /// Seals for a TPM anew: one that was cleared, or another at the same address; or for
    /// the security key that is plugged in.
    ///
    /// - Parameter pin: the security key's, where it makes nothing new without.
    /// - Throws: as ``addProtector(_:passcode:)``.
    package func resealProtector(
        _ identifier: [UInt8], pin: SharedSecret? = nil, passcode: SharedSecret?
    ) throws(KeychainError) -> [ProtectorState] {
        var message = PersonMessage(.resealProtector, credential: passcode.map { .passcode($0) }, new: pin)
        message.protector = identifier
        return try Self.protectors(in: try ask(message))
    }

    // MARK: Slots

    /// What opens the keychain.
    package func slots() throws(KeychainError) -> [SlotState] {
        try Self.slots(in: try ask(PersonMessage(.listSlots)))
    }

    /// Has a TPM open the keychain when the enclave starts, but for what takes a person.
    ///
    /// - Throws: `errSecParam`, reason `protectorRefused`; `errSecNotAvailable`, reason
    ///   `deviceFailed`; `errSecAuthFailed`. Nothing is changed then.
    package func addSlot(of tpm: TPMAddress, passcode: SharedSecret) throws(KeychainError) -> [SlotState] {
        var message = PersonMessage(.addSlot, credential: .passcode(passcode))
        message.protectorAddress = tpm.description
        return try Self.slots(in: try ask(message))
    }

    /// Hands out, once, what opens the keychain but for what takes a person.
    ///
    /// - Throws: as ``addSlot(of:passcode:)``.
    package func addCredentialSlot(passcode: SharedSecret) throws(KeychainError) -> SharedSecret {
        SharedSecret(try ask(PersonMessage(.addSlot, credential: .passcode(passcode))).tail.copy())
    }

    /// Has a slot open nothing that is written from then on; the keys below it get a new
    /// generation.
    ///
    /// - Parameter code: the recovery code, where there is one.
    /// - Throws: as ``addSlot(of:passcode:)``.
    package func removeSlot(
        _ identifier: [UInt8], passcode: SharedSecret, code: SharedSecret?
    ) throws(KeychainError) -> [SlotState] {
        var message = PersonMessage(.removeSlot, credential: .passcode(passcode), new: code)
        message.protector = identifier
        return try Self.slots(in: try ask(message))
    }

    /// Opens with what ``addCredentialSlot(passcode:)`` handed out.
    ///
    /// - Throws: `errSecAuthFailed`, reason `authenticationFailed`.
    package func unlock(bySlot credential: SharedSecret) throws(KeychainError) {
        _ = try ask(PersonMessage(.unlockBySlot, new: credential))
    }

    /// Has a TPM look at the passcode, so that each guess costs one of its commands and is
    /// counted by it; nil: none.
    ///
    /// - Parameter code: the recovery code, where there is one and a TPM is named.
    /// - Throws: as ``addSlot(of:passcode:)``.
    package func guardPasscode(
        by tpm: TPMAddress?, passcode: SharedSecret, code: SharedSecret?
    ) throws(KeychainError) {
        var message = PersonMessage(.guardPasscode, credential: .passcode(passcode), new: code)
        message.protectorAddress = tpm?.description ?? ""
        _ = try ask(message)
    }

    /// Has a TPM keep the half without which items of a set passcode do not open; nil: the
    /// file does.
    ///
    /// - Parameter code: the recovery code, where there is one and a TPM is named.
    /// - Throws: as ``addSlot(of:passcode:)``.
    package func keepEffacement(
        in tpm: TPMAddress?, passcode: SharedSecret, code: SharedSecret?
    ) throws(KeychainError) {
        var message = PersonMessage(.keepEffacement, credential: .passcode(passcode), new: code)
        message.protectorAddress = tpm?.description ?? ""
        _ = try ask(message)
    }

    /// Has the file keep a new half, where the TPM that has the present one does not come
    /// back: items of the set passcode are gone for good. Where the file has it already,
    /// forgets what is still to be destroyed in TPMs.
    ///
    /// - Throws: `errSecParam`, reason `protectorRefused`, where the TPM gives it out, or
    ///   there is nothing to give up; otherwise as ``addSlot(of:passcode:)``. Nothing is
    ///   changed then.
    package func giveEffacementUp(passcode: SharedSecret) throws(KeychainError) {
        var message = PersonMessage(.keepEffacement, credential: .passcode(passcode))
        message.givingUp = true
        _ = try ask(message)
    }

    // MARK: The counter of a TPM

    /// Has a TPM that the keychain is bound to count changes and attempts, so that an older copy
    /// of the folder is told; nil: none does.
    ///
    /// - Parameters:
    ///   - passcode: where there is one.
    ///   - code: the recovery code, where a TPM is named.
    /// - Throws: as ``addSlot(of:passcode:)``.
    package func count(
        in tpm: TPMAddress?, passcode: SharedSecret?, code: SharedSecret?
    ) throws(KeychainError) {
        var message = PersonMessage(.count, credential: passcode.map { .passcode($0) }, new: code)
        message.protectorAddress = tpm?.description ?? ""
        _ = try ask(message)
    }

    /// Opens a folder that the counter does not vouch for, with the recovery code that belongs to
    /// it; one that is open stays so.
    ///
    /// - Parameter givingUp: nothing counts from then on; also where the TPM is not there.
    /// - Throws: `errSecNotAvailable`, reason `folderRefused`, where the counter is not there and
    ///   is not given up; `errSecParam`, reason `protectorRefused`, where there is nothing to
    ///   accept; `errSecAuthFailed`. Nothing is changed then.
    package func acceptCopy(code: SharedSecret, givingUp: Bool) throws(KeychainError) {
        var message = PersonMessage(.acceptCopy, new: code)
        message.givingUp = givingUp
        _ = try ask(message)
    }

    // MARK: Locking by itself

    /// When the enclave locks without anybody asking for it, from now on.
    ///
    /// - Throws: `errSecAuthFailed` (`authenticationFailed`, `attemptsDelayed`,
    ///   `passcodeNotSet`); nothing is changed then.
    package func setLockPolicy(_ policy: LockPolicy, passcode: SharedSecret) throws(KeychainError) {
        var message = PersonMessage(.setLockPolicy, credential: .passcode(passcode))
        message.lockPolicy = policy
        _ = try ask(message)
    }

    // MARK: Login password

    /// Has the login password open everything, in the place of one that did.
    ///
    /// - Throws: `errSecParam`, reason `passcodeRefused`; `errSecAuthFailed`. Nothing is
    ///   changed then.
    package func addLoginSlot(_ password: SharedSecret, passcode: SharedSecret) throws(KeychainError) -> [SlotState] {
        try Self.slots(in: try ask(PersonMessage(.addLoginSlot, credential: .passcode(passcode), new: password)))
    }

    /// Opens with the login password; a wrong one counts as a wrong passcode does.
    ///
    /// - Throws: `errSecAuthFailed`, reasons `authenticationFailed`, `attemptsDelayed`;
    ///   `errSecParam`, reason `protectorRefused`, where there is no such slot.
    package func unlock(byLogin password: SharedSecret) throws(KeychainError) {
        var message = PersonMessage(.unlock)
        message.login = password
        _ = try ask(message)
    }

    /// Has another login password open what one opened; what is locked stays locked.
    ///
    /// - Throws: as ``unlock(byLogin:)``, and reason `passcodeRefused`. Nothing is changed
    ///   then.
    package func changeLogin(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        var message = PersonMessage(.changeLogin, new: new)
        message.login = old
        _ = try ask(message)
    }

    // MARK: A finger

    /// Has a finger open everything again after a lock, as long as fingers count.
    ///
    /// - Throws: `errSecAuthFailed` (`biometryNotAvailable`, `biometryNotEnrolled`, and as
    ///   ``PersonDoor``). Nothing is changed then.
    package func addFingerSlot(passcode: SharedSecret) throws(KeychainError) -> [SlotState] {
        try Self.slots(in: try ask(PersonMessage(.addFingerSlot, credential: .passcode(passcode))))
    }

    /// Waits until a finger opens the locked keychain, a minute at the most, or one did not:
    /// asked again then, it goes on waiting.
    ///
    /// - Returns: what became of a finger; nil: it is open.
    /// - Throws: `errSecAuthFailed` (`biometryLockedOut` also where no passcode was typed yet,
    ///   `biometryNotAvailable`, `passcodeNotSet`); `errSecParam`, reason `protectorRefused`,
    ///   where no finger is to open it; `errSecUserCanceled`, reason `promptTimedOut`.
    package func unlockByFinger() throws(KeychainError) -> QuestionNews.Event? {
        let question = try send(PersonMessage(.unlockByFinger))
        let reply = try answer(to: question, within: PersonProtocol.fingerPatience)
        return reply.header.hasNews ? QuestionNews(reply.header.news).event : nil
    }

    private static func slots(in reply: consuming Reply) throws(KeychainError) -> [SlotState] {
        let states = reply.header.slots.compactMap(SlotState.init)
        guard states.count == reply.header.slots.count else { throw unreachable("an answer of the wrong form") }
        return states
    }

    private static func protectors(in reply: consuming Reply) throws(KeychainError) -> [ProtectorState] {
        let states = reply.header.protectors.compactMap(ProtectorState.init)
        guard states.count == reply.header.protectors.count else { throw unreachable("an answer of the wrong form") }
        return states
    }

    package func question() throws(KeychainError) -> PersonQuestion? {
        let reply = try ask(spoken(PersonMessage(.question)))
        guard reply.header.hasQuestion else { return nil }
        guard let question = PersonQuestion(reply.header.question) else {
            throw Self.unreachable("a question that this program does not know")
        }
        return question
    }

    /// Has ``news()`` come, whenever there is some.
    ///
    /// - Parameter number: of what is known; 0: nothing.
    package func awaitNews(after number: UInt64) throws(KeychainError) {
        _ = try send(spoken(PersonMessage(.awaitQuestion, state: number)))
    }

    /// Readable once there is news that was waited for.
    package var descriptor: Descriptor { channel.socket.descriptor }

    /// What was waited for, on a connection that nothing else was asked on meanwhile.
    package func news() throws(KeychainError) -> QuestionNews {
        QuestionNews(try answer(to: number.load(ordering: .relaxed)).header.news)
    }

    package func agree(with credential: PersonCredential) throws(KeychainError) {
        _ = try ask(spoken(PersonMessage(.agree, credential: credential)))
    }

    package func decline(_ reason: Reason) throws(KeychainError) {
        _ = try ask(spoken(PersonMessage(.decline, reason: reason)))
    }

    private func spoken(_ message: PersonMessage) -> PersonMessage {
        var message = message
        message.question = asked
        return message
    }

    private struct Reply: ~Copyable {
        let header: Latchkey_PersonReply
        let tail: SecretBytes
    }

    private func ask(_ message: PersonMessage) throws(KeychainError) -> Reply {
        for secret in [message.credential?.secret, message.login, message.new].compactMap({ $0 })
        where secret.bytes.count > PersonProtocol.longestSecret {
            throw .parameter(.passcodeRefused(why: "it has more than \(PersonProtocol.longestSecret) bytes"))
        }
        return try answer(to: try send(message), elseSaying: message.whatSilenceMeans)
    }

    /// The number under which the answer comes.
    private func send(_ message: PersonMessage) throws(KeychainError) -> UInt64 {
        let number = number.add(1, ordering: .relaxed).newValue
        let request = try message.encoded(number: number)
        do throws(FrameError) {
            try channel.send(
                request.header, request.tail, until: Deadline(after: PersonProtocol.patience, on: clock))
        } catch { throw Self.unreachable("\(error)") }
        return number
    }

    private func answer(
        to number: UInt64, within patience: Duration = PersonProtocol.patience,
        elseSaying silence: Reason = .enclaveUnreachable
    ) throws(KeychainError) -> Reply {
        let reply: Reply
        do throws(FrameError) {
            reply = try receive(until: Deadline(after: patience, on: clock))
        } catch { throw KeychainError(.notAvailable, reason: silence, underlying: "\(error)") }
        guard reply.header.number == number else { throw Self.unreachable("an answer to another question") }
        guard !reply.header.hasFailure else { throw reply.header.failure.keychainError }
        return reply
    }

    private func receive(until deadline: Deadline) throws(FrameError) -> Reply {
        guard let frame = try channel.receive(until: deadline) else { throw .truncated }
        guard frame.sender?.pid == enclave.pid, frame.sender?.uid == enclave.uid,
            let header = decoded(Latchkey_PersonReply.self, frame.header)
        else { throw .malformed }
        return Reply(header: header, tail: frame.tail.copy())
    }
}

extension PersonCredential {
    package var secret: SharedSecret {
        switch self {
        case .passcode(let secret), .recoveryCode(let secret): secret
        }
    }
}

/// nil for bytes that are no such message.
func decoded<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> M? {
    do throws(WireFault) {
        let message: M = try decodeMessage(bytes)
        return message
    } catch { return nil }
}
