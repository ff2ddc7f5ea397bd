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
        guard keepFiles() == nil, unrepaired.isEmpty, let protectors, protectors.body.coming.isEmpty else { return }
        do throws(KeybagError) {
            guard try !storage.announcesRoot else { return }
            if let secret = protectors.software, try !storage.holds(secret) { try storage.keepSoftwareSecret(secret) }
            try storage.mend(protectors.body, generation: protectors.written, root: keybag.root)
            try storage.mend(keybag.body, generation: keybag.generation, root: keybag.root)
        } catch {
            if case .newer = error { return }
            placeFault = .damaged
        }
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
