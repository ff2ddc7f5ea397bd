internal import KeychainPlatform

/// What the lock file of the enclave's folder says: who holds it and in which
/// run folder it listens. So a daemon from another session (another
/// XDG_RUNTIME_DIR, or none) finds the enclave that runs.
///
/// Three lines: `latchkey-enclave 1`, `pid N`, `run /PATH`. Nothing in it is
/// secret, and nothing is believed before the kernel has said whose socket it is.
package struct EnclaveRendezvous: Hashable, Sendable {
    /// The enclave's folder within the data folder, and the file in it.
    package static let folderName = "enclave"
    package static let lockName = "lock"
    package static let sizeLimit = 8192
    /// Where the daemon meets it in a run folder.
    package static let socketName = "enclave.sock"

    package let processID: Int32
    package let runDirectory: String

    package var encoded: [UInt8] { Array("latchkey-enclave 1\npid \(processID)\nrun \(runDirectory)\n".utf8) }

    package init(processID: Int32, runDirectory: String) {
        self.processID = processID
        self.runDirectory = runDirectory
    }

    /// nil for anything that ``encoded`` does not write.
    package init?(encoded bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0] == "latchkey-enclave 1", lines[3].isEmpty,
            lines[1].hasPrefix("pid "), let pid = Int32(lines[1].dropFirst(4)), pid > 0,
            lines[2].hasPrefix("run /")
        else { return nil }
        processID = pid
        runDirectory = String(lines[2].dropFirst(4))
        // One rendezvous has one form; a path ends at its first zero for the kernel.
        guard encoded == bytes, !bytes.contains(0) else { return nil }
    }

    /// What the enclave that has a data folder wrote, or where it listens although what it
    /// wrote is gone; nil where none has it, or where its folder cannot be looked at (then it
    /// is started, and says why not).
    package static func last(inData path: String) -> EnclaveRendezvous? { written(inData: path) ?? met(inData: path) }

    private static func written(inData path: String) -> EnclaveRendezvous? {
        do {
            let folder = try PrivateDirectory("\(path)/\(folderName)", creating: false)
            return try folder.readLocked(lockName, atMost: sizeLimit).flatMap { Self(encoded: $0) }
        } catch {
            return nil
        }
    }

    /// Every enclave listens in `run` of its data folder too, and no other store's does: so one
    /// is found whose own folder was removed, which alone has the keys then.
    private static func met(inData path: String) -> EnclaveRendezvous? {
        let place = "\(path)/run"
        do {
            let folder = try PrivateDirectory(place, creating: false)
            let socket = try PacketSocket.connectNow(to: socketName, in: folder.descriptor)
            let listener = try socket.peerCredentials()
            guard listener.uid == ProcessEnvironment.effectiveUserID, listener.pid > 0 else { return nil }
            return EnclaveRendezvous(processID: listener.pid, runDirectory: place)
        } catch {
            return nil
        }
    }
}
