import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What the enclave vouches for of the audit record: each block in its place, and
/// where the record ends.
@Suite struct AuditChainTests {
    private static func text(_ opened: OpenedAuditBlock?) -> String? {
        opened.map { String(decoding: $0.records, as: UTF8.self) }
    }

    /// Blocks that the daemon has on the disk.
    private func append(
        _ texts: [String], to enclave: any EnclaveConnection, fromFile lowest: UInt64 = 0
    ) throws -> [SealedAuditBlock] {
        try texts.map { text in
            let block = try #require(try enclave.sealAudit(Array(text.utf8), fromFile: lowest))
            let head = try enclave.confirmAudit(block)
            #expect(head == block.place.at(block.place.index + 1))
            return block
        }
    }

    private func texts(_ blocks: [SealedAuditBlock], in enclave: any EnclaveConnection) throws -> [String?] {
        guard let first = blocks.first else { return [] }
        guard case .blocks(let opened) = try enclave.openAudit(blocks.map(\.box), from: first.place) else {
            Issue.record("the blocks were not opened")
            return []
        }
        return opened.map(Self.text)
    }

    @Test func whatWasSealedOpensInItsOrderAndAfterANewStart() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one", "two"], to: enclave)
        enclave.close()
        enclave = try home.cheap()
        #expect(enclave.auditHead(settled: true) == blocks[0].place.at(2))
        blocks += try append(["three"], to: enclave)
        #expect(try texts(blocks, in: enclave) == ["one", "two", "three"])
        // From the middle, from behind, and again from the start.
        #expect(try texts([blocks[2]], in: enclave) == ["three"])
        #expect(try texts([blocks[0]], in: enclave) == ["one"])
    }

    @Test func bothHopsTellTheSame() throws {
        let server = try RunningServer()
        let daemon = try server.connect()
        #expect(try daemon.auditHead(settled: true) == nil)
        let blocks = try append(["one", "two"], to: daemon)
        #expect(try daemon.auditHead(settled: true) == blocks[1].place.at(2))
        #expect(try texts(blocks, in: daemon) == ["one", "two"])
        let other = try #require(
            AuditPlace(chain: [UInt8](repeating: 7, count: 16), file: 1, ordinal: 0, index: 0))
        #expect(try daemon.openAudit([blocks[0].box], from: other) == .unknownChain)
    }

    @Test func anUnconfirmedBlockIsAsIfItHadNotBeen() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let first = try append(["one"], to: enclave)[0]
        let lost = try #require(try enclave.sealAudit(Array("lost".utf8), fromFile: 0))
        let again = try #require(try enclave.sealAudit(Array("again".utf8), fromFile: 0))
        #expect(lost.place == again.place)
        #expect(try enclave.confirmAudit(again) == first.place.at(2))
        // The other is of no worth any more, and saying twice that it is there is no news.
        #expect(try enclave.confirmAudit(lost) == first.place.at(2))
        #expect(try enclave.confirmAudit(again) == first.place.at(2))
        #expect(try texts([first, again], in: enclave) == ["one", "again"])
    }

    @Test func aBlockThatWasWrittenBeforeACrashIsTakenUp() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let block = try #require(try enclave.sealAudit(Array("one".utf8), fromFile: 0))
        enclave.close()
        let next = try home.cheap()
        #expect(next.auditHead(settled: true) == block.place)
        #expect(try next.confirmAudit(block) == block.place.at(1))
    }

    @Test func aBlockOpensInNoOtherPlaceAndNotChanged() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let blocks = try append(["one", "two", "three"], to: enclave)
        let place = blocks[1].place
        let others = [
            place.at(0), place.at(2),
            try #require(AuditPlace(chain: place.chain, file: place.file + 1, ordinal: 0, index: 1)),
            try #require(AuditPlace(chain: place.chain, file: place.file, ordinal: 1, index: 1)),
        ]
        for other in others {
            #expect(enclave.openAudit([blocks[1].box], from: other) == .blocks([nil]))
        }
        for index in blocks[1].box.indices {
            var box = blocks[1].box
            box[index] ^= 1
            #expect(enclave.openAudit([box], from: place) == .blocks([nil]))
        }
        #expect(try texts([blocks[1]], in: enclave) == ["two"])
    }

    @Test func theRecordGoesOnWhileLockedAndIsReadUnlocked() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        try enclave.setPasscode(.text("1234"))
        let before = try append(["open"], to: enclave)
        try enclave.lock()
        let after = try append(["locked"], to: enclave)
        #expect(enclave.openAudit([after[0].box], from: after[0].place) == .locked)
        enclave.close()
        let again = try home.cheap()
        let later = try append(["before the first unlock"], to: again)
        #expect(again.openAudit([later[0].box], from: later[0].place) == .locked)
        try again.unlock(with: .passcode(.text("1234")))
        #expect(try texts(before + after + later, in: again) == ["open", "locked", "before the first unlock"])
    }

    @Test func whereItHasToBeginALockedKeychainSaysSo() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        try enclave.setPasscode(.text("1234"))
        enclave.close()
        let again = try home.cheap()
        #expect(
            throws: KeychainError(.interactionNotAllowed, reason: .locked(class: ProtectionClass.whenUnlocked.rawValue))
        ) { try again.sealAudit([1], fromFile: 0) }
        try again.unlock(with: .passcode(.text("1234")))
        _ = try append(["one"], to: again)
    }

    /// A thief's copy from before the passcode has every key of then.
    @Test func aCopyFromBeforeThePasscodeReadsNothingThatComesAfter() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let before = try append(["before", "before too"], to: enclave)
        let copy = try home.contents()
        try enclave.setPasscode(.text("1234"))
        let after = try append(["after"], to: enclave)
        #expect(after[0].place.chain != before[0].place.chain)
        #expect(after[0].place.file == before[0].place.file + 1)
        // The end of the file before is told by the first block of the next.
        guard case .blocks(let opened) = enclave.openAudit([after[0].box], from: after[0].place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.first??.previousCount == 2)
        #expect(opened.first??.events.map(\.kind).contains(.passcodeSet) == true)
        #expect(try texts(before, in: enclave) == ["before", "before too"])

        let thief = try EnclaveHome()
        _ = try PrivateDirectory(thief.path(""), creating: true)
        for (name, bytes) in copy { try thief.write(name, bytes) }
        let stolen = try thief.cheap()
        #expect(try texts(before, in: stolen) == ["before", "before too"])
        #expect(stolen.openAudit([after[0].box], from: after[0].place) == .unknownChain)
        // Nor do the keys of then make a block that is taken for one of later.
        let forged = try #require(try stolen.sealAudit(Array("forged".utf8), fromFile: 0))
        #expect(try enclave.confirmAudit(forged) == after[0].place.at(1))
        #expect(enclave.openAudit([forged.box], from: after[0].place) == .blocks([nil]))
    }

    @Test func theKeysThatAreThereOpenNothingThatIsPast() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let blocks = try append(["one", "two", "three"], to: enclave)
        let store = try #require(StoreID(enclave.storeID))
        let file = try #require(AuthenticatedFile.parse(.keybag, try home.read("keybag.0")))
        let chain = try #require(KeybagBody(parsing: file.uncheckedBody)?.audit.last)
        let state = try home.withProtectors { try chain.stateKey(under: $0.root, of: store) }
        let places = try AuditHeadFile(directory: PrivateDirectory(home.path(""), creating: false)).places()
        let heads = places.compactMap { AuditHead($0, chain: chain.identifier, under: state, of: store) }
        var key = try #require(heads.max { $0.generation < $1.generation }).state.blockKey
        // Whoever has the state of now walks on from it, and never meets a past block's key.
        for _ in 0..<16 {
            for block in blocks { #expect(AuditState.open(block, key, of: store) == nil) }
            key = AuditState.nextBlockKey(key)
        }
    }

    @Test func afterFourMebibytesAnotherFileBegins() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let records = [UInt8](repeating: 9, count: 64 << 10)
        var places: [AuditPlace] = []
        var last: SealedAuditBlock?
        while places.last?.ordinal != 2 {
            let block = try #require(try enclave.sealAudit(records, fromFile: 0))
            _ = try enclave.confirmAudit(block)
            places.append(block.place)
            last = block
        }
        let counts = Dictionary(grouping: places, by: \.file).mapValues(\.count)
        #expect(counts == [1: 64, 2: 64, 3: 1])
        let end = try #require(last)
        guard case .blocks(let opened) = enclave.openAudit([end.box], from: end.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.first??.previousCount == 64)
        #expect(opened.first??.records == records)
    }

    @Test func theEnclaveSaysByItselfWhatItDid() throws {
        let home = try EnclaveHome()
        let clock = ManualClock()
        let enclave = try home.cheap(clock: clock)
        _ = try append(["zero"], to: enclave)
        try enclave.setPasscode(.text("1234"))
        let made = try MadeKey(in: enclave)
        #expect(try made.opens(in: enclave))
        #expect(try made.opens(in: enclave))
        #expect(throws: KeychainError(.authFailed, reason: .authenticationFailed)) {
            try enclave.unlock(with: .passcode(.text("4321")))
        }
        clock.advance(by: .seconds(10))
        try enclave.lock()
        let block = try append(["one"], to: enclave)[0]
        try enclave.unlock(with: .passcode(.text("1234")))
        guard case .blocks(let opened) = enclave.openAudit([block.box], from: block.place), let said = opened[0] else {
            Issue.record("not opened")
            return
        }
        #expect(said.rowKeys == 2)
        #expect(said.events.map(\.kind) == [.passcodeSet, .attemptFailed, .locked])
        let times = said.events.map(\.time)
        #expect(times[2] == clock.wallClock)
        #expect(times[1] == clock.wallClock - 10)
        // Said once; what came after stands in the next.
        let next = try append(["two"], to: enclave)[0]
        guard case .blocks(let later) = enclave.openAudit([next.box], from: next.place) else {
            Issue.record("not opened")
            return
        }
        #expect(later[0]?.events.map(\.kind) == [.unlocked])
        #expect(later[0]?.rowKeys == 0)
        #expect(try enclave.sealAudit([], fromFile: 0) == nil)
    }

    /// What the login password opened and changed stands among what the enclave says.
    @Test func theLoginPasswordIsInTheRecord() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        _ = try append(["zero"], to: enclave)
        try enclave.setPasscode(.text("1234"))
        try enclave.addLoginSlot(.text("login one"), passcode: .text("1234"))
        try enclave.lock()
        try enclave.changeLogin(from: .text("login one"), to: .text("login two"))
        #expect(throws: KeychainError(.authFailed, reason: .authenticationFailed)) {
            try enclave.unlock(byLogin: .text("login one"))
        }
        try enclave.unlock(byLogin: .text("login two"))
        let block = try append(["one"], to: enclave)[0]
        guard case .blocks(let opened) = enclave.openAudit([block.box], from: block.place) else {
            Issue.record("not opened")
            return
        }
        #expect(
            opened[0]?.events.map(\.kind) == [
                .passcodeSet, .slotAdded, .locked, .slotChanged, .attemptFailed, .unlocked,
            ])
        #expect(AuditRecord.Event(number: 64 + AuditEvent.Kind.slotChanged.rawValue) == .slotChanged)
    }

    @Test func aHeadThatIsGoneIsSaidAndAnotherChainBegins() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        let before = try append(["one", "two"], to: enclave)
        enclave.close()
        try home.remove("audit")
        enclave = try home.cheap()
        #expect(enclave.auditHead(settled: true) == nil)
        let after = try append(["three"], to: enclave, fromFile: 9)
        #expect(after[0].place.file == 9)
        guard case .blocks(let opened) = enclave.openAudit([after[0].box], from: after[0].place) else {
            Issue.record("not opened")
            return
        }
        let kinds = opened[0]?.events.map(\.kind) ?? []
        #expect(kinds.contains(.headLost))
        #expect(try texts(before, in: enclave) == ["one", "two"])
    }

    @Test(arguments: 1...4)
    func aTornHeadIsOneBlockBehind(count: Int) throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        let blocks = try append((0..<count).map { "\($0)" }, to: enclave)
        enclave.close()
        var file = try home.read("audit")
        // The place that was written last: the first state went into place 0.
        let place = count % 2
        for index in 0..<AuditHead.recordCount { file[place * AuditHead.placeSize + index] ^= 0xff }
        try home.write("audit", file)
        enclave = try home.cheap()
        #expect(enclave.auditHead(settled: true) == blocks[0].place.at(UInt32(count - 1)))
        #expect(try enclave.confirmAudit(try #require(blocks.last)) == blocks[0].place.at(UInt32(count)))
    }

    // MARK: What the daemon could not write

    /// How many events a block says to be lost.
    private func lost(_ blocks: [SealedAuditBlock], in enclave: any EnclaveConnection) throws -> [UInt64?] {
        guard let first = blocks.first,
            case .blocks(let opened) = try enclave.openAudit(blocks.map(\.box), from: first.place)
        else { return [] }
        return opened.map { $0?.droppedEvents }
    }

    @Test func whatADaemonTookWithItIsSaidOnce() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one"], to: enclave)
        try enclave.noteUnwritten(7, by: 1)
        try enclave.noteUnwritten(9, by: 1)
        enclave.close()
        enclave = try home.cheap()
        try enclave.noteUnwritten(0, by: 2)
        blocks += try append(["two", "three"], to: enclave)
        enclave.close()
        enclave = try home.cheap()
        blocks += try append(["four"], to: enclave)
        #expect(try texts(blocks, in: enclave) == ["one", "two", "three", "four"])
        #expect(try lost(blocks, in: enclave) == [0, 9, 0, 0])
    }

    @Test func whatWasWrittenAfterAllIsNotLost() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one"], to: enclave)
        try enclave.noteUnwritten(7, by: 1)
        blocks += try append(["what waited"], to: enclave)
        try enclave.noteUnwritten(0, by: 1)
        enclave.close()
        enclave = try home.cheap()
        blocks += try append(["two"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, 0, 0])
    }

    /// A part of it may be written: what is said is never too little.
    @Test func aDaemonThatEndsBeforeItHasWrittenEverythingMayHaveLostIt() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one"], to: enclave)
        try enclave.noteUnwritten(7, by: 1)
        blocks += try append(["a part"], to: enclave)
        enclave.close()
        enclave = try home.cheap()
        try enclave.noteUnwritten(0, by: 2)
        blocks += try append(["two"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, 0, 7])
    }

    /// However often the enclave ends: what waits is in the daemon, which goes on.
    @Test func anEnclaveThatEndsAloneLosesNothing() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one"], to: enclave)
        for count in UInt64(5)...8 {
            try enclave.noteUnwritten(count, by: 1)
            enclave.close()
            enclave = try home.cheap()
        }
        blocks += try append(["what waited"], to: enclave)
        try enclave.noteUnwritten(0, by: 1)
        try enclave.noteUnwritten(0, by: 2)
        blocks += try append(["two"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, 0, 0])
    }

    /// The enclave goes on, and another daemon comes.
    @Test func theNextDaemonWritesWhatTheOneBeforeTookWithIt() throws {
        let server = try RunningServer()
        let first = try server.connect()
        var blocks = try append(["one"], to: first)
        try first.noteUnwritten(3, by: 1)
        let second = try server.connect()
        try second.noteUnwritten(0, by: 2)
        blocks += try append(["two", "three"], to: second)
        try second.noteUnwritten(5, by: 2)
        blocks += try append(["four"], to: second)
        #expect(try lost(blocks, in: second) == [0, 3, 0, 0])
    }

    @Test func aBlockThatSaysItAndWasNotConfirmedSaysItAlone() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        var blocks = try append(["one"], to: enclave)
        try enclave.noteUnwritten(4, by: 1)
        enclave.close()
        enclave = try home.cheap()
        try enclave.noteUnwritten(0, by: 2)
        blocks.append(try #require(try enclave.sealAudit(Array("two".utf8), fromFile: 0)))
        enclave.close()
        enclave = try home.cheap()
        #expect(try enclave.confirmAudit(blocks[1]) == blocks[1].place.at(2))
        blocks += try append(["three"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, 4, 0])
    }

    /// What is being told between a block and its confirmation takes nothing from either.
    @Test func aBlockMayBeConfirmedAfterItWasTold() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        let first = try #require(try enclave.sealAudit(Array("one".utf8), fromFile: 0))
        try enclave.noteUnwritten(2, by: 1)
        #expect(try enclave.confirmAudit(first) == first.place.at(1))
        enclave.close()
        enclave = try home.cheap()
        try enclave.noteUnwritten(0, by: 2)
        let blocks = try [first] + append(["two"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, 2])
        guard case .blocks(let opened) = enclave.openAudit(blocks.map(\.box), from: first.place) else {
            Issue.record("not opened")
            return
        }
        #expect(opened.map { $0?.events.map(\.kind) } == [[.started], [.started]])
    }

    @Test func anotherChainKeepsTheNumber() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        _ = try append(["one"], to: enclave)
        try enclave.noteUnwritten(6, by: 1)
        try enclave.setPasscode(.text("1234"))
        enclave.close()
        enclave = try home.cheap()
        try enclave.noteUnwritten(0, by: 2)
        let blocks = try append(["two"], to: enclave)
        try enclave.unlock(with: .passcode(.text("1234")))
        #expect(try lost(blocks, in: enclave) == [6])
    }

    @Test func anyNumberIsTaken() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        // Before there is a record nothing can say it.
        try enclave.noteUnwritten(.max, by: 0)
        var blocks = try append(["one"], to: enclave)
        for teller in UInt64(1)...3 { try enclave.noteUnwritten(.max, by: teller) }
        enclave.close()
        enclave = try home.cheap()
        blocks += try append(["two"], to: enclave)
        #expect(try lost(blocks, in: enclave) == [0, AuditWitness.mostLost])
    }

    /// Versions from before it read the file on, as long as nothing is lost.
    @Test func theFileIsOfTheFirstFormWhereNothingIsLost() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        _ = try append(["one"], to: enclave)
        func versions() throws -> [UInt8] {
            let file = try home.read("audit")
            return (0..<AuditHead.placeCount).map { file[$0 * AuditHead.placeSize + 11] }
        }
        #expect(try versions() == [1, 1])
        try enclave.noteUnwritten(1, by: 1)
        #expect(try versions().sorted() == [1, 2])
        try enclave.noteUnwritten(0, by: 1)
        _ = try append(["two"], to: enclave)
        #expect(try versions() == [1, 1])
    }

    @Test func aChangeThatRollsNothingKeepsTheChain() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        try enclave.setPasscode(.text("1234"))
        let before = try append(["one"], to: enclave)
        try enclave.changePasscode(from: .text("1234"), to: .text("5678"))
        let after = try append(["two"], to: enclave)
        #expect(after[0].place == before[0].place.at(1))
        try enclave.removePasscode(with: .passcode(.text("5678")))
        let last = try append(["three"], to: enclave)
        #expect(last[0].place.file == 2)
        #expect(try texts(before + after, in: enclave) == ["one", "two"])
    }

    @Test func anotherRootKeyBeginsAnotherChainAndBothAreRead() throws {
        let home = try EnclaveHome()
        var enclave = try home.cheap()
        try enclave.setPasscode(.text("1234"))
        var blocks = try append(["one"], to: enclave)
        let code = try enclave.makeRecoveryCode(passcode: .text("1234"))
        try enclave.confirmRecoveryCode(code)
        blocks += try append(["two"], to: enclave)
        // What the code had wrapped opens nothing that is written from then on.
        let before = try home.contents()
        try enclave.removeRecoveryCode(passcode: .text("1234"))
        let after = try append(["three"], to: enclave)
        #expect(after[0].place.chain != blocks[1].place.chain)
        enclave.close()
        enclave = try home.cheap()
        #expect(enclave.auditHead(settled: true) == after[0].place.at(1))
        try enclave.unlock(with: .passcode(.text("1234")))
        #expect(try texts(after, in: enclave) == ["three"])
        for block in blocks { #expect(try texts([block], in: enclave).first != .some(nil)) }

        let old = try EnclaveHome()
        _ = try PrivateDirectory(old.path(""), creating: true)
        for (name, bytes) in before { try old.write(name, bytes) }
        let stale = try old.cheap()
        try stale.unlock(with: .passcode(.text("1234")))
        #expect(stale.openAudit([after[0].box], from: after[0].place) == .unknownChain)
    }

    /// The keybag names the new chain, or the old one: either has its head.
    @Test func aChangeThatFailsLeavesTheChainAsItWas() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        let before = try append(["one"], to: enclave)
        try home.makeUnwritable("keybag.0", "keybag.1")
        #expect(throws: KeychainError.self) { try enclave.setPasscode(.text("1234")) }
        try home.makeWritable("keybag.0", "keybag.1")
        let after = try append(["two"], to: enclave)
        #expect(after[0].place == before[0].place.at(1))
        enclave.close()
        let again = try home.cheap()
        #expect(again.auditHead(settled: true) == after[0].place.at(2))
        #expect(try texts(before + after, in: again) == ["one", "two"])
    }

    @Test func ofMoreThanSixteenChainsTheOldestIsForgotten() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        var blocks: [SealedAuditBlock] = []
        for index in 0..<9 {
            blocks += try append(["\(index)a"], to: enclave)
            try enclave.setPasscode(.text("1234"))
            blocks += try append(["\(index)b"], to: enclave)
            try enclave.removePasscode(with: .passcode(.text("1234")))
        }
        #expect(enclave.openAudit([blocks[0].box], from: blocks[0].place) == .unknownChain)
        #expect(try texts([blocks[17]], in: enclave) == ["8b"])
        #expect(try texts([blocks[4]], in: enclave) == ["2a"])
    }
}

extension EnclaveHome {
    /// A folder that is not empty stands where each is renamed from.
    fileprivate func makeUnwritable(_ names: String...) throws {
        for name in names {
            try FileManager.default.createDirectory(
                atPath: path(".\(name).new/x"), withIntermediateDirectories: true)
        }
    }

    fileprivate func makeWritable(_ names: String...) throws {
        for name in names { try remove(".\(name).new") }
    }
}
