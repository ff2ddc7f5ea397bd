internal import KeychainModel
package import KeychainPlatform

/// Where a store lives and where its daemon is met.
package struct KeychainLocations: Sendable, Hashable {
    /// The data directory: database, keybag, the lock file.
    package var dataDirectory: String
    /// The database within it.
    package static let databaseName = "keychain.db"
    /// What a restore has laid out and decided on, until it has the place of the rest.
    package static let restoredName = "restore.ready"
    /// Where a daemon started from here puts its socket.
    package var runDirectory: String

    package init(dataDirectory: String, runDirectory: String) {
        self.dataDirectory = dataDirectory
        self.runDirectory = runDirectory
    }

    /// Whether the socket's folder goes with the data.
    package var runsInData: Bool { runDirectory.hasPrefix(dataDirectory + "/") }

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

    private static let header = "latchkeyd 1"

    package var encoded: [UInt8] { Array("\(Self.header)\npid \(processID)\nrun \(runDirectory)\n".utf8) }

    /// nil for anything that ``encoded`` does not write.
    package init?(encoded bytes: [UInt8]) {
        var lines = bytes[...]
        guard Self.line(&lines) == Self.header,
            let process = Self.line(&lines, after: "pid "), let pid = Int32(process), pid > 0,
            let run = Self.line(&lines, after: "run "), run.hasPrefix("/"), lines.isEmpty,
            // One rendezvous has one form; a path ends at its first zero for the kernel.
            let digit = process.utf8.first, digit != UInt8(ascii: "0"), digit != UInt8(ascii: "+"), !bytes.contains(0)
        else { return nil }
        processID = pid
        runDirectory = run
    }

    /// What the next line says after a word, and takes it away.
    private static func line(_ bytes: inout ArraySlice<UInt8>, after word: String = "") -> String? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), bytes[..<end].starts(with: word.utf8)
        else { return nil }
        let rest = bytes[..<end].dropFirst(word.utf8.count)
        bytes = bytes[(end + 1)...]
        return String(validUTF8: rest)
    }

    /// What the lock file of a data directory says of whoever has the store now; nil where
    /// nobody has it.
    package static func present(in data: PrivateDirectory) throws(SystemCallError) -> Rendezvous? {
        try data.readLocked(lockFile, atMost: 8192).flatMap { Rendezvous(encoded: $0) }
    }

    /// What the lock file of a data directory says, or nil; of whoever had the store last.
    package static func read(in data: PrivateDirectory) throws(SystemCallError) -> Rendezvous? {
        try data.read(lockFile, atMost: 8192).flatMap { Rendezvous(encoded: $0) }
    }
}
