import Foundation
import KeychainPlatform
import Testing

/// The rules of the house, checked over its own sources (architecture section 1).
@Suite struct HouseTests {
    static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder
    }()

    /// Swift files below Sources with their text, by path from the root.
    static func sources(_ kinds: Set<String> = ["swift"]) throws -> [(path: String, text: String)] {
        let base = root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { kinds.contains($0.pathExtension) }.map {
            (String($0.path.dropFirst(root.path.count + 1)), try String(contentsOf: $0, encoding: .utf8))
        }
    }

    static func imports(of module: String, in text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            guard let at = words.firstIndex(of: "import") else { return false }
            return at < 3 && words.dropFirst(at + 1).contains { $0 == module || $0.hasPrefix(module + ".") }
        }
    }

    @Test(arguments: [
        ("GRDB", ["KeychainStore"]),
        ("GRDBSQLite", ["KeychainStore"]),
        ("Crypto", ["KeychainCrypto", "OneTimePasswords", "latchkey-bench"]),
        ("CSodium", ["KeychainCrypto"]), ("CCryptoBoringSSL", ["KeychainCrypto"]),
        ("Glibc", ["KeychainPlatform"]),
        ("CLatchkeyPlatform", ["KeychainPlatform"]),
        ("CLatchkeyTPM", ["SecurityHardware"]),
        ("CLatchkeyFIDO", ["SecurityHardware"]),
        ("SecurityHardware", ["latchkey-hardware"]),
        ("CLatchkeyBus", ["SystemBus"]),
        ("SystemBus", ["latchkey-bus"]),
        ("CLatchkeySession", ["MessageBus"]),
        ("MessageBus", ["SecretService", "ForeignKeyrings", "latchkey-secret-service"]),
        ("SecretService", ["latchkey-secret-service"]),
        ("ForeignKeyrings", ["latchkey-secret-service"]),
        ("X509", ["Certificates"]),
        ("CSQLite", ["KeychainTesting", "latchkey-bench"]),
        ("KeychainStore", ["KeychainService", "KeychainTesting", "latchkey-bench", "KeychainDaemon"]),
        // A program that asks nobody does not carry what asks; Keychain has no C-shaped door.
        ("KeychainAuthentication", []),
        ("KeychainServices", ["KeychainAuthentication", "KeychainTesting", "latchkey-bench"]),
        ("KeychainService", ["KeychainDaemon", "KeychainTesting", "latchkeyd", "latchkey-bench"]),
    ])
    func moduleIsImportedInItsRoomAlone(_ module: String, _ rooms: [String]) throws {
        for (path, text) in try Self.sources() where Self.imports(of: module, in: text) {
            let room = path.split(separator: "/")[1]
            #expect(rooms.contains(String(room)), "\(path) imports \(module)")
        }
    }

    @Test func onlyTheServiceMakesAuthorizedQueries() throws {
        for (path, text) in try Self.sources() where text.contains("AuthorizedQuery(") {
            #expect(path.hasPrefix("Sources/KeychainService/"), "\(path)")
        }
    }

    @Test func applesModuleNamesStayOutOfTheRootPackage() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        for name in ["Security", "LocalAuthentication", "CryptoKit", "CoreFoundation"] {
            #expect(!manifest.contains("name: \"\(name)\"") && !manifest.contains("room(\"\(name)\""))
        }
    }

    @Test func manifestNamesExactVersionsAndNoUnsafeFlags() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        for line in manifest.split(separator: "\n") where line.contains(".package(url:") {
            #expect(line.contains("exact:"), "\(line)")
        }
        #expect(!manifest.contains("unsafeFlags("))
    }

    /// ARCHITECTURE.md lists what a confined process may still call.
    @Test func everyCallThatIsLeftIsListed() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
        let start = try #require(text.range(of: "**What stays**")?.upperBound)
        let section = text[start...]
        let end = try #require(section.range(of: "**The spawner**")?.lowerBound)
        let parts = section[..<end].components(separatedBy: "For the daemon besides:")
        try #require(parts.count == 2)
        let listed = parts.map { part in
            Set(part.split { !($0.isLetter && $0.isASCII || $0.isNumber || $0 == "_") }.map(String.init))
        }
        let common = Confinement.allowedCalls(of: .enclave)
        let ofDaemon = Confinement.allowedCalls(of: .daemon).filter { !common.contains($0) }
        let ofBus = Confinement.allowedCalls(of: .bus).filter { !common.contains($0) }
        #expect(common.count > 80 && ofDaemon.count > 20 && !ofBus.isEmpty)
        #expect(common.filter { !listed[0].contains($0) } == [])
        #expect(ofDaemon.filter { !listed[1].contains($0) } == [])
        #expect(ofBus.filter { !listed[1].contains($0) } == [])
    }

    @Test func noForcedTryOutsideTests() throws {
        for (path, text) in try Self.sources() {
            for line in text.split(separator: "\n") where !line.contains("//") {
                #expect(!line.contains("try!") && !line.contains("fatalError("), "\(path): \(line)")
            }
        }
    }

    /// In a static program glibc loads the machine's modules for these, which end it.
    @Test func onlyTheUserDatabaseAsksTheNameService() throws {
        let calls = [
            "getpwuid", "getpwnam", "getpwent", "getgrgid", "getgrnam", "getgrouplist", "getaddrinfo", "gethostby",
            "getgrent", "getspnam", "initgroups", "getservby", "NSHomeDirectory", "NSUserName", "homeDirectory", "attributesOfItem", "expandingTilde",
        ]
        // The module of PAM is loaded by programs that are not static.
        let exempt = ["Sources/KeychainPlatform/UserDatabase.swift", "Sources/CLatchkeyPAM/"]
        for (path, text) in try Self.sources(["swift", "c", "h"]) where !exempt.contains(where: path.hasPrefix) {
            for call in calls { #expect(!text.contains(call), "\(path): \(call)") }
        }
    }

    /// What damages, replaces clocks or hides kernel features is in KeychainTesting
    /// and test programs only.
    @Test(arguments: [
        "latchkey", "latchkeyd", "latchkey-enclave", "latchkey-prompt", "latchkey-hardware", "latchkey-bus",
        "latchkey-secret-service", "git-credential-latchkey", "docker-credential-latchkey",
    ])
    func shippedProgramHoldsNoTestHook(_ name: String) throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let program = try Data(contentsOf: folder.appendingPathComponent(name), options: .alwaysMapped)
        for hook in ["StoreSabotage", "insecureCorrupt", "insecureSpoil", "ManualClock", "TestMachine"] {
            #expect(program.range(of: Data(hook.utf8)) == nil, "\(name) holds \(hook)")
        }
    }
}
