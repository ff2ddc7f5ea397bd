import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Sockets and folders that go, or are moved, while everything runs.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct RemovalTests {
    enum Removed: String, CaseIterable, CustomTestStringConvertible {
        case socket = "the socket"
        case runFolder = "the run folder"
        case runFolderRenamed = "the run folder, by renaming"
        var testDescription: String { rawValue }
    }

    @Test(arguments: Removed.allCases)
    func theDaemonThatRunsIsFoundAgain(_ removed: Removed) throws {
        let home = try FaultHome("removal")
        let ledger = Ledger("removal")
        let connected = home.client()
        for number in 0..<5 { ledger.write(.all, "item \(number)", by: connected) }
        let daemon = try home.serving().daemon
        let run = home.locations.runDirectory
        switch removed {
        case .socket: try FileManager.default.removeItem(atPath: home.socket)
        case .runFolder: try Self.remove(run)
        case .runFolderRenamed: try FileManager.default.moveItem(atPath: run, toPath: run + ".old")
        }
        ledger.count { $0.bursts += 1 }
        // Who is connected stays so.
        for number in 0..<5 { ledger.write(.all, "item \(number)", by: connected) }
        #expect(try home.serving().daemon == daemon)
        try Auditor(ledger: ledger).audit(through: home.client())
        #expect(Waiting.eventually { home.processes("latchkeyd") == [daemon] }, "two daemons")
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("removal of \(removed.rawValue)", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.refused == 0)
    }

    /// Again and again, also before the daemon has looked.
    @Test(arguments: [false, true])
    func aRunFolderMayGoOftenInARow(_ goesWithAllAboveIt: Bool) throws {
        let above = try TemporaryDirectory("above")
        let home = try FaultHome("removal", runDirectory: above.path("runtime/latchkey"))
        let ledger = Ledger("removal")
        #expect(ledger.write(.all, "item", by: home.client()) == nil)
        let daemon = try home.serving().daemon
        for _ in 0..<8 {
            try Self.remove(goesWithAllAboveIt ? above.path("runtime") : home.locations.runDirectory)
            // As long as a program waits, and no longer.
            _ = try home.client(patience: nil).perform(ledger.item("item").read)
            #expect(try home.serving().daemon == daemon)
        }
        #expect(Waiting.eventually { home.processes("latchkeyd") == [daemon] }, "two daemons")
    }

    /// Locks are what people remove by hand where something seems to hang.
    @Test func theLockFileMayGoOrSayAnother() throws {
        let home = try FaultHome("removal")
        let ledger = Ledger("removal")
        for number in 0..<5 { ledger.write(.all, "item \(number)", by: home.client()) }
        let daemon = try home.serving().daemon
        let data = try PrivateDirectory(home.data, creating: false)
        let file = home.data + "/" + Rendezvous.lockFile
        for round in 0..<6 {
            ledger.count { $0.bursts += 1 }
            switch round % 3 {
            case 0: try FileManager.default.removeItem(atPath: file)
            case 1:
                try data.replace(Rendezvous.lockFile, with: [])
                // Where it is gone, or locked, whoever starts waits for the daemon.
                #expect(try Waiting.eventually { try Rendezvous.present(in: data) != nil }, "no lock")
            default:
                // A copy of the folder that is copied over it.
                let old = Rendezvous(processID: 1, runDirectory: "/nowhere").encoded
                let handle = try #require(FileHandle(forWritingAtPath: file))
                try handle.write(contentsOf: old)
                try handle.truncate(atOffset: UInt64(old.count))
                try handle.close()
            }
            ledger.write(.all, "item \(round)", by: home.client())
            #expect(try home.serving().daemon == daemon)
            #expect(try Rendezvous.present(in: data)?.processID == daemon)
        }
        #expect(Waiting.eventually { home.processes("latchkeyd") == [daemon] }, "two daemons")
        // Who ends the programs finds them all the same.
        try FileManager.default.removeItem(atPath: file)
        let stop = try Command(
            "\(FaultHome.programs)/latchkeyd",
            ["--data-dir", home.data, "--run-dir", home.locations.runDirectory, "--stop"]
        ).run()
        #expect(stop.status == 0 && !FaultHome.isAlive(daemon), "\(stop.text)")
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("removal of the lock", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.refused == 0)
    }

    /// The daemon may put its socket back while the folder is being emptied, and gives
    /// up on a folder that is emptied again and again: it listens in the data folder then.
    private static func remove(_ folder: String) throws {
        for _ in 0..<50 {
            do { return try FileManager.default.removeItem(atPath: folder) } catch CocoaError.fileNoSuchFile {
                guard FileManager.default.fileExists(atPath: folder) else { return }
            } catch { continue }
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Nothing is acknowledged into files that nobody finds again.
    @Test(arguments: [false, true])
    func aDataFolderThatWasMovedTakesNoWritesUntilItIsBack(_ runsInData: Bool) throws {
        let home = try FaultHome("removal", runsInData: runsInData)
        let ledger = Ledger("removal")
        let client = home.client()
        for number in 0..<5 { ledger.write(.all, "item \(number)", by: client) }
        let moved = Reason.folderMoved(to: home.data + ".moved")
        try FileManager.default.moveItem(atPath: home.data, toPath: home.data + ".moved")
        ledger.count { $0.bursts += 1 }
        for change in Ledger.Change.allCases {
            let error = ledger.write(change, "item 0", by: client)
            expect(error, .notAvailable, moved, "a moved data folder", ledger)
        }
        expect(ledger.write(.all, "new", by: client), .notAvailable, moved, "a moved data folder", ledger)
        // What failed had the daemon look for its enclave anew.
        try Auditor(ledger: ledger).audit(through: client)
        #expect(!FileManager.default.fileExists(atPath: home.data), "nothing is made where it was")
        try FileManager.default.moveItem(atPath: home.data + ".moved", toPath: home.data)
        ledger.write(.all, "new", by: client)
        try Auditor(ledger: ledger).audit(through: client)
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("data folder moved and put back", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.acknowledged == 6)
    }

    /// Nor where something else lies there by now, which would be another store's.
    @Test(arguments: [false, true])
    func noEnclaveIsStartedWhereAMovedFolderWas(_ isReplaced: Bool) throws {
        let home = try FaultHome("removal")
        let ledger = Ledger("removal")
        let client = home.client()
        ledger.write(.all, "item 0", by: client)
        let moved = home.data + ".moved"
        let enclave = try home.serving().enclave
        try FileManager.default.moveItem(atPath: home.data, toPath: moved)
        if isReplaced { try FileManager.default.createDirectory(atPath: home.data, withIntermediateDirectories: false) }
        try FaultHome.end(enclave)
        let read = ledger.item("item 0").read
        let error = #expect(throws: KeychainError.self) { try client.perform(read) }
        #expect(error?.reason == .folderMoved(to: moved), "\(String(describing: error))")
        #expect(home.processes("latchkey-enclave").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home.data + "/enclave"))
        if isReplaced { try FileManager.default.removeItem(atPath: home.data) }
        try FileManager.default.moveItem(atPath: moved, toPath: home.data)
        try Auditor(ledger: ledger).audit(through: client)
        #expect(ledger.counts.isClean)
        try home.endAll()
    }

    /// The folder and all in it are gone by somebody's hand, which is as if there
    /// had never been a store. What is acknowledged from then on has to last: the
    /// old enclave, whose keys lie nowhere any more, must not seal it.
    @Test(arguments: [SIGKILL, 0])
    func whatIsStoredAfterTheDataFolderWasRemovedLasts(_ signal: Int32) throws {
        let home = try FaultHome("removal")
        let before = Ledger("before")
        let old = home.client(autostart: false)
        for number in 0..<5 { before.write(.all, "item \(number)", by: home.client()) }
        _ = try old.perform(before.item("item 0").read)
        let processes = try home.serving()
        try FileManager.default.removeItem(atPath: home.data)
        if signal != 0 {
            try FaultHome.end(processes.daemon)
        } else {
            let error = before.write(.all, "item 0", by: old)
            expect(error, .notAvailable, .keysAway, "a removed data folder", before)
        }

        let ledger = Ledger("after")
        ledger.count { $0.bursts += 1 }
        for number in 0..<5 { #expect(ledger.write(.all, "item \(number)", by: home.client()) == nil) }
        #expect(try home.serving().enclave != processes.enclave)
        for process in [processes.daemon, processes.enclave] { try FaultHome.end(process) }
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("data folder removed", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.acknowledged == 5)
        #expect(before.counts.wrongAnswers == 0)
    }

    /// Two XDG_DATA_HOME in one session: two stores that want to be met in one
    /// run folder. Neither may be taken for the other.
    @Test(arguments: [false, true])
    func twoStoresWithOneRunFolderStayApart(_ killsTheFirst: Bool) throws {
        let first = try FaultHome("one")
        let second = try FaultHome("other", runDirectory: first.locations.runDirectory)
        let books = [(first, Ledger("shared")), (second, Ledger("shared"))]
        for round in 0..<3 {
            for (home, ledger) in round == 1 ? books.reversed() : books {
                for number in 0..<3 {
                    #expect(ledger.write(.all, "\(home.folder.path) \(number)", by: home.client()) == nil)
                }
                // Its enclave lives on where only the daemon dies.
                if killsTheFirst { for process in home.processes("latchkeyd") { try FaultHome.end(process) } }
            }
            if round == 1 { for (home, _) in books { try home.endAll() } }
            for (home, ledger) in books { try Auditor(ledger: ledger).audit(through: home.client()) }
        }
        for (home, _) in books { try home.endAll() }
        for (home, ledger) in books.reversed() { try Auditor(ledger: ledger).audit(through: home.client()) }
        var counts = books[0].1.counts + books[1].1.counts
        counts.bursts = 1
        FaultReport.print("two stores with one run folder", counts, killsTheFirst ? "daemons killed" : "")
        #expect(counts.isClean)
    }
}
