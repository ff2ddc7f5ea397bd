import KeychainModel
import Glibc
import KeychainPlatform
import Puppets
import Testing

@testable import PeerIdentity

/// The folder a socket is in, and who listens on it.
struct PlatformDoorTests {
    private let folder: WorkFolder

    init() throws { folder = try WorkFolder() }

    private func refusal(_ path: String) -> DirectoryRefusal? {
        do throws(DirectoryRefusal) {
            _ = try PrivateDirectory(path, creating: true)
            return nil
        } catch {
            return error
        }
    }

    @Test func aSquattedRunFolderOfAnotherUserIsRefused() throws {
        if geteuid() == 0 {
            let squatted = try folder.makeFolder("squatted", mode: 0o700)
            try #require(unsafe chown(squatted, 4711, 4711) == 0)
            #expect(refusal(squatted) == .foreignOwner(path: squatted, uid: 4711))
            // Root, under sudo -E, would do what it is told to a person's keychain.
            #expect(refusal(squatted)?.description.contains("remove") == false)
        } else {
            #expect(refusal("/usr") == .foreignOwner(path: "/usr", uid: 0))
        }
    }

    @Test func aSymbolicLinkInPlaceOfTheRunFolderIsRefused() throws {
        let real = try folder.makeFolder("real", mode: 0o700)
        let link = folder.file("link")
        try #require(unsafe symlink(real, link) == 0)
        #expect(refusal(link) == .notADirectory(path: link))
    }

    private static let openModes: [UInt32] = [0o755, 0o770, 0o701, 0o1722]

    @Test(arguments: openModes)
    func aRunFolderThatIsOpenToOthersIsRefused(_ mode: UInt32) throws {
        let open = try folder.makeFolder("open", mode: mode)
        #expect(refusal(open) == .open(path: open, mode: mode & 0o777))
    }

    @Test func aFileInPlaceOfTheRunFolderIsRefused() throws {
        let file = try folder.write("file", "")
        #expect(refusal(file) == .notADirectory(path: file))
    }

    @Test func aRunFolderOfOursIsTaken() { #expect(refusal(folder.file("run/latchkey")) == nil) }

    @Test func theOwnDaemonIsBelieved() throws {
        let door = try Doorway()
        try ServerTrust.ownDaemon.check(PacketSocket.connect(to: door.path))
    }

    @Test func aSystemDaemonIsRootsOrLatchkeys() throws {
        let door = try Doorway()
        let socket = try PacketSocket.connect(to: door.path)
        if geteuid() == 0 {
            try ServerTrust.systemDaemon.check(socket)
        } else {
            #expect(throws: ServerRefusal.foreignUser(uid: geteuid())) { try ServerTrust.systemDaemon.check(socket) }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can listen as somebody else"))
    func anotherUsersSocketIsRefused() throws {
        let open = try WorkFolder(mode: 0o777)
        let squatter = try Puppet(["user", "4711", "listen", open.file("socket"), "say", "listening", "hear"])
        try squatter.expect("listening")
        let socket = try PacketSocket.connect(to: open.file("socket"))
        for trust in [ServerTrust.ownDaemon, .systemDaemon] {
            #expect(throws: ServerRefusal.foreignUser(uid: 4711)) { try trust.check(socket) }
        }
    }
}
