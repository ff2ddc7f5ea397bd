internal import KeychainPlatform

/// What was seen of a peer that could be looked at. Facts only: what they are
/// worth is ``PeerIdentity``'s to say.
struct PeerEvidence: Sendable {
    let executable: PeerExecutable
    /// Which namespaces are not ours.
    let foreign: ForeignNamespaces
    let isTraced: Bool
    let controlGroup: ControlGroup?
    let flatpak: FlatpakInfo?

    /// Whether it lives among other files or users than we do, or may be held by a sandbox.
    let isForeign: Bool

    init(
        executable: PeerExecutable, foreign: ForeignNamespaces, isTraced: Bool, controlGroup: ControlGroup?,
        flatpak: FlatpakInfo?, ours: ControlGroup?
    ) {
        self.executable = executable
        self.foreign = foreign
        self.isTraced = isTraced
        self.controlGroup = controlGroup
        self.flatpak = flatpak
        // A system unit with PrivateTmp or ProtectSystem, or a daemon that such a unit started,
        // has mounts of its own and no sandbox: root made them. What else makes a mount namespace of
        // our user namespace is a sandbox's helper, set-user-id.
        let isUnits = controlGroup?.systemService != nil || ours?.systemService != nil
        let isSandboxs = flatpak != nil || controlGroup?.snap != nil
        isForeign = foreign.user || foreign.mount && !(executable.isInPlace && isUnits && !isSandboxs)
    }

    /// Looks at everything, or returns nil where the kernel forbids it.
    static func gather(
        from folder: ProcessFolder, _ status: ProcessStatus, _ proc: ProcRoot
    ) throws(PeerRefusal) -> PeerEvidence? {
        guard let namespaces = try folder.namespaces(), let found = try folder.executable() else { return nil }
        let foreign = ForeignNamespaces(namespaces, own: proc.ownNamespaces)
        return PeerEvidence(
            executable: PeerExecutable(file: found.file, path: found.path, mount: found.mount, sees: foreign),
            foreign: foreign, isTraced: status.tracerID != 0, controlGroup: try folder.controlGroup(),
            // In our own mount namespace only root could have put it there.
            flatpak: foreign.hidesFiles ? folder.flatpakInfo() : nil,
            ours: proc.ownControlGroup)
    }
}

/// In which ways a peer lives in another world than we do.
struct ForeignNamespaces: Hashable, Sendable {
    let user: Bool
    let mount: Bool
    let process: Bool

    init(_ theirs: Namespaces, own: Namespaces) {
        user = theirs.user != own.user
        mount = theirs.mount != own.mount
        process = theirs.process != own.process
    }

    /// Whether a path of theirs may lead to another file than it does here, or
    /// the same executable may run with other libraries.
    var hidesFiles: Bool { user || mount }
}
