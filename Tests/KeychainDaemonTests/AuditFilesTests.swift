import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Testing

@testable import KeychainDaemon

/// The audit record on the disk: what crashes leave, and what whoever writes the
/// folder can do without being seen.
@Suite struct AuditFilesTests {
    /// An engine on a store of the test's own, and the record beside it.
    private final class Home {
        let temporary: TemporaryDirectory
        var enclave: InProcessEnclave
        var engine: KeychainEngine
        var writer: AuditWriter

        var data: String { temporary.path("data") }

        init() throws {
            temporary = try TemporaryDirectory("audit")
            (engine, enclave, writer) = try Self.open(temporary.path("data"))
        }

        private static func open(_ data: String) throws -> (KeychainEngine, InProcessEnclave, AuditWriter) {
            var opened: InProcessEnclave?
            let engine = try KeychainEngine.open(dataDirectory: data, clock: SystemClock()) {
                expected throws(KeychainError) in
                let enclave = try InProcessEnclave(
                    dataDirectory: data, expecting: expected,
                    passcodeCost: .fixed(passes: 1, kibibytes: 8) ?? .calibrated)
                opened = enclave
                return enclave
            }
            let folder = try AuditFolder(in: PrivateDirectory(data, creating: false))
            return (engine, try #require(opened), AuditWriter(engine, folder))
        }

        func folder() throws -> AuditFolder { try AuditFolder(in: PrivateDirectory(data, creating: false)) }

        /// As daemon and enclave come back after both were killed, or after the machine
        /// lost its power.
        func restart(_ meanwhile: () throws -> Void = {}) throws {
            try engine.close()
            try meanwhile()
            (engine, enclave, writer) = try Self.open(data)
        }

        /// One block a line.
        func write(_ programs: [String]) throws {
            for program in programs {
                var record = AuditRecord(.read, at: 1000)
                record.program = program
                var lines = [record]
                try writer.write(&lines, saysOwn: false)
                #expect(lines.isEmpty)
            }
        }

        func path(_ number: UInt64) -> String { "\(data)/audit/\(AuditFolder.fileName(number))" }
        func read(_ number: UInt64) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(number)))) }

        func put(_ bytes: [UInt8], in number: UInt64) throws {
            try Data(bytes).write(to: URL(filePath: path(number)))
        }

        func file(_ number: UInt64) throws -> AuditFile { try #require(AuditFile(try read(number))) }

        /// The file from its header and these of its blocks.
        func put(_ blocks: [AuditFile.Block], of file: AuditFile, in number: UInt64) throws {
            let bytes = blocks.reduce(AuditFile.header(of: file.first, store: engine.storeID)) {
                $0 + AuditFile.bytes(of: SealedAuditBlock(place: file.first.at($1.index), box: $1.box))
            }
            try put(bytes, in: number)
        }

        /// Everything that is told, and everything that does not fit.
        func look() throws -> (programs: [String], findings: [AuditFinding]) {
            var (query, programs, findings) = (AuditQuery(), [String](), [AuditFinding]())
            for _ in 0..<10_000 {
                let page = try AuditReader(engine, folder()).page(query)
                programs += page.records.filter { $0.voucher == .daemon }.map(\.program)
                findings += page.findings
                if page.isAtEnd { return (programs, findings) }
                query.from = page.next
            }
            Issue.record("the record has no end")
            return (programs, findings)
        }

        deinit { try? engine.close() }
    }

    @Test func whatWasWrittenIsToldAndFits() throws {
        let home = try Home()
        try home.write(["a", "b", "c"])
        #expect(try home.look().programs == ["a", "b", "c"])
        #expect(try home.look().findings == [])
        try home.restart()
        try home.write(["d"])
        #expect(try home.look().programs == ["a", "b", "c", "d"])
        #expect(try home.look().findings == [])
    }

    @Test func nothingOfALineCanBeReadInTheFile() throws {
        let home = try Home()
        try home.write(["exe./usr/bin/program"])
        let bytes = try home.read(1)
        #expect(bytes.count > AuditFile.headerCount)
        #expect(!Data(bytes).contains(Data("program".utf8)))
    }

    // MARK: Attacks of whoever can write the folder

    @Test func aLineThatWasTakenAwayShows() throws {
        let home = try Home()
        try home.write(["a", "b", "c", "d"])
        let file = try home.file(1)
        try home.put(file.blocks.filter { $0.index != 1 }, of: file, in: 1)
        let seen = try home.look()
        #expect(seen.programs == ["a", "c", "d"])
        #expect(seen.findings == [AuditFinding(.linesMissing, file: 1, block: 1)])
        // Also where the others close up.
        let moved = file.blocks.enumerated().filter { $0.offset != 1 }.enumerated().map {
            AuditFile.Block(index: UInt32($0.offset), box: $0.element.element.box)
        }
        try home.put(moved, of: file, in: 1)
        #expect(try home.look().findings.contains(AuditFinding(.linesChanged, file: 1, block: 1)))
    }

    @Test func aLineThatWasChangedShows() throws {
        let home = try Home()
        try home.write(["a", "b", "c"])
        let (bytes, file) = (try home.read(1), try home.file(1))
        // Each byte of the block in the middle: its frame and its box.
        for index in file.start(of: 1)..<file.start(of: 2) {
            var changed = bytes
            changed[index] ^= 1
            try home.put(changed, in: 1)
            #expect(try !home.look().findings.isEmpty, "byte \(index)")
        }
        // And each of the header, but for nobody's version.
        for index in 0..<AuditFile.headerCount {
            var changed = bytes
            changed[index] ^= 1
            try home.put(changed, in: 1)
            #expect(try !home.look().findings.isEmpty, "byte \(index) of the header")
        }
        try home.put(bytes, in: 1)
        #expect(try home.look().findings == [])
    }

    @Test(arguments: 0..<3)
    func aTailThatWasCutShows(left: Int) throws {
        let home = try Home()
        try home.write(["a", "b", "c"])
        let file = try home.file(1)
        try home.put(Array(file.blocks.prefix(left)), of: file, in: 1)
        #expect(try home.look().findings == [AuditFinding(.linesCut, file: 1, block: UInt32(left))])
        // What comes later does not cover it up.
        try home.restart()
        try home.write(["d"])
        let seen = try home.look()
        #expect(seen.findings == [AuditFinding(.linesMissing, file: 1, block: UInt32(left))])
        #expect(seen.programs.last == "d")
    }

    @Test func aFileThatIsGoneShows() throws {
        let home = try Home()
        try home.write(["a"])
        try FileManager.default.removeItem(atPath: home.path(1))
        #expect(try home.look().findings == [AuditFinding(.fileMissing, file: 1)])
        try home.restart()
        try home.write(["b"])
        #expect(try home.look().findings == [AuditFinding(.linesMissing, file: 1, block: 0)])
    }

    @Test func anOlderCopyOfTheFileShows() throws {
        let home = try Home()
        try home.write(["a"])
        let old = try home.read(1)
        try home.write(["b", "c"])
        try home.put(old, in: 1)
        #expect(try home.look().findings == [AuditFinding(.linesCut, file: 1, block: 1)])
    }

    @Test func olderKeysBesideANewerRecordShow() throws {
        let home = try Home()
        try home.write(["a"])
        let old = try Data(contentsOf: URL(filePath: "\(home.data)/enclave/audit"))
        try home.write(["b", "c", "d"])
        try home.restart { try old.write(to: URL(filePath: "\(home.data)/enclave/audit")) }
        #expect(try home.look().findings == [AuditFinding(.tooLong, file: 1, block: 2)])
        // The record goes on from what the keys know; the longer one is kept apart.
        try home.write(["e"])
        #expect(try home.look().programs == ["a", "e"])
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(home.data)/audit").sorted()
        #expect(names == ["0000000001.audit", "0000000001.audit.aside-1"])
    }

    @Test func aRecordWithoutItsKeysShowsAndGoesOn() throws {
        let home = try Home()
        try home.write(["a", "b"])
        try home.restart { try FileManager.default.removeItem(atPath: "\(home.data)/enclave/audit") }
        #expect(try home.look().findings == [AuditFinding(.headMissing, file: 1)])
        try home.write(["c"])
        let seen = try home.look()
        #expect(seen.programs == ["a", "b", "c"])
        let events = try AuditReader(home.engine, home.folder()).page(
            { () -> AuditQuery in
                var query = AuditQuery()
                query.from = AuditCursor(file: 2, block: 0)
                return query
            }()
        ).records.map(\.event)
        #expect(events.contains(.headLost))
    }

    /// Files of about four mebibytes, each with blocks of half of one.
    private func filled(_ home: Home, files: UInt64) throws {
        var record = AuditRecord(.read, at: 1000)
        record.program = String(repeating: "p", count: 4096)
        while try home.engine.auditHead(settled: true)?.file != files {
            var lines = [AuditRecord](repeating: record, count: AuditWriter.batch)
            try home.writer.write(&lines, saysOwn: false)
        }
    }

    @Test func filesThatChangePlacesShowAndSoDoesOneThatIsGone() throws {
        let home = try Home()
        try filled(home, files: 4)
        #expect(try home.look().findings == [])
        let (first, second) = (try home.read(1), try home.read(2))
        try home.put(second, in: 1)
        try home.put(first, in: 2)
        #expect(
            try home.look().findings == [AuditFinding(.fileDamaged, file: 1), AuditFinding(.fileDamaged, file: 2)])
        try home.put(first, in: 1)
        try FileManager.default.removeItem(atPath: home.path(2))
        #expect(try home.look().findings == [AuditFinding(.fileMissing, file: 2)])
        // The end of one that is followed by another.
        let file = try #require(AuditFile(second))
        try home.put(Array(file.blocks.dropLast(2)), of: file, in: 2)
        #expect(
            try home.look().findings
                == [AuditFinding(.linesCut, file: 2, block: UInt32(file.blocks.count - 2))])
        // And the oldest.
        try home.put(second, in: 2)
        try FileManager.default.removeItem(atPath: home.path(1))
        #expect(try home.look().findings == [AuditFinding(.fileMissing, file: 1)])
    }

    @Test func eightFilesAreKept() throws {
        let home = try Home()
        try filled(home, files: 10)
        #expect(try home.folder().numbers == Array(3...10))
        #expect(try home.look().findings == [])
        let sizes = try (3...9).map { try home.read($0).count }
        #expect(sizes.allSatisfy { (4 << 20)..<(5 << 20) ~= $0 })
    }

    // MARK: Crashes

    /// Between the write and the word that it is there.
    @Test func aBlockThatNobodyConfirmedCountsAfterTheCrash() throws {
        let home = try Home()
        try home.write(["a"])
        let lines = [AuditRecord(.read, at: 1)]
        let block = try #require(try home.engine.sealAudit(AuditRecord.encode(lines), fromFile: 1))
        let length = try home.read(1).count
        _ = try home.folder().append(block, at: length, store: home.engine.storeID)
        try home.restart()
        // Before anything is written it is there and fits.
        #expect(try home.look().findings == [])
        #expect(try home.look().programs == ["a", ""])
        try home.write(["b"])
        #expect(try home.look().programs == ["a", "", "b"])
        #expect(try home.look().findings == [])
    }

    /// In the middle of the write: at each byte.
    @Test func aBlockThatWasTornIsNoTampering() throws {
        let home = try Home()
        try home.write(["a"])
        let records = AuditRecord.encode([AuditRecord(.read, at: 1)])
        let block = try #require(try home.engine.sealAudit(records, fromFile: 1))
        let (before, bytes) = (try home.read(1), AuditFile.bytes(of: block))
        for count in 0..<bytes.count {
            try home.put(before + bytes.prefix(count), in: 1)
            #expect(try home.look().findings == [], "torn after \(count) bytes")
        }
        try home.put(before + bytes.prefix(bytes.count / 2), in: 1)
        try home.restart()
        try home.write(["b"])
        #expect(try home.look().programs == ["a", "b"])
        #expect(try home.look().findings == [])
    }

    /// A block before it was confirmed is what can go unseen, and no more.
    @Test func onlyWhatWasNotConfirmedCanBeCutUnseen() throws {
        let home = try Home()
        try home.write(["a", "b"])
        let records = AuditRecord.encode([AuditRecord(.read, at: 1)])
        let block = try #require(try home.engine.sealAudit(records, fromFile: 1))
        let before = try home.read(1)
        _ = try home.folder().append(block, at: before.count, store: home.engine.storeID)
        try home.put(before, in: 1)
        #expect(try home.look().findings == [])
        let file = try home.file(1)
        try home.put(Array(file.blocks.dropLast()), of: file, in: 1)
        #expect(try home.look().findings == [AuditFinding(.linesCut, file: 1, block: 1)])
    }

    /// The first block of a file, when the one before is full.
    @Test func aFileThatHasJustBegunCountsAfterTheCrash() throws {
        let home = try Home()
        var record = AuditRecord(.read, at: 1000)
        record.program = String(repeating: "p", count: 4096)
        let bytes = AuditRecord.encode([AuditRecord](repeating: record, count: AuditWriter.batch))
        var last: SealedAuditBlock?
        while last?.place.file != 2 {
            let block = try #require(try home.engine.sealAudit(bytes, fromFile: 1))
            let start = block.place.index == 0 ? 0 : try home.read(block.place.file).count
            _ = try home.folder().append(block, at: start, store: home.engine.storeID)
            if block.place.file == 1 { _ = try home.engine.confirmAudit(block) }
            last = block
        }
        try home.restart()
        #expect(try home.look().findings == [])
        try home.write(["b"])
        #expect(try home.engine.auditHead(settled: true)?.file == 2)
        #expect(try home.engine.auditHead(settled: true)?.index == 2)
        #expect(try home.look().findings == [])
    }

    @Test func whatCannotBeWrittenWaits() throws {
        let home = try Home()
        try home.write(["a"])
        let bytes = try home.read(1)
        try FileManager.default.removeItem(atPath: "\(home.data)/audit")
        var record = AuditRecord(.read, at: 1)
        record.program = "b"
        var lines = [record]
        for _ in 0..<3 {
            #expect(throws: AuditWriter.Failure.self) { try home.writer.write(&lines, saysOwn: false) }
        }
        home.writer.folder = try home.folder()
        try home.put(bytes, in: 1)
        try home.writer.write(&lines, saysOwn: false)
        #expect(try home.look().programs == ["a", "b"])
        #expect(try home.look().findings == [])
    }

    // MARK: Chains

    @Test func aPasscodeBeginsAnotherFileAndBothAreRead() throws {
        let home = try Home()
        try home.write(["a"])
        try home.enclave.setPasscode(SharedSecret(SecretBytes(copying: Array("1234".utf8))))
        try home.write(["b"])
        try home.enclave.lock()
        try home.write(["c"])
        #expect(throws: KeychainError(.interactionNotAllowed, reason: .locked(class: "ak"))) { try home.look() }
        try home.enclave.unlock(with: .passcode(SharedSecret(SecretBytes(copying: Array("1234".utf8)))))
        #expect(try home.look().programs == ["a", "b", "c"])
        #expect(try home.look().findings == [])
        #expect(try home.folder().numbers == [1, 2])
    }

    @Test func namesOfFilesAreTheirsAlone() {
        #expect(AuditFolder.fileName(7) == "0000000007.audit")
        #expect(AuditFolder.number(of: "0000000007.audit") == 7)
        for name in [
            "7.audit", "0000000007.audit.aside-1", "x.audit", "0000000007", "-000000007.audit", "0000000000.audit",
            "18446744073709551615.audit",
        ] {
            #expect(AuditFolder.number(of: name) == nil)
        }
        #expect(AuditFolder.isOurs("0000000007.audit.aside-12"))
        #expect(!AuditFolder.isOurs("0000000007.audit.aside-"))
        #expect(!AuditFolder.isOurs("notes.audit.aside-1"))
    }
}
