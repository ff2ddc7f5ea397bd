internal import KeychainCrypto
internal import KeychainPlatform
internal import KeychainProtocol

/// What the counter of a TPM says of a folder that is opened.
enum CounterStanding: Sendable {
    /// There is none, or nobody asks.
    case uncounted
    case proved(FolderCounter)
    /// A person accepts it all the same; with what the TPM has, where it has said so and is to
    /// go on.
    case accepted(FolderCounter?)
}

extension EnclaveDirectory {
    /// Asks the TPM where one counts. Whoever only looks does not: a backup is no newest copy.
    ///
    /// - Throws: ``KeybagError/notVouchedFor(_:)``; where a person accepts it, and the code that
    ///   they brought is not this folder's, ``KeybagError/Cause/slotRefuses``.
    func standing(
        of keybag: borrowing Keybag, _ held: HeldProtectors, _ files: FileGenerations, _ attempts: FoundAttempts,
        areReadable: Bool, _ keys: ProtectorKeys, _ opener: KeybagOpener, _ purpose: KeybagPurpose
    ) throws(KeybagError) -> CounterStanding {
        guard case .use = purpose else { return .uncounted }
        let anchor = attempts.body?.anchor
        guard let place = keybag.body.counter.place,
            let password = try keybag.body.counter.password(under: keybag.root, of: keybag.body.store)
        else {
            // One that was ended, or never began; or a keybag from before it began.
            guard let anchor, files.areOlder(than: anchor.least) else { return .uncounted }
            try requireAcceptance(areReadable ? .olderFile : .unreadableCopy, keybag, held, opener)
            return .accepted(nil)
        }
        let value = keys.value(of: place.index, password: password)
        let known = anchor?.label == place.index.label ? anchor : nil
        let doubt: CounterDoubt
        do throws(CounterDoubt) {
            let (anchor, reached) = try FolderCounter.prove(known, files, by: value)
            return .proved(FolderCounter(place, password, anchor, writtenFailed: attempts.failed, reached: reached))
        } catch { doubt = areReadable ? error : error.whereUnreadable }
        let isGivenUp = try requireAcceptance(doubt, keybag, held, opener)
        guard !isGivenUp else { return .accepted(nil) }
        guard case .success(let reached) = value,
            let next = FolderCounter(place, password, from: reached, files, writtenFailed: attempts.failed)
        else { throw .notVouchedFor(doubt) }
        return .accepted(next)
    }

    /// - Returns: whether the person gives the counter up.
    @discardableResult
    private func requireAcceptance(
        _ doubt: CounterDoubt, _ keybag: borrowing Keybag, _ held: HeldProtectors, _ opener: KeybagOpener
    ) throws(KeybagError) -> Bool {
        guard case .accepting(let code, let isGivenUp) = opener else { throw .notVouchedFor(doubt) }
        guard keybag.opens(code, beside: held.body) else { throw .unreadable(.slotRefuses) }
        guard isGivenUp || !doubt.needsGivingUp else { throw .notVouchedFor(doubt) }
        return isGivenUp
    }
}

extension Keybag {
    /// Whether it is this folder's recovery code: of the slot, or of the protector.
    ///
    /// - Parameter code: its bytes.
    func opens(_ code: SharedSecret, beside protectors: ProtectorsBody) -> Bool {
        if accepts(SlotSecret(kind: .recovery, bytes: code.bytes.copy())) { return true }
        for protector in protectors.protectors where protector.kind == .recoveryCode {
            let opened = RootKey(protector, of: body.store, under: .ofRecoveryCode(code.bytes))
            if opened?.isEqual(to: root) == true { return true }
        }
        return false
    }
}
