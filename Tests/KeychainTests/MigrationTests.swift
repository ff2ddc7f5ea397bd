import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Synchronization
import Testing

/// Migrations beside others, each of which may end at any call.
@Suite struct MigrationTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    private static let keys = ["a", "b"]

    /// A vault and a service of its own for each run.
    private struct Ground {
        let vault: SecretVault
        let service: String

        init(_ name: String) {
            vault = SecretVault(name, accessible: .whenUnlocked)
            service = "old/" + name
        }

        func fill() throws {
            for key in MigrationTests.keys {
                try SecretStore().add(Secret(key), at: .password(service: service, account: key))
            }
        }

        func migrate(_ originals: SecretVault.Originals = .remove) -> Result<MigrationReport, MigrationRefusal> {
            Result { () throws(MigrationRefusal) in
                try vault.migrate(.passwords(service: service), originals: originals)
            }
        }

        /// The keys whose secret is neither where it was nor in the vault.
        func lost() throws -> [String] {
            try MigrationTests.keys.filter { key in
                let original = try SecretStore().secret(for: .password(service: service, account: key))
                let moved = try vault.secret(forKey: key)
                return original?.insecureText != key && moved?.insecureText != key
            }
        }
    }

    /// What befalls a migration at one of its calls.
    private enum Fate: CaseIterable {
        case none
        /// The call fails.
        case failure
        /// The call is made, and no answer comes.
        case lostAnswer
        /// It and every later one fail: to the keychain the same as a program that is killed.
        case death
    }

    /// Two migrations on threads of their own, one call at a time: so many of the first
    /// program's, so many of the other's, the rest of the first, the rest of the other.
    private final class Turns: Sendable {
        private struct State {
            var turns: [Int]
            var next = 0
            var ended: Set<Int> = []
        }

        private let state: Mutex<State>
        private let go = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]

        init(first: Int, other: Int) {
            let turns = Array(repeating: 0, count: first) + Array(repeating: 1, count: other)
            state = Mutex(State(turns: turns))
            go[turns.first ?? 0].signal()
        }

        func await(_ who: Int) { go[who].wait() }

        /// After a call, or at the end: says who comes next.
        func done(_ who: Int, ended: Bool = false) {
            let next = state.withLock { state -> Int? in
                if ended { state.ended.insert(who) }
                state.next += 1
                let wanted = state.next < state.turns.count ? state.turns[state.next] : 0
                return [wanted, 1 - wanted].first { !state.ended.contains($0) }
            }
            if let next { go[next].signal() }
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        /// 1, 2, 3 …
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private enum Program { @TaskLocal static var number: Int? }

    @Test(arguments: [3, 4, 6]) func twoAtOnceLoseNothing(_ round: Int) throws {
        // Every pause of one × every pause of the other × each fate at each call of the first.
        for first in 0...7 {
            for fatal in 0...7 {
                for fate in Fate.allCases where (fate == .none) == (fatal == 0) {
                    try runTwo(first, round, fate, at: fatal, .remove, otherFailsAt: 0)
                    if fate == .failure {
                        try runTwo(first, round, fate, at: fatal, .keep, otherFailsAt: 0)
                        try runTwo(first, round, fate, at: fatal, .remove, otherFailsAt: 4 + fatal % 2)
                    }
                }
            }
        }
    }

    /// - Parameter originals: what the first does with them; the other removes them.
    private func runTwo(
        _ first: Int, _ other: Int, _ fate: Fate, at fatal: Int, _ originals: SecretVault.Originals,
        otherFailsAt otherFatal: Int
    ) throws {
        let name = "\(first) \(other) \(fate) at \(fatal) \(originals) \(otherFatal)"
        let ground = Ground(name)
        try keychain.withScope { try ground.fill() }
        let turns = Turns(first: first, other: other)
        let calls = [Counter(), Counter()]
        keychain.intercept { _ in
            guard let who = Program.number else { return .answer }
            let number = calls[who].next()
            if number > 1 { turns.done(who) }
            turns.await(who)
            guard who == 0 else { return number == otherFatal ? .fail(errSecIO) : .answer }
            return Self.rule(fate, at: fatal, for: number)
        }
        let ended = DispatchSemaphore(value: 0)
        for who in 0...1 {
            Thread.detachNewThread { [keychain] in
                Program.$number.withValue(who) {
                    keychain.withScope { _ = ground.migrate(who == 0 ? originals : .remove) }
                }
                turns.done(who, ended: true)
                ended.signal()
            }
        }
        for _ in 0...1 { ended.wait() }
        keychain.intercept(nil)
        try keychain.withScope { () throws in
            #expect(try ground.lost().isEmpty, "\(name)")
            // Once more, alone, and it is complete.
            _ = ground.migrate()
            #expect(try ground.vault.keys() == Self.keys, "\(name)")
            #expect(try SecretStore().items(.passwords(service: ground.service)).isEmpty, "\(name)")
            try ground.vault.removeAll()
        }
    }

    private static func rule(_ fate: Fate, at fatal: Int, for number: Int) -> CallRule {
        switch fate {
        case .none: .answer
        case .failure: number == fatal ? .fail(errSecIO) : .answer
        case .lostAnswer: number == fatal ? .answerLost : .answer
        case .death: number >= fatal ? .fail(errSecIO) : .answer
        }
    }

    /// At every call of one, the other runs whole, or to one of its own calls.
    @Test func oneWithinTheOtherLosesNothing() throws {
        for pause in 1...8 {
            for end in 0...8 {
                let name = "within \(pause) \(end)"
                let ground = Ground(name)
                try keychain.withScope { try ground.fill() }
                let (outer, inner) = (Counter(), Counter())
                let lost = Mutex<[String]>([])
                keychain.intercept { [keychain] _ in
                    guard let who = Program.number else { return .answer }
                    Program.$number.withValue(nil) {
                        keychain.withScope {
                            let now = Result { try ground.lost() }
                            lost.withLock { $0 += (try? now.get()) ?? ["unread"] }
                        }
                    }
                    if who == 1 {
                        let number = inner.next()
                        return end != 0 && number >= end ? .fail(errSecIO) : .answer
                    }
                    if outer.next() == pause {
                        Program.$number.withValue(1) { keychain.withScope { _ = ground.migrate() } }
                    }
                    return .answer
                }
                Program.$number.withValue(0) { keychain.withScope { _ = ground.migrate() } }
                keychain.intercept(nil)
                #expect(lost.withLock { $0 }.isEmpty, "\(name)")
                #expect(try keychain.withScope { try ground.lost() }.isEmpty, "\(name)")
            }
        }
    }

    /// What another migration has added is not what this one takes back, and not a failure.
    @Test func whatTheOtherAddedIsThere() throws {
        let ground = Ground("same")
        try keychain.withScope { () throws in
            try ground.fill()
            let adds = Counter()
            keychain.intercept { call in
                guard call.function == .add, Program.number == nil else { return .answer }
                guard adds.next() == 1 else { return .answer }
                Program.$number.withValue(1) { _ = ground.migrate(.keep) }
                return .answer
            }
            let report = try ground.migrate().get()
            keychain.intercept(nil)
            #expect(report.keys == Self.keys && report.alreadyThere == Self.keys && report.notRemoved.isEmpty)
            #expect(try SecretStore().items(.passwords(service: ground.service)).isEmpty)
        }
    }

    /// The copy that this one relies on is removed, and a third migration adds the same
    /// secret, which it will take back.
    @Test func aCopyThatAnotherPutInItsPlaceIsMarkedAsWell() throws {
        let ground = Ground("replaced")
        try keychain.withScope { () throws in
            try ground.fill()
            try ground.vault.set("a", forKey: "a")
            let copies = Counter()
            let swapped = Mutex<Item?>(nil)
            keychain.intercept { call in
                guard call.function == .copyMatching, Program.number == nil else { return .answer }
                // Source and vault are read for the plan, the vault again before the end.
                guard copies.next() == 3 else { return .answer }
                Program.$number.withValue(1) {
                    #expect(throws: Never.self) {
                        try ground.vault.removeSecret(forKey: "a")
                        try ground.vault.set("a", forKey: "a")
                        let items = try SecretStore().items(.passwords(service: "latchkey.vault/ak/replaced"))
                        swapped.withLock { $0 = items.first { $0.address.account == "a" } }
                    }
                }
                return .answer
            }
            let report = try ground.migrate().get()
            keychain.intercept(nil)
            #expect(report.keys == Self.keys && report.notRemoved.isEmpty)
            // The third takes back what it added, as it added it.
            let item = try #require(swapped.withLock { $0 })
            let exactly: [CFString: Any] = [
                kSecValuePersistentRef: item.reference, kSecAttrModificationDate: item.modified,
            ]
            #expect(SecItemDelete(exactly as CFDictionary) == errSecItemNotFound)
            #expect(try ground.lost().isEmpty)
        }
    }

    @Test func whatAnotherMarkedIsToldWhereBothFail() throws {
        let ground = Ground("both")
        try keychain.withScope { () throws in
            try ground.fill()
            let (adds, deaths) = (Counter(), Counter())
            keychain.intercept { call in
                guard Program.number == nil else { return deaths.next() > 3 ? .fail(errSecIO) : .answer }
                guard call.function == .add, adds.next() == 2 else { return .answer }
                // Plans, marks what this one has added, and fails.
                Program.$number.withValue(1) { _ = ground.migrate() }
                return .fail(errSecIO)
            }
            guard case .failure(.keychain(_, let left)) = ground.migrate() else {
                Issue.record("not told")
                return
            }
            keychain.intercept(nil)
            #expect(try left == ground.vault.keys() && left == ["a"])
            #expect(try ground.lost().isEmpty)
        }
    }

    @Test func anOriginalWhoseRemovalHadNoAnswerIsNotSaidToBeThere() throws {
        let ground = Ground("unanswered")
        try keychain.withScope { () throws in
            try ground.fill()
            keychain.intercept { $0.function == .delete ? .answerLost : .answer }
            let report = try ground.migrate().get()
            keychain.intercept(nil)
            #expect(report.notRemoved.isEmpty)
            #expect(try SecretStore().items(.passwords(service: ground.service)).isEmpty)
        }
    }

    @Test func aLabelOfBytesIsTakenAlong() throws {
        let ground = Ground("label")
        try keychain.withScope { () throws in
            let given: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: ground.service, kSecAttrAccount: "a",
                kSecAttrLabel: Data("ä label".utf8), kSecValueData: Data("a".utf8),
            ]
            #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
            #expect(try ground.migrate().get().keys == ["a"])
            let moved = try SecretStore().items(.passwords(service: "latchkey.vault/ak/label"))
            #expect(moved.map(\.attributes.label) == ["ä label"])
        }
    }

    // MARK: Originals that change

    @Test(arguments: [true, false]) func anOriginalThatChangesMeanwhileStays(_ secretChanges: Bool) throws {
        let ground = Ground("changing")
        try keychain.withScope { () throws in
            try ground.fill()
            let address = ItemAddress.password(service: ground.service, account: "a")
            let deletions = Counter()
            keychain.intercept { call in
                guard call.function == .delete, deletions.next() == 1 else { return .answer }
                #expect(throws: Never.self) {
                    if secretChanges {
                        try SecretStore().set(Secret("NEW"), for: address)
                    } else {
                        try SecretStore().change(address, to: ItemAttributes(label: "new"))
                    }
                }
                return .answer
            }
            let report = try ground.migrate().get()
            keychain.intercept(nil)
            #expect(report.notRemoved == ["a"] && report.keys == Self.keys)
            let left = try SecretStore().openedItems(.passwords(service: ground.service))
            #expect(left.map(\.secret.insecureText) == [secretChanges ? "NEW" : "a"])
            #expect(try ground.vault.text(forKey: "a") == "a")
        }
    }

    /// The last of a secret is not taken back.
    @Test func whatHasNoOriginalAnyMoreStaysInTheVault() throws {
        let ground = Ground("removed")
        try keychain.withScope { () throws in
            try ground.fill()
            let adds = Counter()
            keychain.intercept { call in
                guard call.function == .add else { return .answer }
                guard adds.next() == 2 else { return .answer }
                #expect(throws: Never.self) {
                    try SecretStore().remove(.password(service: ground.service, account: "a"))
                }
                return .fail(errSecIO)
            }
            guard case .failure(.keychain(_, leftInVault: ["a"])) = ground.migrate() else {
                Issue.record("not told")
                return
            }
            keychain.intercept(nil)
            #expect(try ground.vault.text(forKey: "a") == "a")
        }
    }

    // MARK: What is left where it is

    private func addGuarded(_ service: String, _ account: String, _ flags: SecAccessControlCreateFlags) {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
        let given: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            kSecValueData: Data("guarded".utf8), kSecAttrAccessControl: control as Any,
        ]
        #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
    }

    @Test func guardedItemsKeepTheirGuard() throws {
        let ground = Ground("guarded")
        try keychain.setPasscode()
        try keychain.withScope { () throws in
            try ground.fill()
            addGuarded(ground.service, "c", .userPresence)
            #expect(ground.migrate() == .failure(.guardedItems))
            #expect(try ground.vault.keys().isEmpty)
            let report = try ground.vault.migrate(
                .passwords(service: ground.service), originals: .remove, unusable: .leaveAlone)
            #expect(report.keys == Self.keys && report.leftGuarded && report.leftAlone == 0)
            #expect(keychain.prompts.isEmpty)
            let left = try SecretStore().items(.passwords(service: ground.service))
            #expect(left.map(\.address.account) == ["c"] && left.allSatisfy(\.isGuarded))
            #expect(keychain.prompts.count == 1)
        }
    }

    @Test func aGuardedItemInTheVaultIsLeftAlone() throws {
        let ground = Ground("g")
        try keychain.setPasscode()
        try keychain.withScope { () throws in
            try ground.fill()
            addGuarded("latchkey.vault/ak/g", "b", .userPresence)
            #expect(ground.migrate() == .failure(.keysInTheVault(["b"])))
            #expect(try ground.vault.contains("b") && !ground.vault.contains("c"))
            #expect(keychain.prompts.isEmpty)
            #expect(try SecretStore().items(.passwords(service: ground.service)).count == 2)
            #expect(try ground.vault.secret(forKey: "a") == nil)
        }
    }

    @Test func whatVaultsHoldIsLeftOutUnlessItIsNamed() throws {
        try keychain.withScope { () throws in
            let (one, other) = (Ground("one").vault, SecretVault("other", accessible: .afterFirstUnlock))
            try one.set("1", forKey: "key")
            #expect(throws: MigrationRefusal.nothingToMigrate) {
                _ = try other.migrate(.passwords(), originals: .remove)
            }
            try SecretStore().set(Secret("2"), for: .password(service: "plain", account: "other key"))
            #expect(try other.migrate(.passwords(), originals: .remove).keys == ["other key"])
            #expect(try one.keys() == ["key"])
            #expect(try other.migrate(.passwords(service: "latchkey.vault/ak/one"), originals: .remove).keys == ["key"])
            #expect(try one.keys().isEmpty)
        }
    }

    @Test func itemsOfOtherGroupsStay() async throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["own", "shared"]))
        try await keychain.withScope {
            let ground = Ground("groups")
            let shared = SecretStore(.group(AccessGroup("shared")))
            try await shared.set(Secret("theirs"), for: .password(service: ground.service, account: "theirs"))
            await #expect(throws: MigrationRefusal.nothingToMigrate) {
                _ = try await ground.vault.migrate(.passwords(service: ground.service), originals: .remove)
            }
            let report = try await ground.vault.migrate(
                .passwords(service: ground.service), from: shared, originals: .remove)
            #expect(report.keys == ["theirs"])
        }
    }

    /// To the keychain text and bytes are one.
    @Test func aKeyThatIsThereAsBytesIsThere() throws {
        try keychain.withScope { () throws in
            let ground = Ground("bytes")
            let account = ItemText(bytes: Array("a".utf8))
            #expect(account == "a" && account.hashValue == ItemText("a").hashValue && account != "b")
            #expect(account.form != ItemText("a").form)
            let service = ItemText("latchkey.vault/ak/bytes")
            try SecretStore().add(Secret("other"), at: ItemAddress(.generic(.init(service: service, account: account))))
            #expect(try ground.vault.keys() == ["a"] && ground.vault.contains("a"))
            try ground.fill()
            #expect(ground.migrate() == .failure(.keysInTheVault(["a"])))
        }
    }
}
