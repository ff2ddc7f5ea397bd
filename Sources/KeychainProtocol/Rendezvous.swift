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
        let lineEnds = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        // The first line is "latchkeyd 1".
        guard lineEnds.count == 3, lineEnds[0] == 11,
            let process = Self.text(bytes, 12..<lineEnds[1], after: "pid "), let pid = Int32(process), pid > 0,
            let run = Self.text(bytes, lineEnds[1] + 1..<lineEnds[2], after: "run "), run.hasPrefix("/")
        else { return nil }
        processID = pid
        runDirectory = run
        // One rendezvous has one form; a path ends at its first zero for the kernel.
        guard encoded == bytes, !bytes.contains(0) else { return nil }
    }

    /// What a line says after its first word.
    private static func text(_ bytes: [UInt8], _ line: Range<Int>, after word: String) -> String? {
        guard line.count > word.utf8.count else { return nil }
        return String(validating: bytes[line.dropFirst(word.utf8.count)], as: UTF8.self)
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
