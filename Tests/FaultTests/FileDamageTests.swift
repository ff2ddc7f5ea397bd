import Foundation
import KeychainClient
import KeychainModel
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Files of the store and of the enclave, damaged in every way while nothing
/// runs: what is said is true, and the original bytes bring everything back.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct FileDamageTests {
    /// Files that are damaged together.
    enum Group: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case database, log, index, database_and_log
        case oneKeybag, oneProtectors, oneSecret
        case keybags, protectors, secrets, allKeys

        var testDescription: String { rawValue }

        var files: [String] {
            switch self {
            case .database: ["keychain.db"]
            case .log: ["keychain.db-wal"]
            case .index: ["keychain.db-shm"]
            case .database_and_log: ["keychain.db", "keychain.db-wal"]
            case .oneKeybag: ["enclave/keybag.0"]
            case .oneProtectors: ["enclave/protectors.1"]
            case .oneSecret: ["enclave/software-secret.0"]
            case .keybags: ["enclave/keybag.0", "enclave/keybag.1"]
            case .protectors: ["enclave/protectors.0", "enclave/protectors.1"]
            case .secrets: ["enclave/software-secret.0", "enclave/software-secret.1"]
            case .allKeys: Group.keybags.files + Group.protectors.files + Group.secrets.files
            }
        }

        var isOfDatabase: Bool { files[0].hasPrefix("keychain.db") }
        var isOneCopy: Bool { [.oneKeybag, .oneProtectors, .oneSecret].contains(self) }
    }

    @Test(arguments: Group.allCases)
    func whatIsSaidOfADamagedFileIsTrueAndItsBytesBringItBack(_ group: Group) throws {
        let mold = try StoreMold.shared.get()
        var counts = FaultCounts()
        for damage in FileDamage.possible {
            let home = try mold.home()
            for file in group.files {
                try damage.apply(to: "\(home.data)/\(file)", older: "\(mold.older)/\(file)", others: "\(mold.others)/\(file)")
            }
            counts.bursts += 1
            let note = "\(group.files.joined(separator: ", ")): \(damage)"
            // The first look may find the damage, the second lives with it.
            for round in 1...2 {
                let client = home.client()
                for account in StoreMold.accounts {
                    counts.readBack += 1
                    let complaint = judge(client.result(of: item(account).read), account, group, damage, home)
                    if let complaint {
                        counts.wrongAnswers += 1
                        Issue.record("\(note): look \(round) at \(account): \(complaint)")
                        break
                    }
                }
            }
            try home.endAll()
            try restore(group, home, mold)
            counts = counts + expectEverything(home, note)
        }
        FaultReport.print("damage of \(group.rawValue)", counts)
        #expect(counts.isClean)
    }

    private func item(_ account: String) -> FaultItem { FaultItem(service: StoreMold.service, account: account) }

    // MARK: Judging

    /// nil where the answer is true.
    private func judge(
        _ result: Result<KeychainAnswer, KeychainError>, _ account: String, _ group: Group, _ damage: FileDamage,
        _ home: FaultHome
    ) -> String? {
        switch result {
        case .success(let answer):
            let states = group.isOfDatabase ? StoreMold.history(account) : [StoreMold.history(account).last!]
            guard answer.rows.count == 1, states.contains(where: { item(account).isIn(answer.rows[0], as: $0) }) else {
                return "it is neither what it is nor what it was"
            }
            return mustFail(group, damage) ? "it is served" : nil
        case .failure(let error):
            expectRemedy(error)
            if error.reason == .nothingMatches {
                return canBeMissing(group, damage) ? nil : "it is said not to be there"
            }
            let status: Status = error.reason == .readOnly ? .readOnly : .notAvailable
            return reasons(group, damage).contains(error.reason) && error.status == status ? nil : "\(error)"
        }
    }

    /// Rows went with the file, or were set aside with it. The log of another
    /// store is taken for ours by SQLite (it carries no name of its database), so
    /// that our rows are covered by pages that are not; they come back with it.
    private func canBeMissing(_ group: Group, _ damage: FileDamage) -> Bool {
        group == .log || group.isOfDatabase && group != .index && damage != .others
    }

    /// Both copies are gone or another's: nothing can open.
    private func mustFail(_ group: Group, _ damage: FileDamage) -> Bool {
        !group.isOfDatabase && !group.isOneCopy && damage != .older
    }

    private func reasons(_ group: Group, _ damage: FileDamage) -> Set<Reason> {
        if group.isOfDatabase {
            return switch (group, damage) {
            case (.index, .folder), (.index, .link), (.index, .unreadable): [.storeUnreadable, .readOnly]
            case (.index, _): []
            case (.database, .others), (.database_and_log, .others): [.storeMismatch]
            case (_, .folder), (_, .link), (_, .unreadable): [.storeUnreadable, .readOnly]
            default: [.storeMalformed, .storeUnreadable, .storeSuspect, .storeMismatch]
            }
        }
        if group.isOneCopy { return damage == .unreadable ? [.keybagUnreadable] : [] }
        return damage == .others ? [.keybagUnreadable, .storeMismatch] : [.keybagUnreadable]
    }

    // MARK: Bringing back

    private func restore(_ group: Group, _ home: FaultHome, _ mold: StoreMold) throws {
        let files = FileManager.default
        let restored = group.isOfDatabase ? ["keychain.db", "keychain.db-wal", "keychain.db-shm"] : group.files
        for file in restored {
            let path = "\(home.data)/\(file)"
            // Whatever lies there, a dangling link included.
            try? files.removeItem(atPath: path)
            try files.copyItem(atPath: "\(mold.newest)/\(file)", toPath: path)
        }
        try? files.removeItem(atPath: "\(home.data)/keychain.db.malformed")
    }

    private func expectEverything(_ home: FaultHome, _ note: String) -> FaultCounts {
        var counts = FaultCounts()
        let client = home.client()
        for account in StoreMold.accounts {
            counts.readBack += 1
            switch client.result(of: item(account).read) {
            case .success(let answer):
                guard answer.rows.count == 1, item(account).isIn(answer.rows[0], as: StoreMold.history(account).last!)
                else {
                    counts.lost += 1
                    Issue.record("\(note): restored, \(account) is another")
                    continue
                }
            case .failure(let error):
                counts.lost += 1
                Issue.record("\(note): restored, \(account): \(error)")
            }
        }
        return counts
    }
}
