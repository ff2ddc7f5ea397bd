internal import KeychainProtocol

/// Whether the files that were opened are still where the next enclave looks for them.
extension EnclaveCore {
    /// Looks, and writes what has gone from the folder again, as it was written last: never
    /// what a person had destroyed, which is not open here either. A folder that has gone
    /// nobody here can make.
    ///
    /// - Returns: what is the matter now (``placeFault``); nil: everything is there.
    @discardableResult
    mutating func keepFiles() -> PlaceFault? {
        switch absence {
        case .nothing: placeFault = nil
        case .place(let fault): placeFault = fault
        case .files:
            do throws(KeybagError) { try putFilesBack() } catch {
                placeFault = error == .inUse ? .replaced : .gone
                return placeFault
            }
            placeFault = absence == .nothing ? nil : .gone
        }
        return placeFault
    }

    /// As ``keepFiles()``; reads the files as well, and writes again what no copy says any
    /// more: whatever damaged both, the next enclave would open nothing. A copy that is
    /// authentic stays as it is, also an older or a newer program's. So does all of it where a
    /// replacement of the root key was cut short: what is there is authentic under the one
    /// from before, which may be all that opens the count of attempts.
    mutating func mendFiles() {
        // Its secret is in no memory: only a person's change of the passcode makes another.
        lacksEffacement = !keybag.body.fileEffacement.isEmpty && !storage.holdsEffacement
        let fault = keepFiles()
        effaceWhatWasLeft()
        forgetWhatIsWritten()
        guard fault == nil else { return }
        // It may say where another one was: a copy of the folder, copied over it.
        do throws(KeybagError) { try storage.putLockBack() } catch { return }
        guard unrepaired.isEmpty, let protectors, protectors.body.coming.isEmpty else { return }
        let secret: SoftwareSecret?
        let damaged: [AuthenticatedFile.Kind]
        do throws(KeybagError) {
            guard try !storage.announcesRoot else { return }
            secret = try protectors.software.flatMap { secret throws(KeybagError) in
                try storage.holds(secret) ? nil : secret
            }
            damaged = try storage.damagedPairs(under: keybag.root)
        } catch {
            // What cannot be looked at now, or is a newer program's, may be whole.
            return
        }
        do throws(KeybagError) {
            if let secret { try storage.keepSoftwareSecret(secret) }
            var failures: [RepairFailure] = []
            if damaged.contains(.protectors) {
                failures += try storage.write(protectors.body, generation: protectors.written, root: keybag.root)
            }
            if damaged.contains(.keybag) {
                failures += try storage.write(keybag.body, generation: keybag.generation, root: keybag.root)
            }
            if !failures.isEmpty { placeFault = .damaged }
        } catch { placeFault = .damaged }
    }

    /// The secret of a software protector that is none any more, where the start could not
    /// efface it.
    private mutating func effaceWhatWasLeft() {
        guard unrepaired.contains(where: { $0.fileName == SoftwareSecret.fileName }), let protectors,
            protectors.software == nil, protectors.body.coming.isEmpty, !protectors.body.contains(.softwareFile)
        else { return }
        do throws(KeybagError) {
            guard try !storage.announcesRoot else { return }
            try storage.effaceSoftwareSecret()
            unrepaired.removeAll { $0.fileName == SoftwareSecret.fileName }
        } catch { return }
    }

    /// A file that could not be written and was since, by whomever, is named no more.
    private mutating func forgetWhatIsWritten() {
        if unrepaired.isEmpty { return }
        let secret = protectors?.software
        var left: [RepairFailure] = []
        for failure in unrepaired where !storage.isWritten(failure.fileName, under: keybag.root, secret) {
            left.append(failure)
        }
        unrepaired = left
    }

    private var absence: StorageAbsence {
        storage.absence(
            hasSecret: protectors?.software != nil, hasAttempts: attempts.failed > 0 || counter != nil)
    }

    private func putFilesBack() throws(KeybagError) {
        // Between two root keys nobody knows yet what the files are to say.
        guard let protectors, protectors.body.coming.isEmpty else { throw .away }
        try storage.putLockBack()
        // In the order in which they are needed to open.
        if let secret = protectors.software { try storage.keepSoftwareSecret(secret) }
        try storage.putBack(protectors.body, generation: protectors.written, root: keybag.root)
        try storage.putBack(keybag.body, generation: keybag.generation, root: keybag.root)
        if attempts.failed > 0 || counter != nil { _ = try storage.write(presentAttempts, root: keybag.root) }
    }
}
