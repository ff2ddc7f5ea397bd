internal import Enclave
internal import KeychainModel
internal import KeychainPlatform

/// Another process than the test's own, for what an enclave makes of one.
///
/// `connect RUN UID`: 0 where the enclave of UID in RUN serves us, 1 where it
/// does not. `speak`: sends one byte on descriptor 3, a connection that
/// somebody else made.
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
        default:
            preconditionFailure("connect RUN UID, or speak")
        }
    }
}
