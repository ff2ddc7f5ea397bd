import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A row key that was made, with everything that opens it again.
struct KeptKey {
    let binding: RowBinding
    let wrapped: WrappedKey
    let secret: [UInt8]

    init(_ protectionClass: ProtectionClass, in enclave: any EnclaveConnection) throws {
        binding = RowBinding(uuid: Random.bytes(16), protectionClass: protectionClass, accessControl: [])
        guard case .key(let secret, let wrapped)? = try enclave.makeRowKeys(for: [binding], in: nil).first else {
            throw Unmade(protectionClass: protectionClass)
        }
        self.wrapped = wrapped
        self.secret = secret.bytes.insecureArray()
    }

    struct Unmade: Error { let protectionClass: ProtectionClass }

    enum Fate: Hashable {
        case opens
        case effaced
        case other(String)
    }

    func fate(in enclave: any EnclaveConnection) throws -> Fate {
        switch try enclave.openRowKeys([(binding, wrapped)], in: nil).first {
        case .key(let found, _)?: found.bytes.insecureArray() == secret ? .opens : .other("another key")
        case .effaced?: .effaced
        case let outcome: .other("\(String(describing: outcome))")
        }
    }
}

/// What a person knows of a keychain.
struct Credentials: Equatable {
    var passcode: String?
    var code: String?
    var login: String?
    /// What the keychain is bound to beside the software file, by their addresses.
    var tpms: Set<String> = []
}

/// An enclave on a folder of its own, started where none runs, as a daemon and a
/// person find it; what was started ends with this object.
final class PasscodeHome {
    /// The same enclave with passcodes that cost next to nothing.
    static let cheap = "enclave-probe"
    static let shipped = "latchkey-enclave"
    /// As ``cheap``, for calls that strace fails: it makes another call of them, at which
    /// the kernel ends a process that is held to a list.
    static let unconfined = "enclave-probe-unconfined"

    let folder: TemporaryDirectory
    let tpms: [SoftwareTPM]
    private let launcher: EnclaveLauncher
    private(set) var enclave: any EnclaveConnection
    private(set) var process: Int32

    init(_ program: String, tpms: [SoftwareTPM] = []) throws {
        self.tpms = tpms
        folder = try TemporaryDirectory("passcode")
        var executable = "\(FaultHome.programs)/\(program)"
        if program == Self.unconfined {
            executable = folder.path(program)
            try FileManager.default.createSymbolicLink(
                atPath: executable, withDestinationPath: "\(FaultHome.programs)/\(Self.cheap)")
        }
        launcher = EnclaveLauncher(
            executable: executable, dataDirectory: folder.path("data"),
            runDirectory: folder.path("run"), expecting: .anyOrNew, clock: SystemClock())
        enclave = try launcher.connect()
        process = try enclave.describe().processID
    }

    deinit { kill(process, SIGKILL) }

    func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: folder.path("run"), process: process, clock: SystemClock())
    }

    /// Has a block of the audit record made that is on the disk, as far as the enclave knows.
    func record() throws {
        let block = try #require(try enclave.sealAudit([1], fromFile: 0))
        #expect(try enclave.confirmAudit(block) == block.place.at(block.place.index + 1))
    }

    /// Waits for the end of an enclave that was killed, and starts another.
    func startAnother() throws {
        try FaultHome.waitForEnd(of: process)
        enclave = try launcher.connect()
        process = try enclave.describe().processID
    }

    /// Every file of the enclave's folder that is not its lock.
    func copy() throws -> [String: Data] {
        let path = folder.path("data/enclave")
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lock" }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)"))) })
    }

    /// Kills the enclave and starts another, on a copy from before.
    func startAnother(on copy: [String: Data]) throws {
        kill(process, SIGKILL)
        try FaultHome.waitForEnd(of: process)
        for (name, bytes) in copy {
            try bytes.write(to: URL(fileURLWithPath: "\(folder.path("data/enclave"))/\(name)"))
        }
        try startAnother()
    }

    /// Whether these open it, all of them, and nothing else is set.
    func isOpened(by credentials: Credentials) throws -> Bool {
        let door = try door()
        let state = try door.state()
        guard state.hasPasscode == (credentials.passcode != nil), state.hasRecoveryCode == (credentials.code != nil)
        else { return false }
        if let passcode = credentials.passcode {
            guard try door.accepts(.passcode(.text(passcode))) else { return false }
        }
        if let code = credentials.code {
            guard try door.accepts(.recoveryCode(.text(code))) else { return false }
        }
        if !tpms.isEmpty, Set(try door.protectors().compactMap { $0.address?.description }) != credentials.tpms {
            return false
        }
        let hasLogin = try door.slots().contains { $0.kind == "login" }
        guard hasLogin == (credentials.login != nil) else { return false }
        guard let login = credentials.login else { return true }
        return try accepting { () throws(KeychainError) in try door.unlock(byLogin: .text(login)) }
    }

    /// The secret that the file of effacement holds; nil: none.
    func effacementSecret() throws -> Data? {
        let file = try effacementFile()
        let places = [0, 4096].compactMap { start -> Data? in
            guard file.count >= start + 92, file[start..<start + 8] == Data("LKEFFACE".utf8) else { return nil }
            return Data(file[start + 28..<start + 60])
        }
        return places.first
    }

    func effacementFile() throws -> Data {
        let place = "\(folder.path("data"))/enclave/effacement"
        guard FileManager.default.fileExists(atPath: place) else { return Data() }
        return try Data(contentsOf: URL(fileURLWithPath: place))
    }
}

extension PersonDoor {
    fileprivate func accepts(_ credential: PersonCredential) throws -> Bool {
        try accepting { () throws(KeychainError) in try unlock(with: credential) }
    }
}

private func accepting(_ unlock: () throws(KeychainError) -> Void) throws -> Bool {
    do throws(KeychainError) {
        try unlock()
        return true
    } catch {
        guard error.reason == .authenticationFailed else { throw error }
        return false
    }
}

extension SharedSecret {
    static func text(_ text: String) -> SharedSecret { SharedSecret(SecretBytes(copying: Array(text.utf8))) }

    var text: String { String(decoding: bytes.insecureArray(), as: UTF8.self) }
}
