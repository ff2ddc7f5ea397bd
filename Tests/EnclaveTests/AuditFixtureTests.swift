import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// An audit record of every version that was ever written is read for ever.
@Suite struct AuditFixtureTests {
    /// The files of a keychain whose owner stored one item and read it: those of the
    /// enclave's folder, and `0000000001.audit` (FORMATS.md, "Audit record").
    private static let lost: UInt64 = 3
    private static let record = "0000000001.audit"

    /// Taken apart by what FORMATS.md says, not by the code that writes it.
    private func blocks(_ bytes: [UInt8], of store: [UInt8]) throws -> (first: AuditPlace, boxes: [[UInt8]]) {
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        #expect(String(decoding: bytes[0..<8], as: UTF8.self) == "LKAUDREC")
        #expect(number(8..<12) == 1)
        #expect(Array(bytes[12..<28]) == store)
        let first = try #require(
            AuditPlace(
                chain: Array(bytes[28..<44]), file: number(44..<52), ordinal: UInt32(number(52..<56)), index: 0))
        var (boxes, at) = ([[UInt8]](), 56)
        while at < bytes.count {
            #expect(number(at..<at + 4) == UInt64(boxes.count))
            let length = Int(number(at + 4..<at + 8))
            boxes.append(Array(bytes[at + 8..<at + 8 + length]))
            at += 8 + length
        }
        return (first, boxes)
    }

    private func place(_ folder: String, in home: EnclaveHome) throws -> [UInt8] {
        let fixture = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(folder)")
        _ = try PrivateDirectory(home.path(""), creating: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: fixture.path) where file != Self.record {
            try home.write(file, Array(try Data(contentsOf: fixture.appending(path: file))))
        }
        return Array(try Data(contentsOf: fixture.appending(path: Self.record)))
    }

    /// Where the disk took no more, and daemon and enclave were killed: three reads waited.
    @Test func theSecondFormOfTheHeadSaysWhatIsLost() throws {
        let home = try EnclaveHome()
        let record = try place("audit-2", in: home)
        #expect(try home.read("audit")[11] == 2)
        let enclave = try home.open()
        defer { enclave.close() }
        let (first, boxes) = try blocks(record, of: enclave.storeID)
        #expect(enclave.auditHead(settled: true) == first.at(UInt32(boxes.count)))
        // The next daemon.
        try enclave.noteUnwritten(0, by: 1)
        let next = try #require(try enclave.sealAudit([1], fromFile: 2))
        guard case .blocks(let opened) = enclave.openAudit(boxes + [next.box], from: first) else {
            Issue.record("the record does not open")
            return
        }
        #expect(opened.map { $0?.droppedEvents } == [UInt64?](repeating: 0, count: boxes.count) + [Self.lost])
    }

    @Test func theFirstFormOpens() throws {
        let home = try EnclaveHome()
        let record = try place("audit-1", in: home)
        let enclave = try home.open()
        defer { enclave.close() }
        let (first, boxes) = try blocks(record, of: enclave.storeID)
        #expect(first.file == 1 && first.ordinal == 0)
        #expect(enclave.auditHead(settled: true) == first.at(UInt32(boxes.count)))
        guard case .blocks(let opened) = enclave.openAudit(boxes, from: first) else {
            Issue.record("the record does not open")
            return
        }
        let all: [OpenedAuditBlock] = opened.compactMap { $0 }
        #expect(all.count == boxes.count)
        let records: [AuditRecord] = try all.flatMap { try #require(AuditRecord.decode($0.records)) }
        #expect(records.map(\.event) == [.add, .read])
        let read = try #require(records.last)
        #expect(read.count == 1)
        #expect(read.itemClass == .genericPassword && read.protection == .whenUnlocked && read.group == "latchkey")
        #expect(!read.program.isEmpty && read.process > 0 && read.refusal == nil)
        #expect(read.item.count == AuditRecord.digestByteCount && read.item == records[0].item)
        let events: [AuditEvent] = all.flatMap(\.events)
        #expect(events.map(\.kind) == [AuditEvent.Kind.started])
        #expect(all.map(\.rowKeys).reduce(0, +) >= 1)
        // And it goes on.
        #expect(try enclave.sealAudit([1], fromFile: 2)?.place == first.at(UInt32(boxes.count)))
    }
}
