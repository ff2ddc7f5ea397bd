import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Faults of an enclave and of its disk while a TPM that the keychain is bound to is
/// removed: the root key is replaced, the TPM that stays gets another secret, and the
/// audit record another chain of keys.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"),
    .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
struct ProtectorKillTests {
    private static func book(_ program: String) throws -> PasscodeBook {
        try PasscodeBook(program, tpms: [SoftwareTPM(), SoftwareTPM()])
    }

    /// - Parameter inject: what strace makes of the call.
    /// - Returns: whether the removal was acknowledged all the same.
    private func remove(
        _ book: PasscodeBook, _ inject: String, _ note: String, expecting reasons: Set<Reason> = []
    ) throws -> Bool {
        try book.send(book.prepare(.removeTPM), note, expecting: reasons) { process in
            try Tracer(
                of: process, ["-e", "inject=\(inject)"], firstThreadAlone: true, in: book.home.folder.path
            ).detach
        }
    }

    /// Every so manyeth, in the long form each.
    private static func some(_ calls: [TracedCall], every: Int) -> [TracedCall] {
        calls.enumerated().filter { FaultScale.isLong || $0.offset % every == every / 2 }.map(\.element)
    }

    @Test func whatIsListedOpensAfterAKillAtAnySystemCall() throws {
        let book = try Self.book(PasscodeHome.cheap)
        let all = try book.calls(of: .removeTPM)
        let calls = Self.some(all, every: 4)
        var missed = 0
        for call in calls {
            let kill = "\(call.name):signal=KILL:when=\(call.number)"
            if try remove(book, kill, "killed at \(call)") { missed += 1 }
        }
        FaultReport.print("kill of the enclave at a call of the removal of a TPM", book.counts, "\(all.count) calls")
        #expect(missed < calls.count / 2 && all.count > 100)
        #expect(book.counts.isClean)
        #expect(book.counts.inFlightPresent > 0 && book.counts.inFlightAbsent > 0)
    }

    /// The calls that a full or broken disk fails.
    private static let faults = [
        "openat": "ENOSPC", "write": "ENOSPC", "pwrite64": "ENOSPC", "renameat": "ENOSPC", "fsync": "EIO",
        "ftruncate": "EIO", "unlinkat": "EIO",
    ]

    @Test func aDiskThatFailsLosesNothingAndIsSaid() throws {
        let book = try Self.book(PasscodeHome.unconfined)
        let all = try book.calls(of: .removeTPM).filter { Self.faults[$0.name] != nil }
        var refused = 0
        for call in Self.some(all, every: 3) {
            let fault = try #require(Self.faults[call.name])
            let isAcknowledged = try remove(
                book, "\(call.name):error=\(fault):when=\(call.number)", "\(fault) of \(call)",
                expecting: [.diskFull, .inputOutput])
            if !isAcknowledged { refused += 1 }
        }
        FaultReport.print(
            "a call of the removal of a TPM that a full or broken disk fails", book.counts, "\(all.count) calls")
        #expect(refused > 3 && all.count > 20)
        #expect(book.counts.isClean)
        #expect(book.counts.inFlightPresent > 0 && book.counts.inFlightAbsent > 0)
    }
}
