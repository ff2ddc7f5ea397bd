import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// SIGKILL and a failing disk while a TPM counts: whatever is left opens, nothing of it is taken
/// for an older copy, and an older copy is.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"),
    .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
struct CounterKillTests {
    private static func book(_ program: String, tpms: Int = 1) throws -> PasscodeBook {
        let book = try PasscodeBook(program, tpms: (1...tpms).map { _ in try SoftwareTPM() })
        try book.beginCounting()
        return book
    }

    /// Every so manyeth, in the long form each.
    private static func some(_ calls: [TracedCall], every: Int) -> [TracedCall] {
        calls.enumerated().filter { FaultScale.isLong || $0.offset % every == every / 2 }.map(\.element)
    }

    private func send(
        _ kind: PasscodeRequest.Kind, _ book: PasscodeBook, _ inject: String, expecting reasons: Set<Reason> = []
    ) throws {
        try book.send(book.prepare(kind), inject, expecting: reasons) { process in
            try Tracer(
                of: process, ["-e", "inject=\(inject)"], firstThreadAlone: true, in: book.home.folder.path
            ).detach
        }
    }

    private func expectRefusal(of copy: [String: Data], _ book: PasscodeBook) {
        #expect { try book.home.startAnother(on: copy) } throws: { error in
            if case .folderRefused = (error as? KeychainError)?.reason { true } else { false }
        }
    }

    /// An attempt alone, and one with a change.
    @Test(arguments: [PasscodeRequest.Kind.unlock, .change])
    func theNewestFolderOpensAfterAKillAtAnySystemCall(kind: PasscodeRequest.Kind) throws {
        let book = try Self.book(PasscodeHome.cheap)
        let before = try book.home.copy()
        let all = try book.calls(of: kind)
        for call in Self.some(all, every: 24) {
            try send(kind, book, "\(call.name):signal=KILL:when=\(call.number)")
        }
        FaultReport.print("kill of the enclave at a call of a counted \(kind)", book.counts, "\(all.count) calls")
        #expect(all.count > 50 && book.counts.isClean && book.counts.inFlight > 0)
        expectRefusal(of: before, book)
    }

    /// The root key is replaced, and the count is written under both.
    @Test func aReplacedRootKeyKeepsItsCount() throws {
        let book = try Self.book(PasscodeHome.cheap, tpms: 2)
        let before = try book.home.copy()
        let all = try book.calls(of: .removeTPM)
        // The files that are written one after the other, and some of the rest.
        let renames = all.filter { $0.name.hasPrefix("renameat") }
        for call in Self.some(renames, every: 3) + Self.some(all.filter { !$0.name.hasPrefix("renameat") }, every: 90) {
            try send(.removeTPM, book, "\(call.name):signal=KILL:when=\(call.number)")
        }
        FaultReport.print("kill of the enclave while a counted root key is replaced", book.counts, "\(all.count) calls")
        #expect(all.count > 100 && book.counts.isClean && book.counts.inFlight > 0)
        expectRefusal(of: before, book)
    }

    /// As ``aReplacedRootKeyKeepsItsCount()``, on a full or broken disk.
    @Test func aReplacedRootKeyKeepsItsCountOnADiskThatFails() throws {
        let faults = ["openat": "ENOSPC", "write": "ENOSPC", "renameat": "ENOSPC", "fsync": "EIO"]
        let book = try Self.book(PasscodeHome.unconfined, tpms: 2)
        let all = try book.calls(of: .removeTPM).filter { faults[$0.name] != nil }
        for call in Self.some(all, every: 40) {
            let inject = "\(call.name):error=\(faults[call.name] ?? ""):when=\(call.number)"
            try send(.removeTPM, book, inject, expecting: [.diskFull, .inputOutput])
        }
        FaultReport.print("a call that a broken disk fails while a counted root key is replaced", book.counts)
        #expect(all.count > 20 && book.counts.isClean)
    }

    @Test func aDiskThatFailsLeavesAFolderThatOpens() throws {
        let faults = ["openat": "ENOSPC", "write": "ENOSPC", "renameat": "ENOSPC", "fsync": "EIO"]
        let book = try Self.book(PasscodeHome.unconfined)
        let before = try book.home.copy()
        let all = try book.calls(of: .change).filter { faults[$0.name] != nil }
        for call in Self.some(all, every: 12) {
            let inject = "\(call.name):error=\(faults[call.name] ?? ""):when=\(call.number)"
            try send(.change, book, inject, expecting: [.diskFull, .inputOutput])
        }
        FaultReport.print("a call of a counted change that a broken disk fails", book.counts, "\(all.count) calls")
        #expect(all.count > 20 && book.counts.isClean && book.counts.acknowledged > 1)
        expectRefusal(of: before, book)
    }
}
