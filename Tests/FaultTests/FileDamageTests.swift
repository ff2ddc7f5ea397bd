import Foundation
import KeychainClient
import KeychainModel
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Files of the store and of the enclave, damaged in every way while nothing
/// runs: what is said is true, and the original bytes bring everything back.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct FileDamageTests {
    /// Files that are damaged together.
    enum Group: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case database, log, index, database_and_log, witness
        case oneKeybag, oneProtectors, oneSecret
        case keybags, protectors, secrets, allKeys

        var testDescription: String { rawValue }

        var files: [String] {
            switch self {
            case .database: ["keychain.db"]
            case .log: ["keychain.db-wal"]
            case .index: ["keychain.db-shm"]
            case .database_and_log: ["keychain.db", "keychain.db-wal"]
            case .witness: ["keychain.db.witness"]
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
        /// What items depend on.
        var holdsItems: Bool { [.database, .log, .database_and_log].contains(self) }
        var isOneCopy: Bool { [.oneKeybag, .oneProtectors, .oneSecret].contains(self) }
    }

    @Test(arguments: Group.allCases)
    func whatIsSaidOfADamagedFileIsTrueAndItsBytesBringItBack(_ group: Group) throws {
        let mold = try StoreMold.shared.get()
        var counts = FaultCounts()
        for damage in FileDamage.possible {
            let home = try mold.home()
            for file in group.files {
                try damage.apply(
                    to: "\(home.data)/\(file)", older: "\(mold.older)/\(file)", others: "\(mold.others)/\(file)")
            }
            let lay = try content(of: home)
            var mayBeSetAside = false
            counts.bursts += 1
            let note = "\(group.files.joined(separator: ", ")): \(damage)"
            // The first look may find the damage, the second lives with it.
            for round in 1...2 {
                let client = home.client()
                for account in StoreMold.accounts {
                    counts.readBack += 1
                    let result = client.result(of: item(account).read)
                    if case .failure(let error) = result, error.reason == .mayBeSetAside { mayBeSetAside = true }
                    if let complaint = judge(result, account, group, damage) {
                        counts.wrongAnswers += 1
                        Issue.record("\(note): look \(round) at \(account): \(complaint)")
                        break
                    }
                }
            }
            if mayBeSetAside {
                try expectKept(lay, isLogWhole: group == .database, home, note, &counts)
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
        _ result: Result<KeychainAnswer, KeychainError>, _ account: String, _ group: Group, _ damage: FileDamage
    ) -> String? {
        switch result {
        case .success(let answer):
            let isAllThere = !group.isOfDatabase || isPutRight(group, damage)
            let states = isAllThere ? [StoreMold.history(account).last!] : StoreMold.history(account)
            guard answer.rows.count == 1, states.contains(where: { item(account).isIn(answer.rows[0], as: $0) }) else {
                return "it is neither what it is nor what it was"
            }
            return mustFail(group, damage) ? "it is served" : nil
        case .failure(let error):
            expectRemedy(error)
            switch error.reason {
            case .nothingMatches: return "it is said not to be there"
            case .mayBeSetAside:
                // What was in the database before is there without a log as well.
                if isPutRight(group, damage) { return "it is said to be set aside" }
                let mayMiss = group == .log ? account.hasPrefix("late") : group.holdsItems && damage != .others
                return mayMiss && error.status == .itemNotFound ? nil : "it is said to be set aside"
            default: break
            }
            let status: Status = error.reason == .readOnly ? .readOnly : .notAvailable
            var reason = error.reason
            if case .folderUnusable = reason { reason = Self.refused }
            return reasons(group, damage).contains(reason) && error.status == status ? nil : "\(error)"
        }
    }

    /// A log's checksums say where such a bit was; of one in the highest bits of a word they do not.
    private func isPutRight(_ group: Group, _ damage: FileDamage) -> Bool {
        group == .log && [.flippedFirst, .flippedMiddle].contains(damage)
    }

    // MARK: Keeping

    /// Database and log as they lie in a folder; nil where there is none.
    private func content(of home: FaultHome) throws -> (database: Data?, log: Data?) {
        func bytes(_ name: String) -> Data? { FileManager.default.contents(atPath: "\(home.data)/\(name)") }
        return (bytes("keychain.db"), bytes("keychain.db-wal"))
    }

    /// What is said to be set aside is: in the table `damaged`, or in files under
    /// another name, page for page, and doctor tells of them. A log that was whole
    /// lies beside its database or has gone into it.
    private func expectKept(
        _ lay: (database: Data?, log: Data?), isLogWhole: Bool, _ home: FaultHome, _ note: String,
        _ counts: inout FaultCounts
    ) throws {
        let report = try #require(try home.client().perform(KeychainRequest(.doctor(.look))).doctor)
        #expect(report.hasNewDamage, "\(note): doctor knows of nothing")
        if report.damaged > 0 { return }
        let names = try FileManager.default.contentsOfDirectory(atPath: home.data)
            .filter { $0.hasPrefix("keychain.db.damaged-") && !$0.hasSuffix("-shm") }
        let kept = names.map { FileManager.default.contents(atPath: "\(home.data)/\($0)") ?? Data() }
        if !names.contains(where: { !$0.hasSuffix("-wal") }) {
            // The database serves on. What its log should have held is missing; what was left of
            // it is kept as it lay there.
            let log = lay.log ?? Data()
            guard log.isEmpty || kept.contains(log) else {
                counts.lost += 1
                Issue.record("\(note): the log is not kept: \(names)")
                return
            }
            return
        }
        let log = isLogWhole ? lay.log ?? Data() : Data()
        let database = lay.database ?? Data()
        let isLogKept = log.isEmpty || kept.contains(log) || kept.contains { Pages(of: $0).hold(Pages(ofLog: log)) }
        let isDatabaseKept =
            database.isEmpty || kept.contains { Pages(of: $0).hold(Pages(of: database), but: Pages(ofLog: lay.log ?? Data())) }
        let isToldOf = database.isEmpty && log.isEmpty || !report.setAsideFiles.isEmpty
        guard isLogKept, isDatabaseKept, isToldOf else {
            counts.lost += 1
            Issue.record(
                "\(note): database kept \(isDatabaseKept), log \(isLogKept): \(names), doctor: \(report.setAsideFiles)")
            return
        }
    }

    /// The pages of a database, or the newest of each in its log
    /// (<https://sqlite.org/fileformat2.html>, section 4.1).
    private struct Pages {
        private var byNumber: [Int: Data] = [:]
        private static let size = 4096

        init(of file: Data) {
            for (index, start) in stride(from: 0, to: file.count, by: Self.size).enumerated() {
                byNumber[index + 1] = file[start..<min(start + Self.size, file.count)]
            }
        }

        init(ofLog log: Data) {
            for start in stride(from: 32, to: log.count - Self.size - 23, by: Self.size + 24) {
                let number = log[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
                byNumber[number] = log[start + 24..<start + 24 + Self.size]
            }
        }

        func hold(_ others: Pages, but newer: Pages = Pages(of: Data())) -> Bool {
            others.byNumber.allSatisfy { number, page in
                newer.byNumber[number] != nil || byNumber[number].map { $0.prefix(page.count) == page } == true
            }
        }
    }

    /// Both copies are gone or another's: nothing can open.
    private func mustFail(_ group: Group, _ damage: FileDamage) -> Bool {
        !group.isOfDatabase && !group.isOneCopy && damage != .older
    }

    private func reasons(_ group: Group, _ damage: FileDamage) -> Set<Reason> {
        if group == .witness { return [] }
        if group.isOfDatabase {
            return switch (group, damage) {
            // What may not be read is not damaged.
            case (_, .unreadable): [.storeUnreadable, .readOnly, Self.refused]
            case (.index, .folder), (.index, .link): [Self.refused, .readOnly]
            case (.index, _): []
            case (.database, .others), (.database_and_log, .others): [.storeMismatch]
            case (_, .folder), (_, .link): [Self.refused, .readOnly]
            default: [.storeMalformed, .storeUnreadable, .storeSuspect, .storeMismatch, .stillSalvaging]
            }
        }
        if group.isOneCopy { return damage == .unreadable ? [.keybagUnreadable, Self.refused] : [] }
        // What belongs to somebody else, or may not be read, is not damaged.
        if damage == .unreadable { return [.keybagUnreadable, Self.refused] }
        return damage == .others ? [.keybagUnreadable, .storeMismatch] : [.keybagUnreadable]
    }

    /// Whatever it says of the path.
    private static let refused = Reason.folderUnusable(why: "")

    // MARK: Bringing back

    private func restore(_ group: Group, _ home: FaultHome, _ mold: StoreMold) throws {
        let files = FileManager.default
        let database = ["keychain.db", "keychain.db-wal", "keychain.db-shm"]
        let restored = group.isOfDatabase ? Array(Set(database + group.files)) : group.files
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
