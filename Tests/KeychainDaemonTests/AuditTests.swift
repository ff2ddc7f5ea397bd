import Enclave
import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainDaemon

/// What the daemon records, when, and who may read it: the real daemon, with a clock
/// that the test moves.
@Suite struct AuditTests {
    private let person = PersonAtHand()

    private static func add(_ account: String, _ daemon: DaemonUnderTest) throws {
        _ = try daemon.client().perform(
            KeychainRequest(
                .add,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("mail")), ("acct", .string(account)),
                    ("v_Data", .secret),
                ]), value: SharedSecret(SecretBytes(copying: Array("value".utf8)))))
    }

    private static func request(
        _ account: String, returning: String = "r_Data", _ more: [(String, RawValue)] = []
    ) -> KeychainRequest {
        KeychainRequest(
            .copy,
            query: QueryDictionary(
                [
                    ("class", .string("genp")), ("svce", .string("mail")), ("acct", .string(account)),
                    (returning, .bool(true)),
                ] + more))
    }

    private func failure(_ client: any KeychainTransport, _ request: KeychainRequest) -> KeychainError? {
        do throws(KeychainError) { _ = try client.perform(request) } catch { return error }
        return nil
    }

    private static func log(_ query: AuditQuery = AuditQuery()) -> KeychainRequest {
        var request = KeychainRequest(.audit(query))
        request.behalf = .person
        return request
    }

    private func page(_ daemon: DaemonUnderTest, _ query: AuditQuery = AuditQuery()) throws -> AuditPage {
        try #require(try daemon.client().perform(Self.log(query)).audit)
    }

    private func files(_ daemon: DaemonUnderTest) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(daemon.locations.dataDirectory)/audit")) ?? []
    }

    /// The second begins when the thread that writes hears of the line, which may be after
    /// the clock was moved: it is moved on, less than the daemon's life without anybody.
    private func waitForFile(_ daemon: DaemonUnderTest) throws {
        for _ in 0..<500 where files(daemon).isEmpty {
            #expect(Waiting.eventually { daemon.clock.waiterCount > 0 })
            daemon.clock.advance(by: .seconds(1))
        }
        #expect(Waiting.eventually { !files(daemon).isEmpty }, "nothing was written")
    }

    @Test func whatIsReadIsWrittenASecondLaterAndNotBefore() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        _ = try daemon.client().perform(Self.request("alice"))
        daemon.clock.advance(by: .milliseconds(900))
        #expect(try daemon.serves())
        #expect(files(daemon).isEmpty)
        try waitForFile(daemon)
    }

    @Test func aDaemonThatEndsInOrderLosesNothing() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        _ = try daemon.client().perform(Self.request("alice"))
        daemon.stop()
        #expect(files(daemon) == ["0000000001.audit"])
    }

    /// Nothing is open by then; who is told of it finds it in the record.
    @Test func programsHearOfALockOnceItIsInTheRecord() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(gate: gate)
        try daemon.enclave.setPasscode(PersonAtHand.passcode)
        try Self.add("alice", daemon)
        let (states, never) = (daemon.client().deviceStates(), try EventSignal())
        while try states.next(orUntil: never)?.lock != .unlocked {}
        // A locked keychain begins no record.
        try waitForFile(daemon)
        gate.closeForConfirmations()
        try daemon.enclave.lock()
        let order = Mutex<[String]>([])
        Waiting.meanwhile {
            do { while try states.next(orUntil: never)?.lock != .locked {} } catch { Issue.record("\(error)") }
            order.withLock { $0.append("told") }
        }
        #expect(Waiting.eventually { gate.heldCount == 1 })
        // Calls do not wait for it.
        for _ in 0..<3 { #expect(failure(daemon.client(), Self.request("alice"))?.status == .interactionNotAllowed) }
        #expect(order.withLock { $0 } == [])
        order.withLock { $0.append("recorded") }
        gate.open()
        #expect(Waiting.eventually { order.withLock { $0.count == 2 } })
        #expect(order.withLock { $0 } == ["recorded", "told"])
    }

    @Test func aLoopOfReadsIsOneLineWithWhatItWas() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        let client = daemon.client()
        for _ in 0..<50 { _ = try client.perform(Self.request("alice")) }
        // What hands out no value is no release.
        for _ in 0..<5 { _ = try client.perform(Self.request("alice", returning: "r_Attributes")) }
        var query = AuditQuery()
        query.wantsNames = true
        let page = try page(daemon, query)
        let reads = page.records.filter { $0.event == .read }
        #expect(reads.count == 1)
        let read = try #require(reads.first)
        #expect(read.count == 50)
        #expect(read.voucher == .daemon)
        #expect(read.process == ProcessEnvironment.processID)
        #expect(read.program == (try client.session().identity))
        #expect(read.itemClass == .genericPassword)
        #expect(read.protection == .whenUnlocked)
        #expect(read.group == (try client.session().groups.first))
        #expect(read.refusal == nil)
        #expect(read.inPersonsName == false)
        let named = try #require(page.names.first { $0.digest == read.item })
        #expect(named.names == AuditNames(itemClass: .genericPassword, name: "mail", account: "alice"))
        // The enclave's own count is no smaller.
        let keys = try #require(page.records.first { $0.event == .keysOpened })
        #expect(keys.voucher == .enclave)
        #expect(keys.count >= 50)
        #expect(page.records.contains { $0.event == .add && $0.item == read.item })
        #expect(page.findings == [])
    }

    @Test func whatWasRefusedIsThereWithItsReason() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        let client = daemon.client()
        let foreign = Self.request("alice", [("agrp", .string("somebody.elses"))])
        for _ in 0..<3 { #expect(failure(client, foreign)?.status == .missingEntitlement) }
        // That nothing matches is no refusal.
        #expect(failure(client, Self.request("nobody"))?.status == .itemNotFound)
        let page = try page(daemon)
        let refused = page.records.filter { $0.refusal != nil }
        #expect(refused.count == 1)
        #expect(refused.first?.event == .search)
        #expect(refused.first?.count == 3)
        #expect(refused.first?.group == "somebody.elses")
        #expect(refused.first?.refusal?.status == .missingEntitlement)
        #expect(refused.first?.refusal?.reason == .groupNotEntitled(group: "somebody.elses"))
    }

    /// A name of any length is a program's to give: it neither stops the record nor has it
    /// written so that it is not read again.
    @Test func aLongNameDoesNotSpoilTheRecord() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        let client = daemon.client()
        for letter in ["a", "b"] {
            let group = String(repeating: letter, count: 1_200_000)
            #expect(failure(client, Self.request("alice", [("agrp", .string(group))])) != nil)
        }
        _ = try client.perform(Self.request("alice"))
        let page = try page(daemon)
        #expect(page.findings == [])
        #expect(page.records.filter { $0.event == .read }.count == 1)
        let refused = page.records.filter { $0.refusal != nil }
        #expect(refused.allSatisfy { ($0.group?.unicodeScalars.count ?? 0) <= AuditRecord.longestGroup })
    }

    @Test func aFilterFindsTheItemByItsNames() throws {
        let daemon = try DaemonUnderTest()
        for account in ["alice", "bob"] {
            try Self.add(account, daemon)
            _ = try daemon.client().perform(Self.request(account))
        }
        var query = AuditQuery()
        query.name = "mail"
        #expect(try page(daemon, query).records.filter { $0.event == .read }.count == 2)
        query.account = "bob"
        let bobs = try page(daemon, query).records
        #expect(bobs.filter { $0.event == .read }.count == 1)
        #expect(bobs.allSatisfy { $0.voucher == .daemon })
        query.name = "post"
        #expect(try page(daemon, query).records.isEmpty)
        // An item that is gone is still found by its names.
        _ = try daemon.client().perform(
            KeychainRequest(
                .delete,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("mail")), ("acct", .string("bob")),
                ])))
        query.name = "mail"
        #expect(try page(daemon, query).records.map(\.event).suffix(1) == [.delete])
    }

    @Test func noNameIsInTheFiles() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        _ = try daemon.client().perform(Self.request("alice"))
        daemon.stop()
        let bytes = try Data(contentsOf: URL(filePath: "\(daemon.locations.dataDirectory)/audit/0000000001.audit"))
        for text in ["alice", "mail", "value", "adhoc"] { #expect(!bytes.contains(Data(text.utf8)), "\(text)") }
    }

    // MARK: Who may read it

    @Test func itIsReadInAPersonsNameAlone() throws {
        let daemon = try DaemonUnderTest()
        let refused = failure(daemon.client(), KeychainRequest(.audit(AuditQuery())))
        #expect(refused?.status == .missingEntitlement)
        #expect(try page(daemon).records.contains { $0.event == .audit && $0.refusal?.status == .missingEntitlement })
        // Reading it is recorded as well.
        #expect(try page(daemon).records.contains { $0.event == .audit && $0.refusal == nil })
    }

    @Test func withAPasscodeAPersonHasToAgree() throws {
        let daemon = try person.daemon()
        _ = try page(daemon)
        #expect(person.asked == [.deputyOnce] || person.asked == [.deputy])
        person.answer(.cancels)
        #expect(failure(daemon.client(), Self.log())?.status == .userCanceled)
        var quiet = AuditQuery()
        quiet.asksNobody = true
        let asked = person.asked.count
        #expect(failure(daemon.client(), Self.log(quiet))?.status == .interactionNotAllowed)
        #expect(person.asked.count == asked)
    }

    @Test func whileLockedItIsWrittenAndNotRead() throws {
        let daemon = try person.daemon()
        try Self.add("alice", daemon)
        _ = try page(daemon)
        try daemon.enclave.lock()
        #expect(failure(daemon.client(), Self.log())?.status == .interactionNotAllowed)
        #expect(failure(daemon.client(), Self.request("alice"))?.status == .interactionNotAllowed)
        try daemon.enclave.unlock(with: .passcode(PersonAtHand.passcode))
        let events = try page(daemon).records
        #expect(events.contains { $0.event == .locked && $0.voucher == .enclave })
        #expect(events.contains { $0.event == .unlocked && $0.voucher == .enclave })
        #expect(events.contains { $0.event == .passcodeSet && $0.voucher == .enclave })
        #expect(events.contains { $0.event == .agreed && $0.voucher == .enclave })
        #expect(
            events.contains {
                $0.event == .search && $0.refusal?.reason == .locked(class: ProtectionClass.whenUnlocked.rawValue)
            })
    }

    @Test func anAttemptThatFailedIsTheEnclavesWord() throws {
        let daemon = try person.daemon()
        #expect(throws: KeychainError.self) {
            try daemon.enclave.unlock(with: .passcode(SharedSecret(SecretBytes(copying: Array("4321".utf8)))))
        }
        #expect(try page(daemon).records.contains { $0.event == .attemptFailed && $0.voucher == .enclave })
    }

    // MARK: What cannot be written

    /// What was told of events that wait is taken back, also where the answer to it was lost.
    @Test func nothingIsLostThatWasWrittenAfterAll() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(gate: gate)
        try Self.add("alice", daemon)
        let folder = "\(daemon.locations.dataDirectory)/audit"
        let kept = "\(daemon.locations.dataDirectory)/kept"
        #expect(try page(daemon).unwritten == nil)
        try FileManager.default.copyItem(atPath: folder, toPath: kept)
        try FileManager.default.removeItem(atPath: folder)
        try Data("x".utf8).write(to: URL(filePath: folder))
        gate.loseAnswersToNotes()
        _ = try daemon.client().perform(Self.request("alice"))
        _ = try? page(daemon)
        #expect(daemon.lines.all.contains { $0.hasPrefix("the enclave was not told") })
        gate.giveAnswersToNotes()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: kept, toPath: folder)
        let page = try page(daemon)
        #expect(page.findings.isEmpty && page.unwritten == nil)
        #expect(page.records.contains { $0.event == .read })
        // As if another daemon came, after this one was killed.
        try daemon.enclave.noteUnwritten(0, by: 0)
        let block = try #require(try daemon.enclave.sealAudit([1], fromFile: 0))
        guard case .blocks(let opened) = daemon.enclave.openAudit([block.box], from: block.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.map { $0?.droppedEvents } == [0])
    }

    @Test func callsGoOnWhereNothingCanBeWritten() throws {
        let daemon = try DaemonUnderTest()
        try Self.add("alice", daemon)
        let folder = "\(daemon.locations.dataDirectory)/audit"
        _ = try page(daemon)
        try FileManager.default.removeItem(atPath: folder)
        try Data("x".utf8).write(to: URL(filePath: folder))
        _ = try daemon.client().perform(Self.request("alice"))
        // Asking what there is waits until what waited was tried.
        let report = { try daemon.client().perform(KeychainRequest(.doctor(.look))).doctor }
        _ = try? page(daemon)
        #expect(try report()?.auditFailedSince != nil)
        #expect(daemon.lines.all.contains { $0.hasPrefix("the audit record cannot be written") })
        #expect(try daemon.client().perform(Self.request("alice")).rows.count == 1)
        // Once there is a place again, what waited is written, and what is gone shows.
        try FileManager.default.removeItem(atPath: folder)
        let page = try page(daemon)
        #expect(page.records.contains { $0.event == .read && $0.count == 2 || $0.event == .read && $0.count == 1 })
        #expect(!page.findings.isEmpty)
        #expect(try report()?.auditFailedSince == nil)
    }
}
