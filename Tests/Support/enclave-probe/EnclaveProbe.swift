internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Another process than the test's own, for what an enclave makes of one.
///
/// `connect RUN UID`: 0 where the enclave of UID in RUN serves us, 1 where it
/// does not. `speak`: sends one byte on descriptor 3, a connection that
/// somebody else made. `hold RUN KIND COUNT`: takes connections for persons until its
/// input ends. With the options of `latchkey-enclave`: the same enclave, with
/// passcodes that cost next to nothing; by a name that ends in `-unconfined`, on a kernel
/// that has nothing to confine it with.
@main
struct EnclaveProbe {
    static func main() throws {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "connect" where arguments.count == 4:
            let enclave = RemoteEnclave(
                runDirectory: arguments[2], expecting: .anyOrNew, userID: UInt32(arguments[3]) ?? 0,
                clock: SystemClock())
            _ = try enclave.connect()
        case "speak":
            try PacketSocket(owning: Descriptor(owning: 3)).send([0x4C])
        case "hold" where arguments.count == 5: try hold(arguments[2], arguments[3], Int(arguments[4]) ?? 0)
        case "--data" where arguments.count == 7: try serve(Array(arguments[2...]))
        default:
            preconditionFailure(
                "connect RUN UID, speak, hold RUN KIND COUNT, or --data DATA --run RUN --ready-descriptor N")
        }
    }

    /// - Parameter kind: `silent`: nothing is said; `idle`: no more than one question;
    ///   `following`: the next state is waited for.
    private static func hold(_ folder: String, _ kind: String, _ count: Int) throws {
        let over = try EventSignal()
        over.signal()
        var sockets: [PacketSocket] = []
        var doors: [RemotePersonDoor] = []
        for _ in 0..<count {
            if kind == "silent" {
                let run = try PrivateDirectory(folder, creating: false)
                sockets.append(try PacketSocket.connectNow(to: PersonProtocol.socketName, in: run.descriptor))
                continue
            }
            let door = try RemotePersonDoor(runDirectory: folder, process: nil, clock: SystemClock())
            let state = try door.state()
            // Asked, and not waited for.
            if kind == "following" { _ = try door.state(after: state.number, orUntil: over) }
            doors.append(door)
        }
        try StandardStream.output.write(Array("held\n".utf8))
        withExtendedLifetime((sockets, doors)) { while readLine() != nil {} }
    }

    /// The test's bus, which a file names; nil: there is none.
    private static func bus(named file: String) -> ProgramSpawner.Program? {
        guard let folder = ProcessEnvironment.executableDirectory,
            let address = try? PrivateFile.readAll(file, atMost: 4096)
        else { return nil }
        let place = "PROBE_BUS=" + String(decoding: address, as: UTF8.self)
        return ProgramSpawner.Program("\(folder)/bus-probe", as: .peer, environment: [place])
    }

    private static func serve(_ arguments: [String]) throws {
        guard let cost = PasscodeCost.fixed(passes: 1, kibibytes: 8), let ready = Int32(arguments[4]) else {
            preconditionFailure("no such cost or descriptor")
        }
        let isUnconfined = CommandLine.arguments[0].hasSuffix("-unconfined")
        try EnclaveProcess(
            dataDirectory: arguments[0], runDirectory: arguments[2], clock: SystemClock(),
            limits: EnclaveServer.Limits(), cost: cost, features: isUnconfined ? .none : .all,
            helper: ProcessEnvironment.executableDirectory.map { "\($0)/\(HardwareHelper.programName)" },
            bus: bus(named: "\(arguments[0])/bus-of-test"),
            ready: ReadySignal(descriptor: Descriptor(owning: ready))
        ).run()
    }
}
