import Foundation
import KeychainMessages
import KeychainModel
import KeychainProtocol
import SwiftProtobuf
import Testing

/// Lines of the audit record are written field by field, and are what the general coder
/// would have written: who reads them knows no difference.
@Suite struct AuditEncodingTests {
    private static func full() -> AuditRecord {
        var record = AuditRecord(.update, at: -1.5)
        record.last = 2_000_000_000.25
        record.count = 1 << 40
        record.program = "/opt/ein Programm/ä"
        record.process = -1
        record.strength = .user
        record.isContained = true
        record.inPersonsName = true
        record.served = ServedProgram(path: "/usr/bin/secret-tool", process: 300, evidence: .descriptor)
        record.itemClass = .internetPassword
        record.protection = .afterFirstUnlock
        record.group = String(repeating: "é", count: 128)
        record.item = Array(0..<16)
        record.name = Array(16..<32)
        record.refusal = .init(status: .missingEntitlement, reason: .groupNotEntitled(group: "a group"))
        return record
    }

    private static let records: [AuditRecord] = {
        var cut = full()
        cut.group = String(repeating: "x", count: 129)
        var nobody = full()
        nobody.served = ServedProgram(path: "", process: -7)
        nobody.refusal = .init(status: .itemNotFound, reason: .nothingMatches)
        return [AuditRecord(.read, at: 0), full(), cut, nobody, AuditRecord(.gap, at: -0.0)]
    }()

    @Test func itIsTheGeneralCodersBytes() throws {
        let bytes = AuditRecord.encode(Self.records)
        let general = try Latchkey_AuditRecords(serializedBytes: bytes)
        #expect(general.records.count == Self.records.count)
        #expect(try general.serializedBytes() == bytes)
        #expect(AuditRecord.encode([]).isEmpty)
    }

    @Test func everyFieldComesBack() throws {
        let decoded = try #require(AuditRecord.decode(AuditRecord.encode(Self.records)))
        #expect(decoded == Self.records)
        #expect(decoded[2].group?.unicodeScalars.count == AuditRecord.longestGroup)
    }

    @Test func aGroupIsCutByItsScalars() {
        var record = AuditRecord(.search, at: 1)
        record.group = String(repeating: "é", count: 128)
        #expect(record.group?.unicodeScalars.count == 128)
        record.group = String(repeating: "é", count: 129)
        #expect(record.group?.unicodeScalars.count == 128)
        record.group = nil
        #expect(record.group == nil)
    }
}
