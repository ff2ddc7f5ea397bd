internal import Foundation
internal import KeychainPlatform

/// The programs that were built, in a folder where latchkey-bus is the one that trusts a
/// bus of the test's own (bus-probe).
package final class FingerPrograms: Sendable {
    package let folder: String
    private static let built = ProcessEnvironment.executableDirectory ?? "."

    package init() throws {
        // Beside the programs: a hard link needs their file system.
        let name = Random.bytes(4).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        folder = "\(Self.built)/finger-\(name)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let places = ["latchkey", "latchkeyd", "latchkey-enclave", "latchkey-prompt"].map { ($0, $0) }
        for (program, place) in places + [("bus-probe", "latchkey-bus")] {
            try FileManager.default.linkItem(atPath: "\(Self.built)/\(program)", toPath: "\(folder)/\(place)")
        }
    }

    deinit {
        // What a test leaves behind is no reason to fail it.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Which bus it is that is trusted.
    package func name(_ bus: PrivateBus) throws {
        try Data(bus.path.utf8).write(to: URL(fileURLWithPath: folder + "/bus"))
    }
}
