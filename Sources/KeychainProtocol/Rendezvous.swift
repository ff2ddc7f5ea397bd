package import KeychainPlatform

/// Where a store lives and where its daemon is met.
package struct KeychainLocations: Sendable, Hashable {
    /// The data directory: database, keybag, the lock file.
    package var dataDirectory: String
    /// Where a daemon started from here puts its socket.
    package var runDirectory: String

    package init(dataDirectory: String, runDirectory: String) {
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
    }

    /// The user's own store (decisions.md, "Processes"): XDG_DATA_HOME/latchkey
    /// if that is absolute, else .local/share/latchkey of the passwd home; the
    /// socket in XDG_RUNTIME_DIR/latchkey, else in run/ of the data directory.
    package static func user() -> KeychainLocations? {
        let data: String
        if let home = ProcessEnvironment.variable("XDG_DATA_HOME"), home.hasPrefix("/") {
            data = home + "/latchkey"
        } else if let home = ProcessEnvironment.passwdHome {
            data = home + "/.local/share/latchkey"
        } else {
            return nil
        }
        var run = data + "/run"
        if let runtime = ProcessEnvironment.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/"),
            PrivateDirectory.isUsable(runtime)
        {
            run = runtime + "/latchkey"
        }
        return KeychainLocations(dataDirectory: data, runDirectory: run)
    }
}

/// What the lock file in the data directory says: who holds the store and where
/// it listens. One store, one rendezvous, whatever the session's environment.
package struct Rendezvous: Sendable, Hashable {
    package static let lockFile = "latchkeyd.lock"
    /// Held by whoever is starting a daemon, until it listens.
    package static let startFile = "latchkeyd.start"
    package static let socketName = "keychain.sock"

    package let processID: Int32
    package let runDirectory: String

    package init(processID: Int32, runDirectory: String) {
        self.processID = processID
        self.runDirectory = runDirectory
    }

    package var encoded: [UInt8] { Array("latchkeyd 1\npid \(processID)\nrun \(runDirectory)\n".utf8) }

    /// nil for anything that ``encoded`` does not write.
    package init?(encoded bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == "latchkeyd 1", lines[3].isEmpty,
            lines[1].hasPrefix("pid "), let pid = Int32(lines[1].dropFirst(4)), pid > 0,
            lines[2].hasPrefix("run /")
        else { return nil }
        processID = pid
        runDirectory = String(lines[2].dropFirst(4))
        // One rendezvous has one form; a path ends at its first zero for the kernel.
        guard encoded == bytes, !bytes.contains(0) else { return nil }
    }

    /// What the lock file of a data directory says, or nil.
    package static func read(in data: PrivateDirectory) throws(SystemCallError) -> Rendezvous? {
        try data.read(lockFile, atMost: 8192).flatMap { Rendezvous(encoded: $0) }
    }
}
