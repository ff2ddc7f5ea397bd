import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Messages that no library would send, and clients that leave in the middle of theirs
/// (Tests/Support/hostile-bus.py, which says of each what it expects).
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: SecretServiceClients.areInstalled, "dbus, libsecret-tools, python3-keyring or python3-dbus is missing")
)
struct HostileBusTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Support/hostile-bus.py").path

    /// LATCHKEY_FAULT_SEED repeats a run.
    private static let seed =
        ProcessEnvironment.variable("LATCHKEY_FAULT_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...0xFFFF_FFFF)

    private static let isLong = ProcessEnvironment.variable("LATCHKEY_LONG_FAULTS") == "1"

    private func expectSound(_ programs: BuiltPrograms) throws {
        let doctor = try programs.latchkey("doctor", "--verify")
        #expect(doctor.status == 0, "\(doctor.text)\(doctor.errors)")
    }

    @Test(arguments: ["messages", "departures", "sessions", "mutations"])
    func withoutABusNobodyIsHarmed(by attack: String) throws {
        let programs = try BuiltPrograms()
        let outcome = try programs.run(
            BuiltPrograms.latchkey,
            [
                "secret-service", "exec", "--", "/usr/bin/python3", Self.script, attack, "\(Self.seed)",
                Self.isLong ? "100000" : "1500",
            ])
        #expect(outcome.status == 0 && outcome.text.hasSuffix("done\n"), "\(outcome.text)\(outcome.errors)")
        try expectSound(programs)
    }

    @Test(arguments: ["messages", "departures", "sessions"])
    func onABusNobodyIsHarmed(by attack: String) throws {
        let scene = try SecretServiceScene()
        let outcome = try scene.client("/usr/bin/python3", [Self.script, attack, "\(Self.seed)"])
        #expect(outcome.status == 0 && outcome.text.hasSuffix("done\n"), "\(outcome.text)\(outcome.errors)")
        #expect(scene.service.isRunning)
        try expectSound(scene.programs)
    }
}
