internal import KeychainPlatform

extension SecretServiceEnabling {
    struct Disabled: Sendable {
        let file: String
        /// Of the bus's file: whether it was ours; nil: nothing is there.
        var wasOurs: Bool?
        var removed: [String] = []
        var restored: [String] = []
        /// Units of gnome-keyring's that systemd starts again.
        var unmasked: [UnitMask] = []
        /// Whether gnome-keyring's socket is to be listened at, and systemd does not do it now:
        /// its service runs.
        var othersListenLater = false
    }

    /// - Throws: where something did not go, and everything else has gone and is back; or where
    ///   what is there cannot be read, and nothing was done.
    func disable() throws(CommandFailure) -> Disabled {
        // Where that folder is not there nobody has enabled anything, or is just about to.
        let isThere = HostFiles(root: "").has(units.dataHome)
        let turn = isThere ? try turn() : nil
        defer { withExtendedLifetime(turn) {} }
        let folder = units.unitFolder.flatMap { HostFiles(root: "").has(Self.home(of: $0)) ? $0 : nil }
        let unitTurn = try folder.flatMap(turn(emptyingUnitsIn:))
        defer { withExtendedLifetime(unitTurn) {} }
        return try disableInTurn()
    }

    private func disableInTurn() throws(CommandFailure) -> Disabled {
        var state = Disabled(file: units.busFile)
        state.wasOurs = try OwnFile.isOurs(units.busFile, marked: SecretServiceUnits.mark)
        let own = try units.ownUnits()
        let names = own.compactMap { $0.split(separator: "/").last.map(String.init) }
        // Where no manager answers nothing runs by them either.
        disableUnits(names)
        var tidying = Tidying()
        for path in own + (state.wasOurs == true ? [units.busFile] : []) {
            let isGone = tidying.attempt(with: path) { () throws(SystemCallError) in
                try FileRemoval.remove(FilePath(path))
            }
            if isGone { state.removed.append(path) }
        }
        removeLinks(of: names, &tidying)
        for path in restorable {
            if tidying.attempt(with: path, { () throws(SystemCallError) in try restore(path) }) {
                state.restored.append(path)
            }
        }
        for mask in units.masks {
            tidying.attempt { () throws(CommandFailure) in if try mask.remove() { state.unmasked.append(mask) } }
        }
        letOthersListen(after: &state)
        if let failure = tidying.failure { throw failure }
        return state
    }

    func disableUnits(_ names: [String]) {
        for name in names {
            if name == SecretServiceUnits.socket {
                _ = manager.does("disable", "--now", name, by: clock)
            } else {
                _ = manager.does("disable", name, by: clock)
            }
        }
    }

    /// Of `enable`, where no manager took them away, and those to units that somebody took
    /// away by hand.
    func removeLinks(of names: [String], _ tidying: inout Tidying) {
        guard let folder = units.unitFolder else { return }
        let links = SecretServiceUnits.links(in: folder)
        var gone: Set<String> = []
        tidying.attempt { () throws(CommandFailure) in
            gone.formUnion(try units.danglingLinks())
            if names.contains(SecretServiceUnits.socket) { gone.insert(links.listening) }
            if names.contains(SecretServiceUnits.service), let provider = try units.provider(in: folder),
                SecretServiceUnits.isOurs(provider: provider)
            {
                gone.insert(links.alias)
            }
        }
        for path in gone {
            _ = tidying.attempt(with: path) { () throws(SystemCallError) in try FileRemoval.remove(FilePath(path)) }
        }
        guard gone.contains(links.listening), let end = links.listening.lastIndex(of: "/") else { return }
        let folderOfLinks = String(links.listening[..<end])
        _ = tidying.attempt(with: folderOfLinks) { () throws(SystemCallError) in
            try FileRemoval.removeIfEmpty(FilePath(folderOfLinks))
            return true
        }
    }

    private var restorable: [String] {
        let names = [SecretServiceUnits.service, SecretServiceUnits.socket, SecretServiceUnits.alias]
        return [units.busFile] + (units.unitFolder.map { folder in names.map { "\(folder)/\($0)" } } ?? [])
    }

    /// What was at the place before; what stands there by now stays.
    private func restore(_ path: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) { return try FileMove.move(path + Self.aside, to: path) } catch {
            if error.isAlreadyThere { return false }
            throw error
        }
    }

    /// gnome-keyring's socket, which ours or a mask had systemd not listen at.
    private func letOthersListen(after state: inout Disabled) {
        let hasChangedUnits = state.removed.contains { $0 != state.file } || !state.unmasked.isEmpty
        if hasChangedUnits { _ = manager.does("daemon-reload", by: clock) }
        let hadSocket = state.removed.contains { $0.hasSuffix("/\(SecretServiceUnits.socket)") }
        if hadSocket || !state.unmasked.isEmpty,
            manager.does("is-enabled", "--quiet", SecretServiceUnits.gnomeSocket, by: clock)
        {
            state.othersListenLater = !manager.does("start", SecretServiceUnits.gnomeSocket, by: clock)
        }
        if hasChangedUnits || !state.removed.isEmpty || !state.restored.isEmpty { SecretServiceName.reload() }
    }
}
