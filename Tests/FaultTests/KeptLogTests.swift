import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A log that is put right is kept beside as it was, where that is more than a guess: under a second
/// name first, which has to be on the disk before the log gets another.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
struct KeptLogTests {
    private static let prefix = "keychain.db"

    private func files(_ home: FaultHome) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: home.data)
            .filter { $0.hasPrefix(Self.prefix) }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(home.data)/\($0)"))) })
    }

    private func restore(_ files: [String: Data], _ home: FaultHome) throws {
        for name in try self.files(home).keys { try FileManager.default.removeItem(atPath: "\(home.data)/\(name)") }
        for (name, bytes) in files { try bytes.write(to: URL(filePath: "\(home.data)/\(name)")) }
    }

    /// Names of a kept log that are the live one's.
    private func secondNames(_ home: FaultHome) throws -> [String] {
        func identity(_ name: String) throws -> FileIdentity {
            try FileStatus(at: FilePath("\(home.data)/\(name)"), followingLink: false).identity
        }
        let live = try identity("\(Self.prefix)-wal")
        return try files(home).keys.filter { try $0.contains(".damaged-") && identity($0) == live }
    }

    /// What was called, and whether a flush failed between the second name and what follows. To the
    /// daemon's own filter of its calls a call that strace fails is one that does not exist, and
    /// would end it: it has none.
    private func start(_ home: FaultHome, failing number: Int) throws -> (isFailed: Bool, isBehindLink: Bool) {
        let (programs, output) = (home.folder.path("programs \(number)"), home.folder.path("trace \(number)"))
        try FileManager.default.createDirectory(
            atPath: programs, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        try Script.write(
            """
            exec \(Tracer.path) -o '\(output)' -e trace=linkat,fsync,renameat,renameat2,unlinkat \
            -e inject=fsync:error=EIO:when=\(number) \
            \(FaultHome.programs)/confinement-probe without seccomp \(FaultHome.programs)/latchkeyd "$@"
            """, to: "\(programs)/latchkeyd")
        _ = home.client(programs: programs).failure(of: KeychainRequest(.status))
        let calls = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        guard let failed = calls.firstIndex(where: { $0.hasPrefix("fsync(") && $0.contains("INJECTED") }) else {
            return (false, false)
        }
        return (true, failed > 0 && calls[failed - 1].contains("-wal\", 0) = 0"))
    }

    @Test func aSecondNameThatCannotBeFlushedGoes() throws {
        let home = try FaultHome("kept")
        let client = home.client()
        let ledger = Ledger("kept")
        for number in 0..<20 { ledger.write(.all, "item \(number)", by: client) }
        try home.endAll()
        var damaged = try files(home)
        var log = try #require(damaged["\(Self.prefix)-wal"])
        // Of one byte, but of several bits.
        let byte = 32 + 12 * (4096 + 24) + 24 + 4 * 259
        log[byte] = log[byte] < 166 ? log[byte] + 90 : log[byte] - 38
        damaged["\(Self.prefix)-wal"] = log
        var (number, behindLink) = (1, 0)
        while number < 100 {
            try restore(damaged, home)
            let (isFailed, isBehindLink) = try start(home, failing: number)
            #expect(try secondNames(home) == [], "flush \(number)")
            try home.endAll()
            if isBehindLink { behindLink += 1 }
            guard isFailed else { break }
            number += 1
        }
        #expect(behindLink == 1, "it was not kept by a link")
        #expect(number > 1 && number < 100)
    }
}
