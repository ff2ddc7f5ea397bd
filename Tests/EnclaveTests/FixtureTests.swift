import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import Enclave

/// A keybag of every version that was ever written opens for ever.
@Suite struct FixtureTests {
    /// What the keys of a fixture are, kept beside its files.
    private struct Expected: Codable {
        struct Row: Codable {
            var uuid: [UInt8]
            var protectionClass: String
            var accessControl: [UInt8]
            var generation: UInt32
            var box: [UInt8]
            var key: [UInt8]
        }

        /// What `attempts` says of it.
        struct Counter: Codable {
            var label: [UInt8]
            var count: UInt64
            var keybag: UInt64
            var protectors: UInt64

            init?(_ file: [UInt8]) {
                guard let file = AuthenticatedFile.parse(.attempts, file), file.version == 2,
                    let anchor = AttemptsBody(parsing: file.uncheckedBody)?.anchor
                else { return nil }
                (label, count) = (anchor.label, anchor.count)
                (keybag, protectors) = (anchor.least.keybag, anchor.least.protectors)
            }
        }

        /// From version 2; what the keybag opened with when it was written. Of version 3 the
        /// passcode is looked at by a TPM that is gone.
        var passcode: String?
        var recoveryCode: String?
        /// Where there is a slot that opens without a person.
        var slotCredential: String?
        /// Where it locks by itself.
        var lockAfterSeconds: UInt32?
        /// Whether a finger opens it again after a lock.
        var fingerUnlocks: Bool?
        /// Where there is a slot of the login password.
        var loginPassword: String?
        /// Where a TPM counted.
        var counter: Counter?
        var store: [UInt8]
        var indexKey: [UInt8]
        var rows: [Row]
        var metadata: [Row]
    }

    private enum Opening {
        /// It needs no person.
        case itself
        case person(PersonCredential)
        case slot(SharedSecret)
        case login(SharedSecret)
    }

    @Test(arguments: [
        "keybag-1", "keybag-2", "keybag-slots", "keybag-autolock", "keybag-login", "keybag-3", "keybag-finger",
        "keybag-4",
    ])
    func everyOldKeybagOpens(name: String) throws {
        for opening in try openings(of: name) { try open(name, by: opening) }
    }

    private func openings(of name: String) throws -> [Opening] {
        let (_, expected) = try fixture(name)
        guard let code = expected.recoveryCode else { return [.itself] }
        var openings: [Opening] = [.person(.recoveryCode(.text(code)))]
        if let passcode = expected.passcode { openings.append(.person(.passcode(.text(passcode)))) }
        if let credential = expected.slotCredential { openings.append(.slot(.text(credential))) }
        if let password = expected.loginPassword { openings.append(.login(.text(password))) }
        return openings
    }

    private func fixture(_ name: String) throws -> (URL, Expected) {
        let fixture = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(name)")
        let expected = try JSONDecoder().decode(
            Expected.self, from: Data(contentsOf: fixture.appending(path: "expected.json")))
        return (fixture, expected)
    }

    private func open(_ name: String, by opening: Opening) throws {
        let (fixture, expected) = try fixture(name)
        let home = try EnclaveHome()
        _ = try PrivateDirectory(home.path(""), creating: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: fixture.path) where file != "expected.json" {
            try home.write(file, Array(try Data(contentsOf: fixture.appending(path: file))))
        }
        let enclave = try home.open(.named(expected.store))
        defer { enclave.close() }
        #expect(enclave.indexBytes == expected.indexKey)
        #expect(enclave.state().lockPolicy.idleSeconds == expected.lockAfterSeconds)
        #expect(enclave.state().fingerUnlocks == (expected.fingerUnlocks ?? false))
        var closed: ProtectionClass?
        // Of version 4 the effacement secret is in a TPM that is gone.
        let isInTPM = name == "keybag-4"
        #expect((enclave.state().effacement.tpm != nil) == isInTPM)
        if isInTPM { closed = .whenPasscodeSetThisDeviceOnly }
        switch opening {
        case .itself: #expect(Set(expected.rows.map(\.protectionClass)).count == 6)
        case .person(let credential):
            try enclave.unlock(with: credential)
            #expect(Set(expected.rows.map(\.protectionClass)).count == 7)
            #expect((enclave.state().effacement.fault != nil) == isInTPM)
        case .login(let password):
            try enclave.unlock(byLogin: password)
            #expect(Set(expected.rows.map(\.protectionClass)).count == 7)
        case .slot(let credential):
            try enclave.unlock(bySlot: credential)
            closed = .whenPasscodeSetThisDeviceOnly
        }
        for row in expected.rows where row.protectionClass != closed?.rawValue {
            let named = try #require(ProtectionClass(rawValue: row.protectionClass))
            let binding = RowBinding(uuid: row.uuid, protectionClass: named, accessControl: row.accessControl)
            let outcome = enclave.openRowKeys([(binding, WrappedKey(generation: row.generation, box: row.box))])
            #expect(outcome.map(\.secret) == [row.key])
        }
        for key in expected.metadata where key.protectionClass != closed?.rawValue {
            let named = try #require(ProtectionClass(rawValue: key.protectionClass))
            let outcome = enclave.openMetadataKey(WrappedKey(generation: key.generation, box: key.box), of: named)
            #expect(outcome.secret == key.key)
        }
    }

    private func home(with fixture: URL) throws -> EnclaveHome {
        let home = try EnclaveHome()
        _ = try PrivateDirectory(home.path(""), creating: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: fixture.path) where file != "expected.json" {
            try home.write(file, Array(try Data(contentsOf: fixture.appending(path: file))))
        }
        return home
    }

    /// Version 5, and `attempts` of version 2: what it says of the count is what was counted,
    /// and neither more nor two less opens it.
    @Test func theCountOfAnOldFolderIsReadAsItWasWritten() throws {
        let (fixture, expected) = try fixture("keybag-5")
        let counter = try #require(expected.counter)
        for copy in ["attempts.0", "attempts.1"] {
            let found = try #require(Expected.Counter(Array(try Data(contentsOf: fixture.appending(path: copy)))))
            #expect(found.label == counter.label && found.count == counter.count)
            #expect(found.keybag == counter.keybag && found.protectors == counter.protectors)
        }
        let code = SharedSecret.text(try #require(expected.recoveryCode))
        for (value, opens) in [
            (counter.count, true), (counter.count - 1, true), (counter.count + 1, false), (counter.count - 2, false),
        ] {
            let home = try home(with: fixture)
            let hardware = PlayedCounter(label: counter.label, value: value)
            let open = {
                try InProcessEnclave(
                    dataDirectory: home.dataDirectory, expecting: .named(expected.store), hardware: hardware,
                    recoveryCode: code)
            }
            guard opens else {
                #expect { try open() } throws: { error in
                    if case .folderRefused = (error as? KeychainError)?.reason { true } else { false }
                }
                continue
            }
            let enclave = try open()
            defer { enclave.close() }
            try enclave.unlock(with: .passcode(.text(try #require(expected.passcode))))
            #expect(enclave.state().counter.tpm != nil && enclave.state().counter.fault == nil)
            let row = try #require(expected.rows.last)
            let named = try #require(ProtectionClass(rawValue: row.protectionClass))
            let binding = RowBinding(uuid: row.uuid, protectionClass: named, accessControl: row.accessControl)
            let outcome = enclave.openRowKeys([(binding, WrappedKey(generation: row.generation, box: row.box))])
            #expect(outcome.map(\.secret) == [row.key])
        }
    }

    /// Version 5: a TPM counted, which is gone. The recovery code gives it up.
    @Test func aKeybagWhoseCounterIsGoneOpensWithTheRecoveryCode() throws {
        let (fixture, expected) = try fixture("keybag-5")
        let home = try home(with: fixture)
        let server = try RunningServer(home: home, hardware: HardwareScene.hardware)
        defer { server.end() }
        #expect(throws: KeychainError.self) { try server.connect() }
        let door = try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
        let code = SharedSecret.text(try #require(expected.recoveryCode))
        #expect(throws: KeychainError.self) { try door.unlock(with: .recoveryCode(code)) }
        try door.acceptCopy(code: code, givingUp: true)
        try door.unlock(with: .passcode(.text(try #require(expected.passcode))))
        let daemon = try server.connect()
        for row in expected.rows {
            let named = try #require(ProtectionClass(rawValue: row.protectionClass))
            let binding = RowBinding(uuid: row.uuid, protectionClass: named, accessControl: row.accessControl)
            let outcome = try daemon.openRowKeys([(binding, WrappedKey(generation: row.generation, box: row.box))])
            #expect(outcome.map(\.secret) == [row.key])
        }
    }

    /// Run once for each new version: LATCHKEY_WRITE_FIXTURE=keybag-N.
    @Test(.enabled(if: ProcessEnvironment.variable("LATCHKEY_WRITE_FIXTURE") != nil, "writes a new fixture"))
    func writeFixture() throws {
        let name = try #require(ProcessEnvironment.variable("LATCHKEY_WRITE_FIXTURE"))
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
        try FileManager.default.createDirectory(at: fixture, withIntermediateDirectories: true)
        let home = try EnclaveHome()
        let enclave = try home.cheap(biometry: PlayedReader())
        var expected = Expected(store: enclave.storeID, indexKey: enclave.indexBytes, rows: [], metadata: [])
        // Keys of the generation before the passcode, too.
        try add(ProtectionClass.allCases.filter { ClassKeyParent(of: $0) != .person }, of: enclave, to: &expected)
        let passcode = "a passcode of a fixture"
        try enclave.setPasscode(.text(passcode))
        let code = try enclave.makeRecoveryCode(passcode: .text(passcode))
        try enclave.confirmRecoveryCode(code)
        expected.passcode = passcode
        expected.recoveryCode = String(decoding: code.bytes.insecureArray(), as: UTF8.self)
        let slot = try enclave.addCredentialSlot(passcode: .text(passcode))
        expected.slotCredential = String(decoding: slot.bytes.insecureArray(), as: UTF8.self)
        expected.lockAfterSeconds = 900
        try enclave.setLockPolicy(try #require(LockPolicy(idleSeconds: 900)), passcode: .text(passcode))
        let password = "a login password of a fixture"
        try enclave.addLoginSlot(.text(password), passcode: .text(passcode))
        expected.loginPassword = password
        try enclave.addFingerSlot(passcode: .text(passcode))
        expected.fingerUnlocks = true
        try add(ProtectionClass.allCases, of: enclave, to: &expected)
        enclave.close()
        if name == "keybag-3" {
            try changeWithTPM(in: home) { door, tpm in
                try door.guardPasscode(by: tpm, passcode: .text(passcode), code: code)
            }
            expected.passcode = nil
        }
        if name == "keybag-4" {
            try changeWithTPM(in: home) { door, tpm in
                try door.keepEffacement(in: tpm, passcode: .text(passcode), code: code)
            }
        }
        if name == "keybag-5" {
            try changeWithTPM(in: home) { door, tpm in
                _ = try door.addProtector(tpm, passcode: .text(passcode))
                let software = try #require(try door.protectors().first { $0.kind == "software-file" })
                _ = try door.removeProtector(
                    software.identifier, passcode: .text(passcode), code: code, withoutCode: false)
                try door.count(in: tpm, passcode: .text(passcode), code: code)
            }
            expected.counter = Expected.Counter(try home.read("attempts.0"))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(expected).write(to: fixture.appending(path: "expected.json"))
        for (file, bytes) in try home.contents() { try Data(bytes).write(to: fixture.appending(path: file)) }
    }

    private func changeWithTPM(
        in home: EnclaveHome, _ change: (RemotePersonDoor, TPMAddress?) throws -> Void
    ) throws {
        let tpm = try SoftwareTPM()
        let server = try RunningServer(home: home, hardware: HardwareScene.hardware)
        defer { server.end() }
        _ = try server.connect()
        let door = try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
        try change(door, TPMAddress(tpm.address))
    }

    private func add(_ classes: [ProtectionClass], of enclave: InProcessEnclave, to expected: inout Expected) throws {
        for named in classes {
            let accessControl = named == .always ? [] : AccessControl(unconstrained: named).encoded
            let row = try MadeKey(
                in: enclave,
                RowBinding(uuid: Random.bytes(16), protectionClass: named, accessControl: accessControl))
            expected.rows.append(
                .init(
                    uuid: row.binding.uuid, protectionClass: named.rawValue, accessControl: accessControl,
                    generation: row.wrapped.generation, box: row.wrapped.box, key: row.secret))
            let key = enclave.makeMetadataKey(for: named)
            let wrapped = try #require(key.wrapped)
            expected.metadata.append(
                .init(
                    uuid: [], protectionClass: named.rawValue, accessControl: [], generation: wrapped.generation,
                    box: wrapped.box, key: try #require(key.secret)))
        }
    }
}

/// A TPM that has one counter and nothing else.
private final class PlayedCounter: HardwareDoor {
    private let label: [UInt8]
    private let value: Mutex<UInt64>

    init(label: [UInt8], value: UInt64) {
        self.label = label
        self.value = Mutex(value)
    }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        switch request {
        case .readCounter(let index, _) where index.label == label: return .count(value.withLock { $0 })
        case .raiseCounter(let index, let target, _, _) where index.label == label:
            return .count(
                value.withLock { value in
                    if value + 1 == target { value = target }
                    return value
                })
        default: throw .failed("there is no such TPM")
        }
    }
}
