import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// The real program, started, used, killed and started again.
@Suite struct EnclaveProcessTests {
    /// Where the programs of this build are: beside the test bundle.
    private static let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    private func launcher(
        _ home: EnclaveHome, _ expected: ExpectedStore = .anyOrNew, run: String? = nil
    ) -> EnclaveLauncher {
        EnclaveLauncher(
            executable: "\(Self.products)/latchkey-enclave", dataDirectory: home.dataDirectory,
            runDirectory: run ?? home.runDirectory, expecting: expected, clock: SystemClock())
    }

    /// What a program wrote, and its exit code.
    private func run(_ program: String, _ arguments: [String]) throws -> (code: Int32, output: String, errors: String) {
        let process = TestProcess()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complained = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: said, as: UTF8.self),
            String(decoding: complained, as: UTF8.self)
        )
    }

    /// Ends an enclave by SIGKILL, as a crash would, and waits until it is over.
    private func kill(_ pid: Int32) throws {
        let process = try ProcessHandle.open(pid)
        #expect(Foundation.kill(pid, SIGKILL) == 0)
        #expect(process.hasEndedSoon)
    }

    /// Tells the enclave of a test to go when the test is over.
    private func leave(_ home: EnclaveHome, run: String? = nil) throws {
        try RemoteEnclave(
            runDirectory: run ?? home.runDirectory, expecting: .anyOrNew,
            userID: ProcessEnvironment.effectiveUserID, clock: SystemClock()
        ).askToLeave()
    }

    @Test func killedAndStartedAgainItOpensTheSameKeys() throws {
        let home = try EnclaveHome()
        let launcher = launcher(home)
        let first = try launcher.connect()
        let process = try first.describe().processID
        #expect(process != ProcessEnvironment.processID)
        let made = try MadeKey(in: first)
        try kill(process)
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try first.describe() }
        let second = try self.launcher(home, .named(first.storeID)).connect()
        #expect(try second.describe().processID != process)
        #expect(second.indexBytes == first.indexBytes)
        #expect(try made.opens(in: second))
        try leave(home)
    }

    @Test func keysThatWereLostInTheMeantimeAreNotMadeAnew() throws {
        let home = try EnclaveHome()
        let launcher = launcher(home)
        try kill(try launcher.connect().describe().processID)
        for name in EnclaveHome.keyFiles { try home.remove(name) }
        #expect(throws: KeychainError(.notAvailable, reason: .keybagUnreadable)) { try launcher.connect() }
        #expect(try home.contents().isEmpty)
        try leave(home)
    }

    @Test func whatAStartThatWasCutShortLeftBehindIsNoObstacle() throws {
        let home = try EnclaveHome()
        let run = try home.temporary.folder("run")
        let dead = try PacketSocket.listen(at: EnclaveProtocol.socketName, in: run.descriptor)
        let stale = try PacketSocket.listen(at: "\(EnclaveProtocol.socketName).new", in: run.descriptor)
        stale.shutDown()
        dead.shutDown()
        #expect(try launcher(home).connect().describe().processID != ProcessEnvironment.processID)
        try leave(home)
    }

    @Test func oneThatRunsIsFoundAndNotStartedTwice() throws {
        let home = try EnclaveHome()
        let first = try launcher(home).connect()
        let again = try launcher(home).connect()
        #expect(try again.describe().processID == first.describe().processID)
        try leave(home)
    }

    private static func confined(_ measures: [MeasureState]) -> [HardeningMeasure: Bool] {
        Dictionary(
            uniqueKeysWithValues: measures.compactMap { one in
                HardeningMeasure(rawValue: one.name).map { ($0, one.isInForce) }
            })
    }

    @Test(.enabled(if: RunningKernel.confines, "a measure is missing here"))
    func itSaysWhatItIsConfinedBy() throws {
        let home = try EnclaveHome()
        let measures = try launcher(home).connect().describe().measures
        #expect(measures.map(\.name) == HardeningMeasure.allCases.map(\.rawValue))
        #expect(measures.allSatisfy { $0.isInForce }, "\(measures)")
        try leave(home)
    }

    /// An old kernel, or a container that refuses all of it.
    @Test func itServesAndSaysSoWhereNothingConfinesIt() throws {
        let home = try EnclaveHome()
        let unconfined = home.temporary.path("enclave-unconfined")
        try FileManager.default.createSymbolicLink(
            atPath: unconfined, withDestinationPath: "\(Self.products)/enclave-probe")
        let launcher = EnclaveLauncher(
            executable: unconfined, dataDirectory: home.dataDirectory, runDirectory: home.runDirectory,
            expecting: .anyOrNew, clock: SystemClock())
        let connection = try launcher.connect()
        #expect(try MadeKey(in: connection).opens(in: connection))
        let measures = try connection.describe().measures
        let found = Self.confined(measures)
        for measure in [HardeningMeasure.noCoreDumps, .notDumpable, .noNewPrivileges] {
            #expect(found[measure] == true, "\(measure)")
        }
        for measure in [HardeningMeasure.noNewCode, .files, .systemCalls, .hiddenMemory] {
            #expect(found[measure] == false, "\(measure)")
            #expect(measures.first { $0.name == measure.rawValue }?.note.isEmpty == false)
        }
        try leave(home)
    }

    @Test func aRaceOfStartersEndsInOneEnclave() async throws {
        let home = try EnclaveHome()
        let launcher = launcher(home)
        let found = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<6 { group.addTask { try launcher.connect().describe().processID } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(found.count == 1)
        try leave(home)
    }

    @Test func itIsFoundFromAnotherSession() throws {
        let home = try EnclaveHome()
        let first = try launcher(home).connect()
        let elsewhere = try home.temporary.folder("other session").path
        let launcher = launcher(home, run: elsewhere)
        #expect(try launcher.connect().describe().processID == first.describe().processID)
        try launcher.dismiss()
        #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try first.describe() }
        try launcher.dismiss()
    }

    @Test func aSecondEnclaveOnTheSameFolderSaysSoInOneLine() throws {
        let home = try EnclaveHome()
        _ = try launcher(home).connect()
        let arguments = ["--data", home.dataDirectory, "--run", home.temporary.path("elsewhere")]
        let (code, output, errors) = try run("\(Self.products)/latchkey-enclave", arguments)
        #expect(code == 1)
        #expect(output.isEmpty)
        #expect(errors.hasPrefix("latchkey-enclave: "))
        #expect(errors.contains("another process has this store open"))
        #expect(errors.filter { $0 == "\n" }.count == 1)
        try leave(home)
    }

    @Test func whatKeptItFromStartingIsReported() throws {
        let home = try EnclaveHome.made()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.path(""))
        do throws(KeychainError) {
            _ = try launcher(home).connect()
            Issue.record("it started")
        } catch {
            guard case .folderUnusable(let why) = error.reason else { throw error }
            #expect(why.contains("only 0700 is safe"))
        }
    }

    @Test func aProgramThatIsNotThereOrSaysNothingIsUnreachable() throws {
        let home = try EnclaveHome()
        for program in ["\(home.dataDirectory)/nothing", "/bin/true"] {
            let launcher = EnclaveLauncher(
                executable: program, dataDirectory: home.dataDirectory, runDirectory: home.runDirectory,
                expecting: .anyOrNew, clock: SystemClock())
            #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) { try launcher.connect() }
        }
    }

    @Test func itIsHardened() throws {
        let home = try EnclaveHome()
        let process = try launcher(home).connect().describe().processID
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").filter { $0 == "0" }.count == 2)
        try leave(home)
    }

    /// A process of the same user cannot look into it (prctl(2) PR_SET_DUMPABLE).
    @Test(.enabled(if: ProcessEnvironment.effectiveUserID != 0, "root looks into everything"))
    func nobodyOfTheSameUserLooksIntoIt() throws {
        let home = try EnclaveHome()
        let process = try launcher(home).connect().describe().processID
        for name in ["environ", "mem", "maps"] {
            #expect(throws: (any Error).self) {
                _ = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/\(name)")).read(upToCount: 1)
            }
        }
        try leave(home)
    }

    @Test(.enabled(if: ProcessEnvironment.effectiveUserID == 0, "only root sees it"))
    func itKeepsNothingOfItsStarter() throws {
        let home = try EnclaveHome()
        let process = try launcher(home).connect().describe().processID
        #expect(try Data(contentsOf: URL(filePath: "/proc/\(process)/environ")).isEmpty)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd") == "/")
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
        #expect(open.filter { $0 == "/dev/null" }.count == 3)
        let ours = open.filter { $0.hasPrefix(home.temporary.path) }.map { $0.dropFirst(home.temporary.path.count) }
        #expect(
            ours.sorted() == [
                "/data/enclave", "/data/enclave/lock", "/data/run", "/data/run/enclave.lock", "/run", "/run/enclave.lock",
            ])
        try leave(home)
    }

    @Test func whenToldToLeaveOrTerminatedItRemovesItsSocket() throws {
        let home = try EnclaveHome()
        let socket = "\(home.runDirectory)/\(EnclaveProtocol.socketName)"
        for ending in [{ try self.leave(home) }, { _ = Foundation.kill(try self.listening(home), SIGTERM) }] {
            let process = try launcher(home).connect().describe().processID
            let handle = try ProcessHandle.open(process)
            #expect(FileManager.default.fileExists(atPath: socket))
            try ending()
            #expect(handle.hasEndedSoon)
            #expect(FileManager.default.fileExists(atPath: socket) == false)
        }
    }

    private func listening(_ home: EnclaveHome) throws -> Int32 {
        try #require(EnclaveRendezvous.last(inData: home.dataDirectory)).processID
    }

    @Test func anotherProcessIsRefusedWhileOneIsServed() throws {
        let home = try EnclaveHome()
        var enclave: (any EnclaveConnection)? = try launcher(home).connect()
        let probe = "\(Self.products)/enclave-probe"
        let arguments = ["connect", home.runDirectory, "\(ProcessEnvironment.effectiveUserID)"]
        #expect(try run(probe, arguments).code != 0)
        _ = try enclave?.describe()
        enclave = nil
        // It takes the machine a moment to tell the enclave.
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        var code = try run(probe, arguments).code
        while code != 0, !soon.hasPassed { code = try run(probe, arguments).code }
        #expect(code == 0)
        try leave(home)
    }

    @Test(.enabled(if: ProcessEnvironment.effectiveUserID == 0, "only root can be two users"))
    func anotherUserIsRefusedByTheRealProgram() throws {
        let home = try EnclaveHome()
        let enclave = try launcher(home).connect()
        // What keeps others out first are the folders; without them the enclave itself does.
        let fileManager = FileManager.default
        for path in [home.temporary.path, home.runDirectory, "\(home.runDirectory)/\(EnclaveProtocol.socketName)"] {
            try fileManager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        }
        let socket = "\(home.runDirectory)/\(EnclaveProtocol.socketName)"
        let script = """
            import os, socket, sys
            os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1])
            try: s.send(b'L')
            except BrokenPipeError: pass
            s.settimeout(20)
            try: sys.exit(0 if s.recv(1) == b'' else 1)
            except ConnectionResetError: sys.exit(0)
            """
        let (code, _, errors) = try run("/usr/bin/env", ["python3", "-c", script, socket])
        #expect(code == 0, "\(errors)")
        _ = try enclave.describe()
        for path in [home.temporary.path, home.runDirectory] {
            try fileManager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        }
        try leave(home)
    }

    @Test func aConnectionInheritedByAnotherProcessEnds() throws {
        let server = try RunningServer()
        let enclave = try server.connect()
        let shared = try server.bareConnection()
        try DaemonStarter.start(
            "\(Self.products)/enclave-probe", arguments: ["speak"], environment: [], keeping: shared.socket.descriptor)
        #expect(try shared.isEnded)
        _ = try enclave.describe()
    }

    @Test func helpAndVersion() throws {
        let program = "\(Self.products)/latchkey-enclave"
        #expect(try run(program, ["--version"]).output == "\(LatchkeyVersion.text)\n")
        #expect(try run(program, ["--help"]).output.contains("--data"))
        #expect(try run(program, ["--data", "relative", "--run", "/tmp"]).code == 64)
    }
}
