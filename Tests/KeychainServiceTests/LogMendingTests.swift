import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// Bytes of a write-ahead log change behind its back, and the process that wrote it is killed:
/// SQLite would take the log to its end there.
@Suite struct LogMendingTests {
    private static let names = ["keychain.db", "keychain.db-wal", "keychain.db.witness"]
    private static let (headerSize, frameSize) = (32, 24 + 4096)

    /// "old" and "gone" are in the database; the log holds a later value of "old", the end of "gone",
    /// and 12 items.
    private struct Killed {
        let keychain: EngineUnderTest
        let files: [String: Data]
        /// Of before the last commit.
        let earlierWitness: Data

        /// Made once; each test has a copy.
        private static let prepared = Result { try Prepared(hasBegunAnew: false, damage: nil) }

        init() throws { try self.init(Self.prepared.get()) }

        /// - Parameters:
        ///   - hasBegunAnew: the log, which all went into the database before.
        ///   - damage: what became of the database before that.
        init(hasBegunAnew: Bool, damage: String? = nil) throws {
            try self.init(Prepared(hasBegunAnew: hasBegunAnew, damage: damage))
        }

        private init(_ made: Prepared) throws {
            keychain = try EngineUnderTest(made.files)
            // Behind all that was written.
            keychain.clock.advance(by: .seconds(10))
            files = made.files.files.filter { LogMendingTests.names.contains($0.key) }
            earlierWitness = made.earlierWitness
        }

        private struct Prepared: Sendable {
            let files: StoreSnapshot
            let earlierWitness: Data

            init(hasBegunAnew: Bool, damage: String?) throws {
                let keychain = try EngineUnderTest(at: TemporaryDirectory.inMemory(), ManualClock())
                try keychain.open()
                for account in ["old", "gone"] { try keychain.add(account, "1") }
                try keychain.reopen()
                if let damage {
                    try keychain.sql(damage)
                    try keychain.sql("PRAGMA wal_checkpoint(RESTART)")
                }
                if hasBegunAnew {
                    try keychain.add("before", "1")
                    try keychain.sql("PRAGMA wal_checkpoint(RESTART)")
                }
                keychain.clock.advance(by: .seconds(5))
                try Killed.update("old", "2", keychain)
                _ = try keychain.call(.delete, [("class", .string("genp")), ("acct", .string("gone"))])
                for number in 0..<11 { try keychain.add("\(number)", "v\(number)") }
                earlierWitness = try Data(
                    contentsOf: URL(fileURLWithPath: keychain.folder.path("keychain.db.witness")))
                try keychain.add("11", "v11")
                files = try StoreSnapshot(of: keychain.folder)
                try keychain.close()
            }
        }

        static func update(_ account: String, _ value: String, _ keychain: EngineUnderTest) throws {
            _ = try keychain.call(.update, keychain.item(account), value: value)
        }

        var log: Data { files["keychain.db-wal"] ?? Data() }
        var frameCount: Int { (log.count - headerSize) / frameSize }

        /// Of its first frame: the one behind the last frame but one that ends a commit.
        var startOfLastCommit: Int {
            let commits = (0..<frameCount).filter { frame in
                let size = headerSize + frame * frameSize + 4
                return log[size..<size + 4].contains { $0 != 0 }
            }
            return headerSize + (commits[commits.count - 2] + 1) * frameSize
        }

        /// Opens what the kill left, with another log.
        func reopen(
            _ log: Data, _ witness: Data? = nil, before: (String) throws -> Void = { _ in }
        ) throws {
            try keychain.reopen {
                for name in try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
                where name.hasPrefix("keychain.db") {
                    try FileManager.default.removeItem(atPath: keychain.folder.path + "/" + name)
                }
                var files = files
                files["keychain.db-wal"] = log
                if let witness { files["keychain.db.witness"] = witness }
                for (name, bytes) in files {
                    try bytes.write(to: URL(fileURLWithPath: keychain.folder.path + "/" + name))
                }
                try before(keychain.folder.path)
            }
        }

        var accounts: [(name: String, value: String)] { [("old", "2")] + (0..<12).map { ("\($0)", "v\($0)") } }

        /// What there is of them.
        func expectAll(_ note: Comment? = nil) throws {
            let values = try keychain.values()
            for (name, value) in accounts { #expect(values[name] == value, note) }
        }

        func missing() throws -> [String] {
            let values = try keychain.values()
            return accounts.filter { values[$0.name] != $0.value }.map { $0.name }
        }

        var keptLogs: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
                    .filter { $0.hasPrefix("keychain.db.damaged-") }
            }
        }
    }

    /// Nothing is lost, and nothing of the log but the bit differs.
    @Test func aBitOfTheHeaderIsPutRight() throws {
        let killed = try Killed()
        for bit in stride(from: 0, to: 8 * Self.headerSize, by: 5) {
            var log = killed.log
            log[bit / 8] ^= 1 << (bit % 8)
            try killed.reopen(log)
            try killed.expectAll("bit \(bit)")
            #expect(killed.keychain.failure("gone")?.reason == .nothingMatches, "bit \(bit)")
        }
    }

    /// Of 60 bits: most are put right without a trace. Where nobody knows which bit it was the log
    /// stays as it is, everything comes back by its seals but the row that has the bit, and that
    /// something may be missing is said.
    @Test func aBitOfAnyFrameLosesOneItemAtTheMost() throws {
        let killed = try Killed()
        let bitCount = 8 * (killed.log.count - Self.headerSize)
        var whole = 0
        for step in 0..<60 {
            // All over the log, and each bit of a byte as often as the others.
            let bit = step * (bitCount / 60) + step * 13 % 97
            let byte = Self.headerSize + bit / 8
            var log = killed.log
            log[byte] ^= 1 << (bit % 8)
            try killed.reopen(log)
            let missing = try killed.missing()
            #expect(missing.count <= 1, "byte \(byte): \(missing)")
            if killed.keychain.failure("none")?.reason == .nothingMatches {
                #expect(missing.isEmpty, "byte \(byte): \(missing)")
                #expect(killed.keychain.failure("gone")?.reason == .nothingMatches, "byte \(byte)")
                #expect(try killed.keptLogs.isEmpty)
                whole += 1
            } else {
                #expect(killed.keychain.failure("none")?.reason == .mayBeSetAside)
                #expect(try killed.keychain.engine.doctor(.look).hasNewDamage)
            }
        }
        #expect(whole > 35, "\(whole) of 60 without a trace")
    }

    /// Of several of its bits there may be another explanation: the log is kept as it was.
    @Test func aByteThatWasChangedIsPutRight() throws {
        let killed = try Killed()
        for frame in stride(from: 0, to: killed.frameCount - 1, by: 7) {
            var log = killed.log
            let byte = Self.headerSize + frame * Self.frameSize + 24 + 4 * (frame * 37 % 1024)
            // A change of it by 90 or by 38, whatever it was.
            log[byte] = log[byte] < 166 ? log[byte] + 90 : log[byte] - 38
            try killed.reopen(log)
            try killed.expectAll()
            #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
            #expect(killed.keychain.engine.openingEvent?.contains("1 of its parts") == true)
            let isOneBit = (log[byte] ^ killed.log[byte]).nonzeroBitCount == 1
            #expect(try killed.keptLogs.isEmpty == isOneBit, "frame \(frame)")
            #expect(try !killed.keychain.engine.doctor(.look).hasNewDamage)
        }
    }

    /// The log goes on with another checksum, and without one at all.
    @Test func checksumsAndSaltsArePutRight() throws {
        let killed = try Killed()
        for (offset, count) in [(8, 8), (16, 8), (0, 4)] {
            for frame in [0, 1, killed.frameCount / 2, killed.frameCount - 2] {
                var log = killed.log
                let start = Self.headerSize + frame * Self.frameSize + offset
                for byte in start..<start + count { log[byte] = ~log[byte] }
                try killed.reopen(log)
                try killed.expectAll("\(offset) of frame \(frame)")
                #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
            }
        }
    }

    /// Nothing goes on with the last frame, so that nobody knows whether its page was changed or its
    /// checksum: a change of the second sum alone looks like one of the page's last word.
    @Test func ofTheLastFrameNothingIsGuessed() throws {
        let killed = try Killed()
        let start = Self.headerSize + (killed.frameCount - 1) * Self.frameSize
        for bit in stride(from: 0, to: 64, by: 3) {
            var log = killed.log
            log[start + 16 + bit / 8] ^= 1 << (bit % 8)
            try killed.reopen(log)
            try killed.expectAll("bit \(bit)")
            #expect(killed.keychain.failure("none")?.reason == .mayBeSetAside)
            #expect(try killed.keptLogs.count == 1)
        }
    }

    /// What a part of a page becomes.
    enum Spoiling: CustomStringConvertible {
        /// The same bit of several words, as a bad line of memory has it.
        case bit(Int, words: [Int])
        /// So many bytes from there on.
        case fill(UInt8, from: Int, count: Int)

        var description: String {
            switch self {
            case .bit(let bit, let words): "bit \(bit) of \(words)"
            case .fill(let byte, let first, let count): "\(count) bytes \(byte) from \(first)"
            }
        }

        func apply(to log: inout Data, _ page: Int) {
            switch self {
            case .bit(let bit, let words):
                for word in words { log[page + 4 * word + bit / 8] ^= 1 << (bit % 8) }
            case .fill(let byte, let first, let count):
                for place in page + first..<page + first + count { log[place] = byte }
            }
        }
    }

    /// Nothing is put right by guessing: nothing but the page that was hit loses anything, and that
    /// something may be missing is said.
    @Test(arguments: [
        Spoiling.bit(20, words: [100, 700]), .bit(22, words: [5, 300, 801]), .bit(21, words: [1, 2, 3, 4, 5, 6, 7, 8]),
        .bit(12, words: [77, 900]), .bit(5, words: [102, 702]), .bit(3, words: [100, 104]),
        .bit(7, words: [200, 216, 232]), .bit(30, words: [200, 216, 232, 248]), .bit(17, words: [64, 128]),
        .fill(0xA5, from: 2000, count: 8), .fill(0xFF, from: 2000, count: 12), .fill(0x20, from: 1000, count: 24),
        .fill(0x11, from: 3000, count: 40), .fill(0xEE, from: 2400, count: 512),
    ])
    func severalWordsAreNotTakenForOne(_ spoiling: Spoiling) throws {
        let killed = try Killed()
        var log = killed.log
        spoiling.apply(to: &log, Self.headerSize + (killed.frameCount / 2) * Self.frameSize + 24)
        try killed.reopen(log)
        let missing = try killed.missing()
        #expect(missing.count <= 8, "\(missing)")
        #expect(killed.keychain.failure("none")?.reason == .mayBeSetAside)
        #expect(try killed.keptLogs.count == 1)
    }

    /// The commit is the only one, and its last frame proves nothing.
    @Test func theOnlyCommitIsLookedThroughAsWell() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("first", "1")
        try keychain.reopen()
        try keychain.add("only", "2")
        let files = try Dictionary(
            uniqueKeysWithValues: Self.names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: keychain.folder.path + "/" + $0)))
            })
        var log = try #require(files["keychain.db-wal"])
        log[log.count - Self.frameSize + 16] ^= 1
        try keychain.reopen {
            for (name, bytes) in files {
                let bytes = name == "keychain.db-wal" ? log : bytes
                try bytes.write(to: URL(fileURLWithPath: keychain.folder.path + "/" + name))
            }
        }
        #expect(try keychain.value("first") == "1")
        #expect(try keychain.value("only") == "2")
        #expect(keychain.failure("none")?.reason == .mayBeSetAside)
    }

    /// A crash in the middle of a try leaves a second name of the database and an old log.
    @Test func whatACrashLeftOfATryGoes() throws {
        let killed = try Killed()
        try killed.keychain.reopen {
            for name in ["keychain.db.trial", "keychain.db.trial-wal"] {
                try Data("old".utf8).write(to: URL(fileURLWithPath: killed.keychain.folder.path + "/" + name))
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: killed.keychain.folder.path)
        #expect(left.filter { $0.contains("trial") }.isEmpty)
        #expect(try killed.keychain.value("11") == "v11")
    }

    /// A commit that was torn behind what was acknowledged, in a log that is put right.
    @Test func whatWasUnderWayBehindAChangedBitStaysOut() throws {
        let killed = try Killed()
        var log = killed.log
        log[Self.headerSize + 2 * Self.frameSize + 1000] ^= 1
        for byte in [100, 2000] { log[killed.startOfLastCommit + byte] ^= 255 }
        try killed.reopen(log, killed.earlierWitness)
        #expect(killed.keychain.failure("11")?.reason == .nothingMatches)
        #expect(try killed.keychain.value("10") == "v10")
        #expect(try killed.keychain.value("old") == "2")
        #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
        #expect(try killed.keptLogs.count == 1, "after a loss of power it may have been acknowledged")
    }

    /// After a loss of power the witness, which is not flushed, may be one of before.
    @Test func aWitnessOfBeforeKeepsNoLogFromBeingPutRight() throws {
        let killed = try Killed()
        var log = killed.log
        log[killed.startOfLastCommit + 2000] ^= 1
        try killed.reopen(log, killed.earlierWitness)
        try killed.expectAll()
        #expect(killed.keychain.engine.openingEvent?.contains("1 of its parts") == true)
    }

    /// Which history a database is of stands in it twice.
    @Test(arguments: [
        "UPDATE store SET value = x'00' WHERE name = 'history'", "DELETE FROM store WHERE name = 'history'",
        "UPDATE store SET value = zeroblob(16) WHERE name = 'history'",
        "UPDATE store_copy SET value = x'00' WHERE name = 'history'", "DELETE FROM store_copy",
    ])
    func aDamagedCopyOfTheHistoryKeepsNoLogFromBeingPutRight(_ damage: String) throws {
        let killed = try Killed(hasBegunAnew: false, damage: damage)
        var log = killed.log
        log[Self.headerSize + (killed.frameCount / 2) * Self.frameSize + 2000] ^= 1
        try killed.reopen(log)
        #expect(killed.keychain.engine.openingEvent?.contains("1 of its parts") == true)
        try killed.expectAll()
        #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
        #expect(try killed.keptLogs.isEmpty)
    }

    /// A crash before the log that was put right had its place, or whose rename did not reach the
    /// disk: the live log has the name of one that is kept.
    @Test(arguments: [false, true]) func aSecondNameOfTheLiveLogKeepsNothing(_ isChanged: Bool) throws {
        let killed = try Killed()
        var log = killed.log
        if isChanged {
            // Of one byte, but of several bits: it is kept.
            let byte = Self.headerSize + 7 * Self.frameSize + 24 + 4 * 259
            log[byte] = log[byte] < 166 ? log[byte] + 90 : log[byte] - 38
        }
        let other = "keychain.db.damaged-20260101T000000Z-wal"
        try killed.reopen(log) { folder in
            try FileManager.default.linkItem(atPath: folder + "/keychain.db-wal", toPath: folder + "/" + other)
        }
        for number in 0..<8 { try killed.keychain.add("later \(number)", "w") }
        try killed.expectAll()
        let kept = try killed.keptLogs
        #expect(kept.count == (isChanged ? 1 : 0))
        for name in kept {
            #expect(FileManager.default.contents(atPath: killed.keychain.folder.path + "/" + name) == log)
        }
    }

    /// A log that is kept and is another file stays, and one beside its database.
    @Test func whatIsKeptOfAnotherLogStays() throws {
        let killed = try Killed()
        let names = ["a-wal", "b", "b-wal"].map { "keychain.db.damaged-20260101T000000Z" + $0 }
        try killed.reopen(killed.log) { folder in
            try Data("kept".utf8).write(to: URL(fileURLWithPath: folder + "/" + names[0]))
            for (name, other) in zip(["keychain.db", "keychain.db-wal"], names.dropFirst()) {
                try FileManager.default.linkItem(atPath: folder + "/" + name, toPath: folder + "/" + other)
            }
        }
        #expect(try killed.keptLogs.sorted() == names)
    }

    /// A database that was called malformed for want of what its log holds is none.
    @Test func aMalformedDatabaseIsWholeWithItsLog() throws {
        let killed = try Killed()
        var log = killed.log
        log[Self.headerSize + Self.frameSize + 2000] ^= 1
        try killed.reopen(log) { folder in
            _ = try StoreSetAside.mark(in: try PrivateDirectory(folder, creating: false), storeID: nil, at: 0)
        }
        try killed.expectAll()
        #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
        #expect(try killed.keptLogs.isEmpty)
    }

    /// What lies behind a place that cannot be put right comes back from a database that was set
    /// aside as well, although SQLite finds its way through that one as it is.
    @Test func whatTheLogOfAMalformedDatabaseHoldsBehindALostPlaceComesBack() throws {
        let killed = try Killed()
        var log = killed.log
        for byte in [100, 2000] { log[Self.headerSize + 10 * Self.frameSize + byte] ^= 255 }
        try killed.reopen(log) { folder in
            _ = try StoreSetAside.mark(in: try PrivateDirectory(folder, creating: false), storeID: nil, at: 0)
        }
        let missing = try killed.missing()
        #expect(missing.count <= 1, "\(missing)")
        #expect(killed.keychain.failure("none")?.reason == .mayBeSetAside)
    }

    /// Who has the database open has an index of the log as it was: in another log it would read
    /// other pages than it means, and bring them into the database.
    @Test func whileAnotherProcessHasTheDatabaseOpenNothingIsPutRight() throws {
        let killed = try Killed()
        var log = killed.log
        log[Self.headerSize + 10 * Self.frameSize + 2000] ^= 1
        let other = OtherProcess(killed.keychain.databasePath)
        try killed.reopen(log) { _ in try other.open() }
        #expect(killed.keychain.engine.openingEvent?.contains("put right") != true)
        for number in 0..<8 { try killed.keychain.add("later \(number)", "w") }
        try killed.keychain.reopen { other.close() }
        for number in 0..<8 { #expect(try killed.keychain.value("later \(number)") == "w") }
        try killed.expectAll()
    }

    /// A process that reads a database once, and keeps it open.
    private final class OtherProcess {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())

        init(_ database: String) {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "c.execute('SELECT count(*) FROM genp').fetchall(); print('open', flush=True); sys.stdin.read(); c.close()",
                database,
            ]
            (process.standardInput, process.standardOutput) = (input, output)
        }

        func open() throws {
            try process.run()
            // Also a part of it.
            #expect(output.fileHandleForReading.availableData.starts(with: Data("op".utf8)))
        }

        func close() {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    @Test(arguments: [false, true]) func aHeaderThatIsGoneIsMadeAnew(_ hasBegunAnew: Bool) throws {
        let killed = try Killed(hasBegunAnew: hasBegunAnew)
        #expect((killed.log[15] != 0) == hasBegunAnew, "the count of rounds")
        try killed.reopen(Data(repeating: 0, count: Self.headerSize) + killed.log.dropFirst(Self.headerSize))
        try killed.expectAll()
        #expect(killed.keychain.failure("gone")?.reason == .nothingMatches)
    }

    /// Whole frames are gone, and nobody knows of which pages they were: what the others hold comes
    /// back, an item that the database has as it was before gets its later value, and that
    /// something may be missing is said.
    @Test func framesThatAreGoneTakeNoOthersAlong() throws {
        let killed = try Killed()
        for frame in stride(from: 0, to: killed.frameCount - 4, by: 9) {
            var log = killed.log
            let start = Self.headerSize + frame * Self.frameSize
            log.replaceSubrange(start..<start + 2 * Self.frameSize, with: Data(repeating: 0, count: 2 * Self.frameSize))
            try killed.reopen(log)
            try killed.expectAll("frame \(frame)")
            #expect(killed.keychain.failure("none")?.reason == .mayBeSetAside)
            #expect(try killed.keptLogs.count == 1, "as it lay there")
            try killed.keychain.reopen()
            #expect(try killed.keychain.value("old") == "2")
            _ = try killed.keychain.engine.doctor(.acceptDamage)
            #expect(killed.keychain.failure("none")?.reason == .nothingMatches)
            try Killed.update("old", "3", killed.keychain)
            _ = try killed.keychain.engine.doctor(.salvage)
            try killed.keychain.reopen()
            #expect(try killed.keychain.value("old") == "3", "nothing takes a later change back")
        }
    }

    /// What a crash leaves behind its last commit was acknowledged to nobody.
    @Test func whatWasUnderWayStaysOut() throws {
        let killed = try Killed()
        var log = killed.log
        for byte in [100, 2000] { log[killed.startOfLastCommit + byte] ^= 255 }
        try killed.reopen(log, killed.earlierWitness)
        #expect(killed.keychain.failure("11")?.reason == .nothingMatches)
        #expect(try killed.keychain.value("10") == "v10")
        #expect(killed.keychain.engine.openingEvent == nil)
    }
}
