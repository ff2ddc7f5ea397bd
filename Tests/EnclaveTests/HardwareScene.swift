import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A store with one key in it, whose enclave is started again as often as wanted.
final class HardwareScene {
    let home: EnclaveHome
    let tpm: SoftwareTPM
    private(set) var server: RunningServer
    private(set) var daemon: (any EnclaveConnection)?

    private let hands: any HardwareDoor

    /// - Parameter hands: those that know security keys of the test's own.
    init(_ hands: any HardwareDoor = HardwareScene.hardware) throws {
        self.hands = hands
        home = try EnclaveHome()
        tpm = try SoftwareTPM()
        server = try RunningServer(home: home, hardware: hands)
        daemon = try server.connect()
    }

    private static let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    static var hardware: any HardwareDoor { hands(HardwareHelper.programName) }

    static func path(of program: String) -> String { "\(products)/\(program)" }

    static func hands(_ program: String, _ arguments: String...) -> any HardwareDoor {
        let path = path(of: program)
        return HardwareHelper(clock: SystemClock()) { descriptor throws(SystemCallError) in
            try DaemonStarter.start(path, arguments: arguments, environment: [], keeping: descriptor)
        }
    }

    func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
    }

    /// Ends the enclave; nobody has opened the keybag of the next one.
    func startAgain(
        startThread: @escaping PersonDesk.Start = { body throws(SystemCallError) in try BackgroundThread.start(body) }
    ) throws {
        daemon = nil
        server.end()
        server = try RunningServer.again(home: home, hardware: hands, startThread: startThread)
    }

    func open() throws -> any EnclaveConnection {
        let connection = try server.connect()
        daemon = connection
        return connection
    }

    func opened() throws -> any EnclaveConnection { try daemon ?? open() }

    func refusal() -> KeychainError? {
        do throws(KeychainError) {
            _ = try server.connector().connect()
            return nil
        } catch { return error }
    }

    /// The identifier of the one of that kind.
    func name(_ kind: String) throws -> [UInt8] {
        try #require(try door().protectors().first { $0.kind == kind }).identifier
    }

    func addTPM(_ passcode: SharedSecret? = nil) throws {
        _ = try door().addProtector(TPMAddress(tpm.address), passcode: passcode)
    }

    func remove(
        _ kind: String, passcode: SharedSecret? = nil, code: SharedSecret? = nil, withoutCode: Bool = false
    ) throws {
        _ = try door().removeProtector(
            try name(kind), passcode: passcode, code: code, withoutCode: withoutCode)
    }

    func makeCode(_ passcode: SharedSecret? = nil) throws -> SharedSecret {
        let door = try door()
        let code = try door.makeRecoveryCode(passcode: passcode)
        try door.confirmRecoveryCode(code)
        return code
    }

    var kinds: [String] { get throws { try door().protectors().map(\.kind) } }
    var files: Set<String> { get throws { Set(try home.contents().keys) } }
}
