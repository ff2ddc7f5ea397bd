package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// The enclave in the caller's own process, for the embedded engine and for
/// tests: the same keybag, the same lock on its folder, no second process.
///
/// Safe for any number of threads. It does not harden the process, which is the
/// caller's.
package final class InProcessEnclave: EnclaveConnector, EnclaveConnection {
    package let storeID: [UInt8]
    package let indexKey: SharedSecret
    private let core: Mutex<EnclaveCore>
    /// One person at a time: what is derived for a request holds until it is done.
    private let person = Mutex(())
    private let clock: any KeychainClock
    /// The state has another number; for one that waits.
    private let changed: EventSignal
    /// Holds the folder's lock; nil where there is no folder.
    private let directory: EnclaveDirectory?

    /// Opens the keybag in `enclave` under the data folder, making it where
    /// `expected` allows.
    ///
    /// - Parameters:
    ///   - purpose: what it is opened for.
    ///   - recoveryCode: as a person typed it, for a keybag that nothing else opens; none
    ///     is made then.
    /// - Throws: `errSecNotAvailable` with reason `keybagUnreadable`,
    ///   `storeMismatch`, `storeNewer`, `storeInUse`, `diskFull` or `inputOutput`;
    ///   `errSecAuthFailed` where the code does not open it either.
    package convenience init(
        dataDirectory: String, expecting expected: ExpectedStore, for purpose: KeybagPurpose = .use,
        clock: any KeychainClock = SystemClock(), passcodeCost: PasscodeCost = .calibrated,
        hardware: any HardwareDoor = NoHardware(), recoveryCode: SharedSecret? = nil,
        biometry: (any BiometrySource)? = nil
    ) throws(KeychainError) {
        let daemon = KeybagOpener.daemon(expected)
        let opener = try recoveryCode.map { code throws(KeychainError) in try KeybagOpener.person(typing: code) }
        do throws(KeybagError) {
            let directory = try EnclaveDirectory(inData: dataDirectory)
            let core = try directory.open(
                for: opener ?? daemon, purpose, at: clock.sinceBoot, cost: passcodeCost, hardware: hardware,
                biometry: biometry)
            guard daemon.accepts(core.store) else { throw .mismatch }
            try self.init(core, directory, clock)
        } catch { throw (opener ?? daemon).refusal(by: error) }
    }

    private init(
        _ core: consuming EnclaveCore, _ directory: EnclaveDirectory?, _ clock: any KeychainClock
    ) throws(KeybagError) {
        do throws(SystemCallError) { changed = try EventSignal() } catch { throw .system(error) }
        storeID = core.store.bytes
        indexKey = core.indexKey
        self.directory = directory
        self.clock = clock
        self.core = Mutex(core)
    }

    /// A new store whose keys are in memory only and go with this object.
    package static func ephemeral(
        clock: any KeychainClock = SystemClock(), passcodeCost: PasscodeCost = .calibrated,
        biometry: (any BiometrySource)? = nil
    ) throws(KeychainError) -> InProcessEnclave {
        do throws(KeybagError) {
            return try InProcessEnclave(
                try EnclaveCore.ephemeral(cost: passcodeCost, biometry: biometry), nil, clock)
        } catch {
            throw error.asKeychainError
        }
    }

    package func connect() -> any EnclaveConnection { self }

    /// Gives the folder's lock up: another engine may open it from now on.
    package func close() { directory?.release() }

    package func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID? = nil
    ) -> [KeyOutcome] {
        core.withLock { $0.makeRowKeys(for: rows, in: session, at: clock.sinceBoot) }
    }

    package func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID? = nil
    ) -> [KeyOutcome] {
        core.withLock { $0.openRowKeys(rows, in: session, at: clock.sinceBoot) }
    }

    package func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?
    ) -> [RewrapOutcome] {
        core.withLock { $0.permit(operation, on: rows, in: session, at: clock.sinceBoot) }
    }

    package func openSession() throws(KeychainError) -> AuthenticationSessionID {
        guard let session = core.withLock({ $0.book.open(at: clock.sinceBoot) }) else {
            throw KeychainError(.notAvailable, reason: .busy, underlying: "too many authentication contexts")
        }
        return session
    }

    package func closeSession(_ session: AuthenticationSessionID) { core.withLock { $0.book.close(session) } }

    package func setApplicationKey(_ key: SharedSecret?, in session: AuthenticationSessionID) {
        core.withLock { $0.book.set(applicationKey: key, in: session) }
    }

    package func means() -> AuthenticationMeans { core.withLock { $0.means(at: clock.sinceBoot) } }

    package func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration
    ) throws(KeychainError) -> Bool {
        try resulting { core throws(KeychainError) in
            try core.isMet(subject, in: session, reusing: age, at: clock.sinceBoot)
        }
    }

    package func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID
    ) throws(KeychainError) -> [UInt8]? {
        try resulting { core throws(KeychainError) in try core.ask(question, in: session, at: clock.sinceBoot) }
    }

    package func outcome(of question: [UInt8]) -> QuestionOutcome? {
        core.withLock { $0.book.outcome(of: question, at: clock.sinceBoot) }
    }

    // MARK: A person's answers, by the name of the question

    package func question(_ name: [UInt8]) -> PersonQuestion? {
        core.withLock { $0.question(name, at: clock.sinceBoot) }
    }

    package func agree(to name: [UInt8], with credential: PersonCredential) throws(KeychainError) {
        try derive(for: nil) { core throws(KeychainError) in
            try core.derivation(agreeingTo: name, with: credential, at: clock.sinceBoot)
        } asking: { _, work, derived in
            derived.devices == nil ? work : nil
        } then: { core, derived throws(KeychainError) in
            try core.agree(to: name, with: derived, at: clock.sinceBoot)
        }
    }

    /// One person's request after the other: what is derived for one holds until it is
    /// done, and a wrong attempt counts before the next is looked at.
    ///
    /// - Parameter request: nil: an answer to a question, which changes nothing.
    private func derive<R: Sendable>(
        for request: PersonRequest?, _ begin: @Sendable (inout EnclaveCore) throws(KeychainError) -> PersonDerivation,
        asking devices: @Sendable (inout EnclaveCore, DeviceWork?, DerivedSecrets) throws(KeychainError) -> DeviceWork?,
        then finish: @Sendable (inout EnclaveCore, DerivedSecrets) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        let outcome = person.withLock { _ -> Result<R, KeychainError> in
            do throws(KeychainError) {
                let derivation = try resulting(begin)
                var derived = try derivation.derive()
                // An attempt is counted before it is tried, where a TPM counts.
                while let work = try resulting({ core throws(KeychainError) in try core.counting(derived) }) {
                    derived.counted = work.done().counter
                }
                // What they do may be what is to be done next depends on.
                while let work = try resulting({ core throws(KeychainError) in
                    try devices(&core, derivation.work, derived)
                }) { derived = work.done(for: derived) }
                let done: Result<R, KeychainError>
                do throws(KeychainError) {
                    done = .success(try resulting { core throws(KeychainError) in try finish(&core, derived) })
                } catch { done = .failure(error) }
                if case .success = done {
                    doWhatRemains(request)
                } else if derived.devices != nil {
                    doWhatRemains(request)
                }
                return done
            } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// As the enclave's process does it before a person hears that something is gone.
    private func doWhatRemains(_ request: PersonRequest?) {
        var left = core.withLock { core -> DeviceWork? in
            if let request, let left = core.remainder(of: request, at: clock.sinceBoot) { return left }
            return core.undefining(at: clock.sinceBoot)
        }
        while let work = left {
            let outcome = work.done()
            left = core.withLock { core in
                core.forget(outcome.effacement.undefined)
                return outcome.counter.flatMap { core.countedChange($0) }
            }
        }
    }

    /// What the source of biometry says that it saw.
    package func agreeByBiometry(to name: [UInt8]) throws(KeychainError) {
        try resulting { core throws(KeychainError) in try core.agreeByBiometry(to: name, at: clock.sinceBoot) }
    }

    package func decline(_ name: [UInt8], _ reason: Reason) { core.withLock { $0.book.decline(name, reason) } }

    private func resulting<R>(_ body: (inout EnclaveCore) throws(KeychainError) -> R) throws(KeychainError) -> R {
        let result = core.withLock { core -> Result<R, KeychainError> in
            do throws(KeychainError) { return .success(try body(&core)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    package func rewrapRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) -> [RewrapOutcome] {
        core.withLock { $0.rewrapRowKeys(rows) }
    }

    package func makeMetadataKey(for protectionClass: ProtectionClass) -> KeyOutcome {
        core.withLock { $0.makeMetadataKey(for: protectionClass) }
    }

    package func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) -> KeyOutcome {
        core.withLock { $0.openMetadataKey(wrapped, of: protectionClass) }
    }

    package func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError) {
        let failure = core.withLock { core -> KeybagError? in
            do throws(KeybagError) {
                try core.retire(protectionClass, below: generation)
                return nil
            } catch { return error }
        }
        if let failure { throw failure.asKeychainError }
    }

    package func sealAudit(_ records: [UInt8], fromFile lowest: UInt64) throws(KeychainError) -> SealedAuditBlock? {
        try resulting { core throws(KeychainError) in
            try core.sealAudit(records, fromFile: lowest, at: clock.sinceBoot, wallClock: clock.wallClock)
        }
    }

    package func confirmAudit(_ block: SealedAuditBlock) throws(KeychainError) -> AuditPlace? {
        let begun = try resulting { core throws(KeychainError) in try core.beginConfirming(block) }
        guard let begun else { return auditHead(settled: true) }
        begun.perform()
        return try resulting { core throws(KeychainError) in try core.finish(begun) }
    }

    package func noteUnwritten(_ count: UInt64, by teller: UInt64) throws(KeychainError) {
        let begun = try resulting { core throws(KeychainError) in
            try core.beginNoting(unwritten: count, by: teller)
        }
        guard let begun else { return }
        begun.perform()
        _ = try resulting { core throws(KeychainError) in try core.finish(begun) }
    }

    package func auditHead(settled: Bool) -> AuditPlace? {
        core.withLock { core in
            core.settleConfirmation()
            return core.auditHead
        }
    }

    package func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) -> AuditOpening {
        core.withLock { $0.openAudit(boxes, from: first) }
    }

    package func describe() -> EnclaveDescription {
        core.withLock { core in
            core.mendFiles()
            return core.describe(process: ProcessEnvironment.processID, at: clock.sinceBoot)
        }
    }

    package func state(after number: UInt64, orUntil cancelled: EventSignal) -> EnclaveDescription? {
        while true {
            let described = describe()
            if described.state.number != number { return described }
            do throws(SystemCallError) {
                guard try waitForAny(of: [cancelled.descriptor, changed.descriptor]) == 1 else { return nil }
            } catch { return nil }
            changed.drain()
        }
    }

    /// As after a new start of the process: nothing that a person opened is open.
    package func restart() {
        core.withLock { $0.forgetFirstUnlock() }
        changed.signal()
    }
}

extension InProcessEnclave: PersonDoor {
    package func state() -> DeviceState { core.withLock { $0.state(at: clock.sinceBoot) } }

    package func unlock(with credential: PersonCredential) throws(KeychainError) { try perform(.unlock(credential)) }
    package func lock() throws(KeychainError) { try perform(.lock) }
    package func setPasscode(_ new: SharedSecret) throws(KeychainError) { try perform(.setPasscode(new)) }

    package func changePasscode(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        try perform(.changePasscode(from: old, to: new))
    }

    package func resetPasscode(with code: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        try perform(.resetPasscode(code: code, to: new))
    }

    package func removePasscode(with credential: PersonCredential) throws(KeychainError) {
        try perform(.removePasscode(credential))
    }

    package func makeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        guard case .code(let code) = try perform(.makeRecoveryCode(passcode: passcode)) else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no recovery code was made"))
        }
        return code
    }

    package func confirmRecoveryCode(_ typed: SharedSecret) throws(KeychainError) {
        try perform(.confirmRecoveryCode(typed))
    }

    package func removeRecoveryCode(passcode: SharedSecret?) throws(KeychainError) {
        try perform(.removeRecoveryCode(passcode: passcode))
    }

    /// As ``RemotePersonDoor/addCredentialSlot(passcode:)``.
    package func addCredentialSlot(passcode: SharedSecret) throws(KeychainError) -> SharedSecret {
        guard case .code(let credential) = try perform(.slot(.add(.credential, passcode: passcode))) else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no credential was made"))
        }
        return credential
    }

    /// As ``RemotePersonDoor/unlock(bySlot:)``.
    package func unlock(bySlot credential: SharedSecret) throws(KeychainError) {
        try perform(.unlockBySlot(credential))
    }

    /// As ``RemotePersonDoor/setLockPolicy(_:passcode:)``; kept for the enclave that opens
    /// the keychain next. An engine in a process of its own does not lock by itself.
    package func setLockPolicy(_ policy: LockPolicy, passcode: SharedSecret) throws(KeychainError) {
        try perform(.setLockPolicy(policy, passcode: passcode))
    }

    /// As ``RemotePersonDoor/addLoginSlot(_:passcode:)``.
    package func addLoginSlot(_ password: SharedSecret, passcode: SharedSecret) throws(KeychainError) {
        try perform(.slot(.add(.login(password), passcode: passcode)))
    }

    /// As ``RemotePersonDoor/addFingerSlot(passcode:)``.
    package func addFingerSlot(passcode: SharedSecret) throws(KeychainError) {
        try perform(.slot(.add(.fingerprint, passcode: passcode)))
    }

    /// What the source of biometry says that it saw, of a locked keychain.
    ///
    /// - Throws: as ``RemotePersonDoor/unlockByFinger()``.
    package func unlockByFinger() throws(KeychainError) {
        try resulting { core throws(KeychainError) in try core.unlockByFinger(at: clock.sinceBoot) }
        changed.signal()
    }

    /// As ``RemotePersonDoor/unlock(byLogin:)``.
    package func unlock(byLogin password: SharedSecret) throws(KeychainError) { try perform(.unlockByLogin(password)) }

    /// As ``RemotePersonDoor/changeLogin(from:to:)``.
    package func changeLogin(from old: SharedSecret, to new: SharedSecret) throws(KeychainError) {
        try perform(.changeLogin(from: old, to: new))
    }

    package func question() -> PersonQuestion? { nil }
    package func agree(with credential: PersonCredential) throws(KeychainError) { throw Self.nothingAsked }
    package func decline(_ reason: Reason) throws(KeychainError) { throw Self.nothingAsked }

    private static let nothingAsked = KeychainError(.param, reason: .notAllowedHere(key: "an answer"))

    @discardableResult
    private func perform(_ request: PersonRequest) throws(KeychainError) -> PersonOutcome {
        defer { changed.signal() }
        return try derive(for: request) { core throws(KeychainError) in
            try core.derivation(for: request, at: clock.sinceBoot)
        } asking: { core, work, derived throws(KeychainError) in
            guard derived.devices == nil else { return try core.devices(for: request, after: derived) }
            guard work != nil || core.asksTPM(for: request) else { return nil }
            if request.credential != nil { try core.check(derived.credential, at: clock.sinceBoot) }
            return try core.devices(for: request, work, derived)
        } then: { core, derived throws(KeychainError) in
            try core.perform(request, with: derived, at: clock.sinceBoot)
        }
    }
}
