import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// One data folder with an enclave's folder in it, for one test.
final class EnclaveHome: Sendable {
    static let keyFiles = [
        "software-secret.0", "software-secret.1", "protectors.0", "protectors.1", "keybag.0", "keybag.1",
    ]

    let temporary: TemporaryDirectory
    var dataDirectory: String { temporary.path("data") }
    var runDirectory: String { temporary.path("run") }

    init() throws { temporary = try TemporaryDirectory("enclave") }

    /// A home whose keybag has been made.
    static func made() throws -> EnclaveHome {
        let home = try EnclaveHome()
        _ = try home.open()
        return home
    }

    func open(_ expected: ExpectedStore = .anyOrNew) throws -> InProcessEnclave {
        try InProcessEnclave(dataDirectory: dataDirectory, expecting: expected)
    }

    func path(_ name: String) -> String { "\(dataDirectory)/enclave/\(name)" }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    /// Every file of keys: its name and content.
    func contents() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path(""))
        return try Dictionary(uniqueKeysWithValues: names.filter { $0 != "lock" }.map { ($0, try read($0)) })
    }

    /// The opened protectors, for making files that only their owner can make.
    func withProtectors<R>(_ body: (borrowing Protectors) throws -> R) throws -> R {
        let folder = try PrivateDirectory(path(""), creating: false)
        let files = try AuthenticPair(
            .protectors, in: FilePair(directory: folder, name: "protectors", sizeLimit: AuthenticatedFile.largestFile))
        let keys = ProtectorKeys(try SoftwareSecretFile(in: folder), code: nil, hardware: NoHardware())
        let protectors = try Protectors.open(files, keys)
        return try body(protectors)
    }

    /// A keybag file as its owner writes it.
    func encodeKeybag(generation: UInt64, _ change: (KeybagBody) -> KeybagBody = { $0 }) throws -> [UInt8] {
        let file = try #require(AuthenticatedFile.parse(.keybag, try read("keybag.0")))
        let body = try #require(KeybagBody(parsing: file.uncheckedBody))
        return try withProtectors { protectors in
            AuthenticatedFile.encode(
                .keybag, generation: generation, body: change(body).encoded, root: protectors.root)
        }
    }

    /// The refusal of an opening that has to fail.
    func refusal(_ expected: ExpectedStore = .anyOrNew) -> Reason? {
        do throws(KeychainError) {
            _ = try InProcessEnclave(dataDirectory: dataDirectory, expecting: expected)
            return nil
        } catch {
            #expect(error.status == .notAvailable)
            return error.reason
        }
    }
}

extension RowBinding {
    /// A row of its own; unconstrained unless told otherwise. One with an access control
    /// has a name, as every row that is made today.
    static func row(
        _ protectionClass: ProtectionClass = .whenUnlocked, accessControl: [UInt8] = [], uuid: [UInt8]? = nil,
        shown: ShownItem = ShownItem(label: "item", group: "group")
    ) -> RowBinding {
        RowBinding(
            uuid: uuid ?? Random.bytes(16), protectionClass: protectionClass, accessControl: accessControl,
            shown: accessControl.isEmpty ? nil : shown)
    }
}

/// What can be said about an outcome without its key.
enum Fate: Hashable {
    case key, locked, needsAuthentication, damaged, noClassKey, effaced, wrongApplicationPassword
}

extension KeyOutcome {
    var fate: Fate {
        switch self {
        case .key: .key
        case .locked: .locked
        case .needsAuthentication: .needsAuthentication
        case .damaged: .damaged
        case .noClassKey: .noClassKey
        case .effaced: .effaced
        case .wrongApplicationPassword: .wrongApplicationPassword
        }
    }

    var secret: [UInt8]? { if case .key(let secret, _) = self { secret.bytes.insecureArray() } else { nil } }
    var wrapped: WrappedKey? { if case .key(_, let wrapped) = self { wrapped } else { nil } }
}

extension EnclaveCore {
    /// A keybag in memory, unlocked where no person is needed for that.
    static func opened(
        _ body: KeybagBody, _ root: consuming RootKey
    ) throws -> EnclaveCore {
        try EnclaveCore(
            Keybag(body, generation: 1, root: root), in: EphemeralStorage(), protectors: nil, unrepaired: [],
            attempts: AttemptCounter(failed: 0, at: .zero), cost: .calibrated)
    }
}

extension EnclaveConnection {
    /// Where no unlock before counts.
    func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID
    ) throws(KeychainError) -> Bool {
        try isMet(subject, in: session, reusing: .zero)
    }

    /// Where nobody has agreed to anything.
    func makeRowKeys(for rows: [RowBinding]) throws(KeychainError) -> [KeyOutcome] {
        try makeRowKeys(for: rows, in: nil)
    }

    func openRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) throws(KeychainError) -> [KeyOutcome] {
        try openRowKeys(rows, in: nil)
    }

    var indexBytes: [UInt8] { indexKey.bytes.insecureArray() }
}

/// A row key that was made, with everything that opens it again.
struct MadeKey {
    let binding: RowBinding
    let wrapped: WrappedKey
    let secret: [UInt8]

    init(in enclave: any EnclaveConnection, _ binding: RowBinding = .row()) throws {
        let outcome = try #require(try enclave.makeRowKeys(for: [binding]).first)
        self.binding = binding
        wrapped = try #require(outcome.wrapped)
        secret = try #require(outcome.secret)
    }

    /// Whether this enclave gives the same key again.
    func opens(in enclave: any EnclaveConnection) throws -> Bool {
        try enclave.openRowKeys([(binding, wrapped)]).map(\.secret) == [secret]
    }
}

/// A generator that gives the same numbers in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension ProcessHandle {
    /// Waits for the end of the process, 20 s at the most.
    var hasEndedSoon: Bool {
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while isAlive, !soon.hasPassed { sched_yield() }
        return !isAlive
    }
}
