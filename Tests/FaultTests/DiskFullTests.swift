import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// No room on the disk, or none allowed.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct DiskFullTests {
    private static func limit(_ process: Int32, _ size: String) throws {
        let result = try Command("/usr/bin/prlimit", ["--pid", "\(process)", "--fsize=\(size):"]).run()
        try #require(result.status == 0, "\(result.text)")
    }

    /// RLIMIT_FSIZE fails a write with EFBIG and sends SIGXFSZ, whose default is
    /// the end of the process; a quota fails it with EDQUOT. Both are "full".
    @Test func aLimitOnFileSizesIsAFullDisk() throws {
        let home = try FaultHome("full")
        let ledger = Ledger("full")
        let client = home.client()
        for number in 0..<6 { ledger.write(.all, "item \(number)", by: client) }
        let processes = try home.serving()
        try Self.limit(processes.daemon, "4096")
        ledger.count { $0.bursts += 1 }
        let pairs: [(Ledger.Change, String)] = [(.all, "new"), (.all, "item 1"), (.label, "item 2"), (.delete, "item 3")]
        for (change, account) in pairs {
            expect(ledger.write(change, account, by: client), .notAvailable, .diskFull, "\(change) beyond the limit", ledger)
        }
        // Reads go on, of everything.
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false), "while full")
        try Self.limit(processes.daemon, "unlimited")
        for (change, account) in pairs { #expect(ledger.write(change, account, by: client) == nil) }
        #expect(try home.serving() == processes, "both live on")
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("limit on the size of files", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.refused == 4)
    }

    /// Reached at each of a change's writes, and from then on.
    @Test(.enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
    func aQuotaThatIsReachedAtAnyWriteIsAFullDisk() throws {
        let home = try FaultHome("quota")
        let ledger = Ledger("quota")
        // strace makes another call of one that it fails, at which a process ends that is held to a list.
        try home.start(without: "seccomp")
        let client = home.client(autostart: false)
        let changes: [(Ledger.Change, String)] = [
            (.all, "new"), (.all, "item 1"), (.label, "item 2"), (.delete, "item 3"),
        ]
        for number in 0..<6 { ledger.write(.all, "item \(number)", by: client) }
        let processes = try home.serving()
        for (change, account) in changes {
            var write = 0
            var isReached = true
            while isReached {
                write += 1
                if change == .delete { ledger.write(.all, account, by: client) }
                let tracer = try Tracer(
                    of: processes.daemon, ["-e", "inject=pwrite64,ftruncate,fallocate:error=EDQUOT:when=\(write)+"],
                    in: home.folder.path)
                let error = ledger.write(change, account, by: client)
                // Reads go on, of everything.
                try Auditor(ledger: ledger).audit(through: client, sample: 2, "beyond the quota")
                tracer.detach()
                isReached = error != nil
                guard isReached else { continue }
                expect(error, .notAvailable, .diskFull, "\(change), a quota at write \(write)", ledger)
                ledger.count { $0.bursts += 1 }
                #expect(ledger.write(change, account, by: client) == nil, "there is room again")
            }
            #expect(write > 5, "\(change) was refused at \(write - 1) writes")
        }
        #expect(try home.serving() == processes, "both live on")
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("a quota at each write of a change", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    @Test(.enabled(if: PrivateMounts.obstacle == nil, "\(PrivateMounts.obstacle ?? "")"))
    func aFullDiskLosesNothing() throws {
        let ledger = Ledger("full")
        try Self.onSmallDisk(ledger) { home in
            for isFreshlyStarted in [false, true] {
                try Self.fill(home)
                if isFreshlyStarted { try home.endAll() }
                Self.writeUntilFull(ledger, home)
                try Auditor(ledger: ledger).audit(through: home.client(), "while full")
                try FileManager.default.removeItem(atPath: "\(home.data)/filler")
                for number in 0..<20 {
                    if let error = ledger.write(.all, "item \(number)", by: home.client()) {
                        ledger.count { $0.wrongAnswers += 1 }
                        Issue.record("there is room again: \(error)")
                    }
                }
                try home.endAll()
                try Auditor(ledger: ledger).audit(through: home.client())
                ledger.count { $0.bursts += 1 }
            }
        }
        FaultReport.print("full disk", ledger.counts)
        #expect(ledger.counts.isClean)
        #expect(ledger.counts.refused > 8)
    }

    /// A bit of the log changes, the daemon is killed and the disk is full: what lies behind the bit
    /// stays there until there is room to put it right, whoever writes meanwhile.
    @Test(.enabled(if: PrivateMounts.obstacle == nil, "\(PrivateMounts.obstacle ?? "")"))
    func aFullDiskBesideADamagedLogLosesNothing() throws {
        let ledger = Ledger("full-log")
        try Self.onSmallDisk(ledger) { home in
            try home.endAll()
            let log = URL(fileURLWithPath: "\(home.data)/keychain.db-wal")
            var bytes = try Data(contentsOf: log)
            #expect(bytes.count > 40 * 4096)
            bytes[32 + 12 * (4096 + 24) + 1000] ^= 1
            try bytes.write(to: log, options: [])
            try Self.fill(home)
            for number in 0..<3 {
                let error = ledger.write(.all, "new \(number)", by: home.client())
                expect(error, .notAvailable, .diskFull, "a full disk beside a damaged log", ledger)
            }
            #expect(try Data(contentsOf: log) == bytes, "nothing went over it")
            try FileManager.default.removeItem(atPath: "\(home.data)/filler")
            // Told once that the database is opened anew.
            let told = ledger.write(.all, "new 0", by: home.client())
            #expect(told == nil || told?.reason == .logChanged)
            #expect(ledger.write(.all, "new 1", by: home.client()) == nil)
            try home.endAll()
            try Auditor(ledger: ledger).audit(through: home.client())
            ledger.count { $0.bursts += 1 }
        }
        FaultReport.print("full disk beside a damaged log", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    /// With twenty items, on a disk of 12 MiB of its own.
    private static func onSmallDisk(
        _ ledger: Ledger, _ body: @escaping @Sendable (FaultHome) throws -> Void
    ) throws {
        let home = try FaultHome("full")
        try FileManager.default.createDirectory(
            atPath: home.data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try PrivateMounts.run(tmpfs: "12m", at: home.data) {
            defer { try? home.endAll() }
            let client = home.client()
            for number in 0..<20 { ledger.write(.all, "item \(number)", by: client) }
            try body(home)
        }
    }

    private static func fill(_ home: FaultHome) throws {
        _ = try Command("/bin/sh", ["-c", "head -c 64M /dev/zero > \(home.data)/filler"]).run()
    }

    /// The log has a little room of its own left in its last pages.
    private static func writeUntilFull(_ ledger: Ledger, _ home: FaultHome) {
        var refused = 0
        for number in 0..<400 where refused < 5 {
            let change: Ledger.Change = [.all, .label, .all][number % 3]
            guard let error = ledger.write(change, "item \(number % 25)", by: home.client()) else { continue }
            refused += 1
            expect(error, .notAvailable, .diskFull, "a full disk", ledger)
        }
        #expect(refused == 5)
    }
}
