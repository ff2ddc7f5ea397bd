internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

/// A file that a command writes for a person.
package struct WriteTarget {
    /// What may stand there already.
    package enum Present: Sendable {
        /// Nothing.
        case none
        /// A file, which is replaced; a link to one as well.
        case file
        /// A file, but no link: that could lead to another's.
        case fileAlone
    }

    /// - Precondition: absolute.
    private let path: String
    /// The folder of a keychain of one's own that is meant, where one is.
    private let keychain: String?

    /// - Parameter dataDirectory: as an option of the command names it.
    package init(_ path: String, _ dataDirectory: String?, in surroundings: Surroundings) {
        self.path = surroundings.absolute(path)
        let configuration = surroundings.configuration.looking(in: dataDirectory.map(surroundings.absolute))
        if case .store(let locations, _) = configuration.target {
            keychain = locations.dataDirectory
        } else {
            keychain = nil
        }
    }

    /// Refuses the files of a keychain, and what is none: a terminal or a device keeps
    /// what it is shown, and whoever puts a file in the place of /dev/null breaks a machine.
    ///
    /// - Throws: ``CommandFailure`` of ``ExitStatus/usage``.
    package func check(_ allowed: Present) throws(CommandFailure) {
        if isInKeychain {
            throw CommandFailure(
                .usage, "the target lies in a keychain's own folder; nothing was written", "Name a file elsewhere.")
        }
        let status: FileStatus
        do throws(SystemCallError) {
            status = try FileStatus(at: FilePath(path), followingLink: allowed != .fileAlone)
        } catch {
            // Nothing has the name; whether it can be made is seen when it is.
            return
        }
        guard status.isRegularFile else {
            let what = allowed == .fileAlone ? "a link, terminal, device or folder" : "a terminal, device or folder"
            throw CommandFailure(.usage, "the target is no file, but \(what); nothing was written", "Name a file.")
        }
        guard allowed != .none else {
            throw CommandFailure(.usage, "the file is there already", "Name another one, or add --replace.")
        }
    }

    /// In the folder of the keychain that is meant, or of any: one has its daemon's lock file.
    private var isInKeychain: Bool {
        let own = keychain.flatMap { FilePath($0).resolved }
        var folder = FilePath(path).folder?.resolved
        while let here = folder {
            if here == own || isFile(here.appending(Rendezvous.lockFile)) { return true }
            folder = here.folder
        }
        return false
    }

    private func isFile(_ path: FilePath) -> Bool {
        do throws(SystemCallError) { return try FileStatus(at: path, followingLink: false).isRegularFile } catch {
            return false
        }
    }
}
