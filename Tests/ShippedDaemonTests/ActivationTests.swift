import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// latchkeyd on a socket that a service manager holds (sd_listen_fds(3)).
@Suite(.enabled(if: ShippedDaemon.isWithinReach, "the programs are out of this user's reach"))
struct ActivationTests {
    private func waitForEnd(_ process: Int32) throws {
        let end = try ProcessHandle.waitForEnd(of: process, until: Deadline(after: .seconds(20), on: SystemClock()))
        try #require(end == .ready, "process \(process) does not end")
    }

    /// Other programs tell nobody when they are ready: look again in a moment.
    private static func eventually(_ condition: () -> Bool) -> Bool {
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while !condition() {
            guard !deadline.hasPassed else { return false }
            var nothing = pollfd()
            _ = unsafe poll(&nothing, 0, 5)
        }
        return true
    }

    @Test func theFirstCallStartsTheDaemonAndTheSocketOutlivesIt() throws {
        let manager = try ServiceManager()
        let before = try #require(manager.socketFile)
        let client = manager.newClient()
        let first = try #require(try client.perform(KeychainRequest(.status)).status?.daemonProcess)
        #expect(manager.services == [first])
        #expect(try manager.servedBy() == first)

        kill(first, SIGTERM)
        try waitForEnd(first)
        #expect(manager.socketFile == before)

        // A client that was connected, and one that comes anew.
        let second = try #require(try client.perform(KeychainRequest(.status)).status?.daemonProcess)
        #expect(second != first && manager.services == [first, second])
        #expect(try manager.servedBy() == second)
        #expect(manager.socketFile == before)
    }

    @Test func manyThatComeAtOnceMeetOneDaemon() async throws {
        let manager = try ServiceManager()
        let served = try await withThrowingTaskGroup(of: Int32?.self) { group in
            for _ in 0..<8 { group.addTask { try manager.servedBy() } }
            return try await group.reduce(into: Set<Int32?>()) { $0.insert($1) }
        }
        #expect(served.count == 1 && served == Set(manager.services))
    }

    /// The daemon of a store that a manager serves is not the daemon of another store
    /// whose clients look at the same folder.
    @Test func aClientOfAnotherStoreIsNotServedByIt() throws {
        let manager = try ServiceManager()
        let served = try #require(try manager.servedBy())
        let other = KeychainLocations(
            dataDirectory: manager.folder.path("other"), runDirectory: manager.locations.runDirectory)
        for _ in 0..<2 {
            let status = try #require(
                try DaemonConnectionPool(ShippedDaemon.configuration(other)).perform(KeychainRequest(.status)).status)
            #expect(status.daemonProcess != served && status.dataDirectory == other.dataDirectory)
            kill(status.daemonProcess, SIGTERM)
            try waitForEnd(status.daemonProcess)
            // Also where the manager's own daemon has gone, and its number stands at the socket.
            kill(served, SIGTERM)
            try waitForEnd(served)
        }
    }

    /// Neither a service that fails at once nor one that never comes keeps anybody waiting.
    @Test(arguments: ["/bin/false", nil])
    func aClientStartsItsOwnWhereTheManagerStartsNone(_ program: String?) throws {
        let manager = try ServiceManager(program: program)
        let began = SystemClock().monotonic
        let process = try #require(try manager.servedBy())
        defer { kill(process, SIGTERM) }
        #expect(SystemClock().monotonic - began < .seconds(30))
        #expect(!manager.services.contains(process))
    }

    /// A manager begins to listen where a daemon does: that one goes elsewhere and
    /// stays the one that has the store, and the manager's leaves again.
    @Test func aDaemonWhosePlaceIsTakenIsStillFound() throws {
        let daemon = try ShippedDaemon()
        let run = try PrivateDirectory(daemon.locations.runDirectory, creating: false)
        let taken = try PacketSocket.listen(at: Rendezvous.socketName, in: run.descriptor)
        try taken.setNonBlocking(true)
        for _ in 0..<2 {
            #expect(
                try daemon.newClientThatStarts().perform(KeychainRequest(.status)).status?.daemonProcess
                    == daemon.daemonProcess)
        }
        let waiting = try PacketSocket.connect(to: Rendezvous.socketName, in: run.descriptor)
        let service = try ServiceManager.activate("\(ShippedDaemon.programs)/latchkeyd", taken, daemon.locations)
        #expect(try service.status(until: Deadline(after: .seconds(20), on: SystemClock())) == 0)
        // Nothing is left that would make the manager start it again.
        #expect(try taken.accept() == nil)
        #expect(throws: KeychainError.self) {
            try DaemonReport.wait(on: waiting, until: Deadline(after: .seconds(5), on: SystemClock()))
        }
        #expect(try daemon.client.perform(KeychainRequest(.status)).status?.daemonProcess == daemon.daemonProcess)
    }

    // MARK: What is refused

    private enum Wrong: String, CaseIterable {
        case process, count, noSocket, stream, notListening, elsewhere

        var word: String {
            switch self {
            case .process: "LISTEN_PID names process 1"
            case .count: "LISTEN_FDS is 2"
            case .noSocket: "no socket"
            case .stream: "another type"
            case .notListening: "does not listen"
            case .elsewhere: "clients look for"
            }
        }

        func descriptor(in folder: PrivateDirectory) throws -> Descriptor {
            switch self {
            case .process, .count:
                return try PacketSocket.listen(at: Rendezvous.socketName, in: folder.descriptor).descriptor
            case .noSocket: return try folder.openFile("file", creating: true)
            case .stream:
                // It listens without a name, as a Unix socket does not.
                let stream = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
                try #require(listen(stream.raw, 1) == 0)
                return stream
            case .notListening: return try PacketSocket.pair().0.descriptor
            case .elsewhere: return try PacketSocket.listen(at: "other.sock", in: folder.descriptor).descriptor
            }
        }
    }

    @Test(arguments: Wrong.allCases)
    private func whatIsNoSocketForUsIsRefused(_ wrong: Wrong) throws {
        let folder = try TemporaryDirectory("wrong")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        let run = try folder.folder("run")
        let listener = PacketSocket(owning: try wrong.descriptor(in: run))
        let service = try ServiceManager.activate(
            "\(ShippedDaemon.programs)/latchkeyd", listener, locations, process: wrong == .process ? "1" : "$$",
            count: wrong == .count ? "2" : "1")
        #expect(try service.status(until: Deadline(after: .seconds(20), on: SystemClock())) == 69)
        let said = try String(contentsOfFile: folder.path("run/said"), encoding: .utf8)
        #expect(said.contains(wrong.word), "\(said)")
        // It is the manager's to remove.
        if wrong == .process { #expect(run.holdsSocket(Rendezvous.socketName)) }
    }

    /// Who waits hears why, instead of waiting for its time limit.
    @Test func whoeverWaitsHearsWhyNothingStarts() throws {
        let folder = try TemporaryDirectory("waits")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        let run = try folder.folder("run")
        let listener = try PacketSocket.listen(at: Rendezvous.socketName, in: run.descriptor)
        let waiting = try PacketSocket.connect(to: Rendezvous.socketName, in: run.descriptor)
        // A folder that others may look into is no place for a store.
        _ = try folder.folder("data")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: locations.dataDirectory)
        let service = try ServiceManager.activate("\(ShippedDaemon.programs)/latchkeyd", listener, locations)
        #expect(try service.status(until: Deadline(after: .seconds(20), on: SystemClock())) == 69)
        do throws(KeychainError) {
            try DaemonReport.wait(on: waiting, until: Deadline(after: .seconds(5), on: SystemClock()))
            Issue.record("nothing was said")
        } catch {
            guard case .folderUnusable(let why) = error.reason else { throw error }
            #expect(why.contains("chmod 700"))
        }
    }

    /// systemd's own program for trying such services.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-socket-activate"),
            "systemd-socket-activate is not installed"))
    func systemdActivatesIt() throws {
        let folder = try TemporaryDirectory("sd")
        let locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        let run = try folder.folder("run")
        // It wants descriptor 3 for its own.
        let program = try ChildProcess.start(
            "/bin/sh",
            arguments: [
                "-c", "exec 3>&- 4>&-; exec \"$@\"", "sh", "/usr/bin/systemd-socket-activate", "--seqpacket",
                "--listen", "\(locations.runDirectory)/\(Rendezvous.socketName)",
                "\(ShippedDaemon.programs)/latchkeyd", "--data-dir", locations.dataDirectory, "--run-dir",
                locations.runDirectory,
            ], environment: ["PATH=/usr/bin:/bin"], third: EventSignal().descriptor, fourth: EventSignal().descriptor)
        defer { kill(program.processID, SIGKILL) }
        #expect(
            Self.eventually { (try? PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)) != nil })
        let client = DaemonConnectionPool(ShippedDaemon.configuration(locations))
        // It becomes the program that it starts.
        #expect(try client.perform(KeychainRequest(.status)).status?.daemonProcess == program.processID)
        kill(program.processID, SIGTERM)
        #expect(try program.status(until: Deadline(after: .seconds(20), on: SystemClock())) == 0)
        #expect(run.holdsSocket(Rendezvous.socketName))
    }
}

extension ShippedDaemon {
    /// A new client that may start a daemon.
    func newClientThatStarts() -> DaemonConnectionPool { DaemonConnectionPool(Self.configuration(locations)) }
}
