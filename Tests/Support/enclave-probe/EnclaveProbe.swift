internal import Enclave
internal import KeychainModel
internal import KeychainPlatform

/// Another process than the test's own, for what an enclave makes of one.
///
/// `connect RUN UID`: 0 where the enclave of UID in RUN serves us, 1 where it
/// does not. `speak`: sends one byte on descriptor 3, a connection that
/// somebody else made. With the options of `latchkey-enclave`: the same enclave, with
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
        case "--data" where arguments.count == 7: try serve(Array(arguments[2...]))
        default:
            preconditionFailure("connect RUN UID, speak, or --data DATA --run RUN --ready-descriptor N")
        }
    }

    private static func serve(_ arguments: [String]) throws {
        guard let cost = PasscodeCost.fixed(passes: 1, kibibytes: 8), let ready = Int32(arguments[4]) else {
            preconditionFailure("no such cost or descriptor")
        }
        let isUnconfined = CommandLine.arguments[0].hasSuffix("-unconfined")
        try EnclaveProcess(
            dataDirectory: arguments[0], runDirectory: arguments[2], clock: SystemClock(),
            limits: EnclaveServer.Limits(), cost: cost, features: isUnconfined ? .none : .all,
            ready: ReadySignal(descriptor: Descriptor(owning: ready))
        ).run()
    }
}
