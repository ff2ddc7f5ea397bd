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

    /// Whether it lives among other files or users than we do.
    ///
    /// A mount namespace alone is none as long as the executable is the very file that its
    /// path leads to here: root made the namespace (a unit with PrivateTmp or ProtectSystem), or a
    /// helper of root's did, and whoever could have other libraries in it under a trusted
    /// executable could have them by LD_PRELOAD as well. Which of the two is in it, the daemon
    /// or its client, depends on who called first.
    var isForeign: Bool { foreign.user || foreign.mount && !executable.isInPlace }

    /// Looks at everything, or returns nil where the kernel forbids it.
    static func gather(
        from folder: ProcessFolder, _ status: ProcessStatus, _ proc: ProcRoot
    ) throws(PeerRefusal) -> PeerEvidence? {
        guard let namespaces = try folder.namespaces(), let (file, path) = try folder.executable() else { return nil }
        let foreign = ForeignNamespaces(namespaces, own: proc.ownNamespaces)
        return PeerEvidence(
            executable: PeerExecutable(file: file, path: path, sees: foreign), foreign: foreign,
            isTraced: status.tracerID != 0, controlGroup: try folder.controlGroup(),
            // In our own mount namespace only root could have put it there.
            flatpak: foreign.hidesFiles ? folder.flatpakInfo() : nil)
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
