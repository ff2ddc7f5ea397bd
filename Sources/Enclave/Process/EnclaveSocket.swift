internal import KeychainPlatform
internal import KeychainProtocol

/// Where an enclave is found: in the run folder, and behind that in a second place of its
/// data folder. A run folder goes with the login session (/run/user/UID at the last logout);
/// whoever is confined cannot listen anew, so both are there from the start, and a
/// person can lock the keychain whatever becomes of the first.
struct EnclaveSocket {
    private(set) var door: EnclaveDoor
    private(set) var spare: EnclaveDoor?

    /// - Parameter spare: absolute path of the second place; nil: there is none.
    init(inRun path: String, spare: String? = nil) throws(KeybagError) {
        door = try EnclaveDoor(in: path)
        // A file system that has no sockets, say: then there is the first alone.
        do throws(KeybagError) { self.spare = try spare.map { path throws(KeybagError) in try EnclaveDoor(in: path) } } catch {
            self.spare = nil
        }
    }

    var doors: [EnclaveDoor] { [door] + (spare.map { [$0] } ?? []) }
    var reach: [Confinement.Folder] { doors.map(\.reach) }

    /// Whether somebody could still find us.
    var isThere: Bool { door.isThere }

    /// The second place becomes the first; nil where there is none, or it has gone too.
    mutating func moveToSpare() -> EnclaveDoor? {
        guard let next = spare, next.isThere else { return nil }
        spare = nil
        door = next
        return next
    }

    func remove() throws(KeybagError) { for door in doors { try door.remove() } }
}

extension FileLock {
    /// The lock on a file, which is made where it is not there.
    ///
    /// - Throws: ``KeybagError/inUse`` where another process has it.
    static func take(_ name: String, in folder: PrivateDirectory) throws(KeybagError) -> FileLock {
        let taken: FileLock?
        do throws(SystemCallError) {
            taken = try take(try folder.openFile(name, creating: true))
        } catch {
            throw .system(error)
        }
        guard let taken else { throw .inUse }
        return taken
    }
}
