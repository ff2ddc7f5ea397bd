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
        _ keys: ProtectorKeys, _ opener: KeybagOpener, _ purpose: KeybagPurpose
    ) throws(KeybagError) -> CounterStanding {
        let anchor = attempts.body?.anchor
        guard case .use = purpose else { return .uncounted }
        guard let index = keybag.body.counter.place?.index,
            let password = try keybag.body.counter.password(under: keybag.root, of: keybag.body.store)
        else {
            // One that was ended, or never began; or a keybag from before it began.
            guard let anchor, files.areOlder(than: anchor.least) else { return .uncounted }
            return try accepted(.olderFile, keybag, held, nil, opener)
        }
        let value = keys.value(of: index, password: password)
        let known = anchor?.label == index.label ? anchor : nil
        do throws(CounterDoubt) {
            let (anchor, reached) = try FolderCounter.prove(known, files, by: value)
            return .proved(FolderCounter(index, password, anchor, writtenFailed: attempts.failed, reached: reached))
        } catch {
            let isUnreadable = error == .olderCopy && !attempts.files.areReadable
            return try accepted(
                isUnreadable ? .unreadableCopy : error, keybag, held,
                FolderCounter(index, password, from: value, files, writtenFailed: attempts.failed), opener)
        }
    }

    private func accepted(
        _ doubt: CounterDoubt, _ keybag: borrowing Keybag, _ held: HeldProtectors, _ counter: FolderCounter?,
        _ opener: KeybagOpener
    ) throws(KeybagError) -> CounterStanding {
        guard case .accepting(let code, let givingUp) = opener else { throw .notVouchedFor(doubt) }
        guard keybag.opens(code, beside: held.body) else { throw .unreadable(.slotRefuses) }
        guard givingUp || !doubt.needsGivingUp else { throw .notVouchedFor(doubt) }
        return .accepted(givingUp ? nil : counter)
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
