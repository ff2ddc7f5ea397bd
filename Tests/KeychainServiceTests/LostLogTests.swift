import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Testing

/// The write-ahead log is taken away, or changed, under a store that is open.
@Suite struct LostLogTests {
    private static let log = "keychain.db-wal"

    private func url(_ keychain: EngineUnderTest, _ name: String) -> URL {
        URL(fileURLWithPath: keychain.folder.path + "/" + name)
    }

    private func bytes(_ keychain: EngineUnderTest, _ name: String) -> Data? {
        FileManager.default.contents(atPath: url(keychain, name).path)
    }

    /// Why a new item is not stored.
    private func refusal(_ keychain: EngineUnderTest) -> Reason? {
        do throws(KeychainError) {
            _ = try keychain.call(.add, keychain.item("new"), value: "1")
            return nil
        } catch { return error.reason }
    }

    /// A store whose item a is in the database, and b in the log alone.
    private func filled() throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.reopen()
        try keychain.add("b", "1")
        return keychain
    }

    /// Closes the store and opens it with these files alone, as where its process was killed then.
    private func reopen(_ keychain: EngineUnderTest, killedWith files: [String: Data]) throws {
        try keychain.reopen {
            for name in ["keychain.db", Self.log, "keychain.db-shm", "keychain.db.witness"] {
                if FileManager.default.fileExists(atPath: url(keychain, name).path) {
                    try FileManager.default.removeItem(at: url(keychain, name))
                }
                try files[name]?.write(to: url(keychain, name))
            }
        }
    }

    private func files(_ keychain: EngineUnderTest) -> [String: Data] {
        var found: [String: Data] = [:]
        for name in ["keychain.db", Self.log, "keychain.db.witness"] { found[name] = bytes(keychain, name) }
        return found
    }

    @Test(arguments: [[log], [log, "keychain.db-shm"]])
    func whatWasAcknowledgedOutlivesARemovedLog(_ names: [String]) throws {
        let keychain = try filled()
        for name in names { try FileManager.default.removeItem(at: url(keychain, name)) }
        #expect(refusal(keychain) == .logChanged)
        #expect(keychain.engine.isSpent)
        try reopen(keychain, killedWith: files(keychain))
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1")
        // Nothing is missing, and what was refused is not there.
        #expect(keychain.failure("new")?.reason == .nothingMatches)
        #expect(keychain.engine.openingEvent == nil)
        #expect(refusal(keychain) == nil)
    }

    /// What lies in a file's place and is none.
    enum Stranger: CaseIterable {
        case link, dangling, itself, folder, pipe, socket

        func put(at path: String) throws {
            let files = FileManager.default
            switch self {
            case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: path + ".other")
            case .dangling: try files.createSymbolicLink(atPath: path, withDestinationPath: path + ".nothing")
            case .itself: try files.createSymbolicLink(atPath: path, withDestinationPath: path)
            case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .pipe: try #require(unsafe mkfifo(path, 0o600) == 0)
            case .socket: try #require(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
            }
        }
    }

    /// SQLite would follow a link, make a file where it leads, and wait for a pipe.
    @Test(arguments: Stranger.allCases, [true, false])
    func whatIsNoLogTakesNothingAlong(_ stranger: Stranger, whileItRuns: Bool) throws {
        let keychain = try filled()
        let path = url(keychain, Self.log).path
        let other = Data("somebody's".utf8)
        try other.write(to: URL(fileURLWithPath: path + ".other"))
        if whileItRuns {
            try FileManager.default.removeItem(atPath: path)
            try stranger.put(at: path)
            #expect(refusal(keychain) == .logChanged)
            #expect(keychain.engine.isSpent)
            try keychain.close()
        } else {
            // As after a kill; the log is elsewhere.
            let killed = files(keychain)
            try keychain.close()
            for (name, bytes) in killed where name != Self.log { try bytes.write(to: url(keychain, name)) }
            try killed[Self.log]?.write(to: URL(fileURLWithPath: path + ".moved"))
            try stranger.put(at: path)
        }
        for _ in 0..<2 {
            let error = #expect(throws: KeychainError.self) { try keychain.open() }
            guard case .folderUnusable(let why)? = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(why.contains(path) && why.contains("no file"))
        }
        #expect(bytes(keychain, Self.log + ".other") == other && bytes(keychain, Self.log + ".nothing") == nil)
        try FileManager.default.removeItem(atPath: path)
        if !whileItRuns { try FileManager.default.moveItem(atPath: path + ".moved", toPath: path) }
        try keychain.open()
        for account in ["a", "b"] { #expect(try keychain.value(account) == "1") }
        #expect(keychain.failure("new")?.reason == .nothingMatches)
        #expect(refusal(keychain) == nil)
    }

    /// Nobody writes after that: the end finds it.
    @Test func whatWasAcknowledgedOutlivesALogThatIsRemovedBeforeTheEnd() throws {
        let keychain = try filled()
        try FileManager.default.removeItem(at: url(keychain, Self.log))
        try keychain.reopen()
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("new")?.reason == .nothingMatches)
    }

    @Test(arguments: ["older", "another"]) func aLogInItsPlaceCoversNothingAndIsKept(_ kind: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let older = try #require(bytes(keychain, Self.log))
        try keychain.reopen()
        try keychain.add("b", "1")
        let stranger = kind == "older" ? older : Data("no log at all".utf8)
        // Another file by this name.
        try stranger.write(to: url(keychain, Self.log), options: .atomic)
        #expect(refusal(keychain) == .logChanged)
        #expect(bytes(keychain, Self.log) == stranger)
        try keychain.close()
        #expect(bytes(keychain, Self.log) == stranger, "closing deletes nobody's file")
        try keychain.open()
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("new")?.reason == .nothingMatches)
    }

    @Test(arguments: ["emptied", "cut to its header", "cut", "zeroed", "header zeroed", "a bit of the header", "older"])
    func aLogThatIsChangedInPlaceTakesNothingFromTheDatabase(_ damage: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("first", "1")
        let older = try #require(bytes(keychain, Self.log))
        try keychain.reopen()
        try keychain.add("a", "1")
        try keychain.reopen()
        try keychain.add("b", "1")
        let database = bytes(keychain, "keychain.db")
        let log = try #require(bytes(keychain, Self.log))
        let changed =
            switch damage {
            case "emptied": Data()
            case "cut to its header": log.prefix(32)
            case "cut": log.dropLast()
            case "zeroed": Data(count: log.count)
            case "header zeroed": Data(count: 32) + log.dropFirst(32)
            case "a bit of the header": Data([log[0] ^ 1]) + log.dropFirst()
            default: older + Data(count: max(0, log.count - older.count))
            }
        try changed.write(to: url(keychain, Self.log))
        #expect(refusal(keychain) == .logChanged)
        #expect(refusal(keychain) == .logChanged, "nothing makes it well again")
        #expect(bytes(keychain, "keychain.db") == database)
        try keychain.close()
        #expect(bytes(keychain, "keychain.db") == database, "its end writes no hole")
        try keychain.open()
        #expect(try keychain.value("first") == "1")
        #expect(try keychain.value("a") == "1")
        // Its frames are there, and prove themselves; of one that was cut all but the last.
        let isPutRight = damage.contains("header") && damage != "cut to its header"
        #expect(try keychain.value("b") == (isPutRight || damage == "cut" ? "1" : nil))
        #expect(keychain.failure("c")?.reason == (isPutRight ? .nothingMatches : .mayBeSetAside))
        #expect(try keychain.engine.doctor(.look).hasNewDamage == !isPutRight)
    }

    /// Nobody writes: the end finds it.
    @Test func theEndWritesNoHoleIntoTheDatabase() throws {
        let keychain = try filled()
        let database = bytes(keychain, "keychain.db")
        try Data().write(to: url(keychain, Self.log))
        try keychain.close()
        #expect(bytes(keychain, "keychain.db") == database)
        try keychain.open()
        #expect(try keychain.value("a") == "1")
        #expect(keychain.failure("b")?.reason == .mayBeSetAside)
    }

    @Test func doctorFindsIt() throws {
        let keychain = try filled()
        try FileManager.default.removeItem(at: url(keychain, Self.log))
        #expect(throws: KeychainError(.notAvailable, reason: .logChanged)) { try keychain.engine.doctor(.look) }
        try keychain.reopen()
        #expect(try !keychain.engine.doctor(.look).hasNewDamage)
    }

    /// A log that SQLite began anew, or that somebody else checkpointed, is no other one.
    @Test(arguments: ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
    func aCheckpointIsNoChange(_ kind: String) throws {
        let keychain = try filled()
        try keychain.sql("PRAGMA wal_checkpoint(\(kind))")
        try keychain.add("c", "1")
        try keychain.add("d", "1")
        try keychain.reopen()
        for account in ["a", "b", "c", "d"] { #expect(try keychain.value(account) == "1") }
        #expect(keychain.engine.openingEvent == nil)
    }

    /// It reads the folder, in which the log is not.
    @Test func noBackupIsMadeOfHalfADatabase() throws {
        let keychain = try filled()
        try FileManager.default.removeItem(at: url(keychain, Self.log))
        let backup = keychain.folder.path + "/backup"
        let making = BackupMaking(of: keychain.folder.path, clock: keychain.clock)
        let failure = #expect(throws: BackupMaking.Failure.self) { try making.write(to: backup, replacing: false) }
        guard case .keychain(let error)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.reason == .logChanged)
        #expect(!FileManager.default.fileExists(atPath: backup))
        #expect(refusal(keychain) == .logChanged)
        try keychain.reopen()
        _ = try making.write(to: backup, replacing: false)
        #expect(try EngineUnderTest.number("SELECT count(*) FROM genp", in: backup) == 2)
    }
}
