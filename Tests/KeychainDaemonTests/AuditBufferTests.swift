import KeychainModel
import KeychainPlatform
import KeychainService
import Testing

@testable import KeychainDaemon

/// What waits to be recorded: a loop is one line, and nothing grows without end.
@Suite struct AuditBufferTests {
    private final class Nowhere: AuditSink {
        func released(_ item: ReleasedItem, to party: AuditParty, inPersonsName: Bool) {}
    }

    private static func party(_ program: String, _ process: Int32 = 1) -> AuditParty {
        AuditParty(program: program, process: process, strength: .user, isContained: false, sink: Nowhere())
    }

    private static func item(_ number: Int, account: String = "alice") -> ReleasedItem {
        var attributes = AttributeMap()
        attributes[.service] = .string("mail")
        attributes[.account] = .string(account)
        attributes[.accessGroup] = .string("latchkey")
        let reference = (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 * 8 % 64)) }
        return ReleasedItem(
            itemClass: .genericPassword, reference: reference, protection: "ak", attributes: attributes)
    }

    private static func digest(_ itemClass: ItemClass, _ name: String, _ account: String?) -> [UInt8] {
        Array("\(itemClass.rawValue) \(name) \(account ?? "-")".utf8)
    }

    @Test func aLoopIsOneLine() {
        var buffer = AuditBuffer()
        for moment in 0..<1000 {
            buffer.note(Self.item(1), to: Self.party("p", Int32(moment)), inPersonsName: false, at: Double(moment))
        }
        let lines = buffer.take(at: 2000, digest: Self.digest)
        #expect(lines.count == 1)
        #expect(lines.first?.count == 1000)
        #expect(lines.first?.first == 0)
        #expect(lines.first?.last == 999)
        #expect(lines.first?.process == 0)
        #expect(lines.first?.item == Array("genp mail alice".utf8))
        #expect(lines.first?.name == Array("genp mail -".utf8))
        #expect(lines.first?.group == "latchkey")
        #expect(lines.first?.protection == .whenUnlocked)
        #expect(buffer.isEmpty)
    }

    @Test func whatDiffersIsAnotherLine() {
        var buffer = AuditBuffer()
        buffer.note(Self.item(1), to: Self.party("p"), inPersonsName: false, at: 1)
        buffer.note(Self.item(2, account: "bob"), to: Self.party("p"), inPersonsName: false, at: 2)
        buffer.note(Self.item(1), to: Self.party("q"), inPersonsName: false, at: 3)
        buffer.note(Self.item(1), to: Self.party("p"), inPersonsName: true, at: 4)
        var refused = AuditRecord(.search, at: 5)
        refused.refusal = .init(status: .missingEntitlement, reason: .noAccessGroups)
        buffer.note(refused)
        refused.first = 6
        refused.last = 6
        buffer.note(refused)
        let lines = buffer.take(at: 7, digest: Self.digest)
        #expect(lines.map(\.first) == [1, 2, 3, 4, 5])
        #expect(lines.map(\.inPersonsName) == [false, false, false, true, false])
        #expect(lines.last?.count == 2)
        #expect(lines.last?.last == 6)
    }

    @Test func whatHasNoPlaceIsCounted() {
        var buffer = AuditBuffer()
        for number in 0..<(AuditBuffer.most + 10) {
            buffer.note(Self.item(number), to: Self.party("p"), inPersonsName: false, at: Double(number))
        }
        // What is there already still counts up.
        buffer.note(Self.item(0), to: Self.party("p"), inPersonsName: false, at: 99_999)
        let lines = buffer.take(at: 100_000, digest: Self.digest)
        #expect(lines.count == AuditBuffer.most + 1)
        #expect(lines.last?.event == .gap)
        #expect(lines.last?.count == 10)
        #expect(lines.last?.first == Double(AuditBuffer.most))
        #expect(lines.first?.count == 2)
    }

    @Test func whatCouldNotBeWrittenWaitsBeforeTheRest() {
        var buffer = AuditBuffer()
        let old = (0..<3).map { AuditRecord(.read, at: Double($0)) }
        buffer.note(Self.item(1), to: Self.party("p"), inPersonsName: false, at: 10)
        buffer.giveBack(old)
        #expect(buffer.take(at: 11, digest: Self.digest).map(\.first) == [0, 1, 2, 10])
        // Beyond the limit they are counted, not kept.
        buffer.giveBack([AuditRecord](repeating: old[0], count: AuditBuffer.most + 5))
        #expect(buffer.lineCount == AuditBuffer.most)
        #expect(buffer.take(at: 12, digest: Self.digest).last?.count == 5)
    }
}
