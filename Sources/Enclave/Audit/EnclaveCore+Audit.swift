internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

// The enclave authenticates the audit record and does not keep it: the daemon gives
// it records, gets a sealed block, has it on the disk and says so. Only then does the
// key go on. So the record on the disk is never shorter than the enclave knows, and
// longer by one block at the most.
extension EnclaveCore {
    /// The next block, with what the enclave itself has to say in it. Nothing counts
    /// before it is confirmed; a block that never is, is as if it had not been.
    ///
    /// - Parameters:
    ///   - lowest: where a chain has to begin anew, the file's number is not below.
    /// - Returns: nil where there is nothing to say.
    /// - Throws: `errSecInteractionNotAllowed` where a chain would have to begin and
    ///   the keychain is locked; `errSecNotAvailable`, reason `busy`, while the block
    ///   before is being confirmed.
    mutating func sealAudit(
        _ records: [UInt8], fromFile lowest: UInt64, at moment: Duration, wallClock: Double
    ) throws(KeychainError) -> SealedAuditBlock? {
        guard audit.confirming == nil else { throw Self.confirming }
        guard !records.isEmpty || audit.witness.hasEvents else { return nil }
        if audit.held == nil { try beginAudit(fromFile: lowest, at: moment) }
        guard let state = audit.held?.head.state.forNextBlock else { return nil }
        let block = audit.witness.block(
            records, previousCount: state.place.index == 0 ? state.previousCount : 0, at: moment, wallClock: wallClock)
        let box = AuditState.seal(block.encoded, at: state.place, state.blockKey, of: store)
        audit.pending = AuditLedger.Pending(digest: KeyDerivation.digest(box), mark: audit.witness.mark)
        return SealedAuditBlock(place: state.place, box: box)
    }

    /// A block is on the disk. What says so here is to be written
    /// (``AuditConfirmation/perform()``, on any thread); until ``finish(_:)`` nothing
    /// counts, and everything else goes on.
    ///
    /// - Returns: nil where it is not the next one: no news, and ``auditHead`` is the answer.
    /// - Throws: `errSecNotAvailable`, reason `busy`, while another is being confirmed.
    mutating func beginConfirming(_ block: SealedAuditBlock) throws(KeychainError) -> AuditConfirmation? {
        guard audit.confirming == nil else { throw Self.confirming }
        guard let state = audit.held?.head.state.forNextBlock, block.place == state.place,
            let content = AuditState.open(block, state.blockKey, of: store)
        else { return nil }
        let lost = OpenedAuditBlock(parsing: content)?.droppedEvents ?? 0
        return try beginWriting(
            state.after(boxOf: block.box.count), lack: audit.lack(saying: lost),
            block: AuditConfirmation.Block(digest: KeyDerivation.digest(block.box), lost: lost))
    }

    /// So many events wait in the daemon, which cannot write them. Kept beside the end of
    /// the record, in place, which a full disk does not prevent: if the daemon ends before
    /// there is room, the record says how many are lost, at most. Heard also where that cannot
    /// be written.
    ///
    /// - Parameters:
    ///   - count: all that wait; 0: everything is written.
    ///   - teller: another number for each daemon. What one told before another did is lost.
    /// - Returns: nil where there is nothing to write: it says so already, or no record was begun.
    /// - Throws: `errSecNotAvailable`, reason `busy`, while a block is being confirmed.
    mutating func beginNoting(
        unwritten count: UInt64, by teller: UInt64
    ) throws(KeychainError) -> AuditConfirmation? {
        guard audit.confirming == nil else { throw Self.confirming }
        audit.hear(unwritten: count, from: teller)
        let lack = audit.lack()
        guard let head = audit.held?.head, head.lack != lack else { return nil }
        return try beginWriting(head.state, lack: lack, block: nil)
    }

    /// Where the record ends from now on, in the place that does not count.
    private mutating func beginWriting(
        _ state: AuditState, lack: AuditLack, block: AuditConfirmation.Block?
    ) throws(KeychainError) -> AuditConfirmation? {
        guard var next = audit.held else { return nil }
        let (storage, place) = (storage, audit.freePlace)
        next.head = AuditHead(generation: next.head.generation + 1, state: state, lack: lack)
        next.place = place
        let record = next.head.sealed(under: next.key, of: store)
        do throws(KeybagError) {
            let confirmation = try AuditConfirmation(of: next, block: block) {
                () throws(KeybagError) in try storage.write(auditHead: record, at: place)
            }
            audit.confirming = confirmation
            return confirmation
        } catch { throw error.asKeychainError }
    }

    /// Waits until it is written; its key is gone when this returns.
    ///
    /// - Returns: where the next block would go behind it. Where a change of the keys came
    ///   first, a block goes elsewhere.
    /// - Throws: where it could not be written; the block does not count then.
    mutating func finish(_ confirmation: AuditConfirmation) throws(KeychainError) -> AuditPlace {
        if audit.confirming === confirmation { settleConfirmation() }
        do throws(KeybagError) { try confirmation.result().get() } catch { throw error.asKeychainError }
        return confirmation.next.head.state.place
    }

    /// One that is under way comes to its end before the file is written for another reason.
    mutating func settleConfirmation() {
        guard let confirmation = audit.confirming else { return }
        audit.confirming = nil
        guard case .success = confirmation.result() else { return }
        audit.held = confirmation.next
        // What was given out may still come.
        guard let block = confirmation.block else { return }
        if let pending = audit.pending, pending.digest == block.digest {
            audit.witness.remove(pending.mark)
        } else {
            audit.witness.hasSaid(lost: block.lost)
        }
        audit.pending = nil
    }

    /// Where the next block goes, as the disk says; nil: there is no record.
    var auditHead: AuditPlace? { audit.held?.head.state.place }

    /// - Throws: `errSecNotAvailable`, reason `busy`, while nobody knows.
    func settledAuditHead() throws(KeychainError) -> AuditPlace? {
        guard audit.confirming == nil else { throw Self.confirming }
        return auditHead
    }

    private static let confirming = KeychainError(
        .notAvailable, reason: .busy, underlying: "the disk has not taken the block before")

    // MARK: Chains

    private mutating func beginAudit(fromFile lowest: UInt64, at moment: Duration) throws(KeychainError) {
        let wasLost = !keybag.body.audit.isEmpty
        let fresh = NewAuditChain()
        do throws(KeybagError) {
            let store = store
            var body = keybag.body
            body.audit = try keybag.withOpenBag { bag throws(KeybagError) in
                body.audit.followed(by: fresh, from: bag.key, to: bag.key, keybag.root, of: store)
            }
            let held = try prepareAudit(fresh, fromFile: lowest)
            let next = keybag.generation + 1
            let failures = try storage.write(body, generation: next, root: keybag.root)
            keybag.adopt(body, generation: next)
            note(unwritten: failures)
            audit.held = held
        } catch {
            guard error == .unreadable(.slotRefuses) else { throw error.asKeychainError }
            throw KeychainError(
                .interactionNotAllowed, reason: .locked(class: ProtectionClass.whenUnlocked.rawValue))
        }
        if wasLost { audit.witness.note(.headLost, at: moment) }
    }

    /// A chain's first state on the disk, beside the one that counts until the keybag
    /// names the new chain.
    mutating func prepareAudit(
        _ fresh: NewAuditChain, fromFile lowest: UInt64 = 0
    ) throws(KeybagError) -> AuditLedger.Held {
        settleConfirmation()
        let former = audit.held?.head
        let state = AuditState(first: fresh, after: former?.state, fromFile: lowest)
        let head = AuditHead(generation: (former?.generation ?? 0) + 1, state: state, lack: audit.lack())
        let place = audit.freePlace
        try storage.write(auditHead: head.sealed(under: fresh.stateKey, of: store), at: place)
        return AuditLedger.Held(head: head, key: fresh.stateKey, place: place)
    }

    // MARK: Reading

    /// Opens blocks that follow each other in one file, while the keychain is unlocked.
    mutating func openAudit(_ boxes: [[UInt8]], from first: AuditPlace) -> AuditOpening {
        guard keybag.lock == .unlocked else { return .locked }
        guard let chain = keybag.body.audit.first(where: { $0.identifier == first.chain }) else { return .unknownChain }
        // What was never sealed is not walked to.
        guard mayBeSealed(first) else { return .blocks([OpenedAuditBlock?](repeating: nil, count: boxes.count)) }
        guard var key = auditKey(of: first, chain) else { return .unknownChain }
        var opened: [OpenedAuditBlock?] = []
        var place = first
        for box in boxes {
            let content = AuditState.open(SealedAuditBlock(place: place, box: box), key, of: store)
            opened.append(content.flatMap { OpenedAuditBlock(parsing: $0) })
            key = AuditState.nextBlockKey(key)
            place = place.at(place.index + 1)
        }
        audit.cursor = AuditLedger.Cursor(place: place, key: key)
        return .blocks(opened)
    }

    /// Whether the newest chain has come so far; of an older one nobody knows how far it came.
    private func mayBeSealed(_ place: AuditPlace) -> Bool {
        guard let state = audit.held?.head.state, state.place.chain == place.chain else { return true }
        let next = state.forNextBlock.place
        if place.ordinal == next.ordinal { return place.index <= next.index }
        return place.ordinal < next.ordinal
    }

    private func auditKey(of place: AuditPlace, _ chain: AuditChain) -> SharedSecret? {
        if let cursor = audit.cursor, cursor.place.isInFile(of: place), cursor.place.index <= place.index {
            var key = cursor.key
            for _ in cursor.place.index..<place.index { key = AuditState.nextBlockKey(key) }
            return key
        }
        let store = store
        do throws(KeybagError) {
            let first = try keybag.withOpenBag { bag throws(KeybagError) in
                try chain.firstKey(under: bag.key, of: store)
            }
            return AuditState.blockKey(of: place, from: first)
        } catch { return nil }
    }
}
