import Foundation
import KeychainAuthentication
import KeychainClient
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import Testing

/// `latchkey slot add fingerprint` and `unlock --finger` with the real programs and a real
/// fprintd; latchkey-bus is the one that trusts the bus of a test.
@Suite(.enabled(if: PrivateBus.isInstalled, "dbus, fprintd, python3-dbus or python3-gi is missing"))
struct FingerEndToEndTests {
    private let forms: JSONFormTests
    private let bus: PrivateBus
    private let installed: FingerPrograms
    private var folder: String { installed.folder }
    private var programs: BuiltPrograms { forms.programs }

    init() throws {
        forms = try JSONFormTests()
        bus = try PrivateBus()
        installed = try FingerPrograms()
        try installed.name(bus)
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try latchkey("passcode", "set", typed: "words words").status == 0)
    }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(
            "\(folder)/latchkey", arguments, input: Data(typed.utf8), changing: ["PATH": "\(folder):/usr/bin:/bin"])
    }

    private func status() throws -> [String: Any] {
        let output = try latchkey("status", "--json").output
        return try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
    }

    private func checkForm(_ name: String, _ outcome: BuiltPrograms.Outcome) throws {
        try #require(outcome.status == 0, "\(outcome.errors)")
        let value = try JSONSerialization.jsonObject(with: outcome.output)
        let form = try #require(forms.forms[name])
        #expect(JSONFormTests.differences(value, form, name) == [])
    }

    /// Puts fingers on the reader, each once that looks, beside a command.
    private func touching(
        _ fingers: [String], _ arguments: String...
    ) throws -> BuiltPrograms.Outcome {
        let process = programs.start(
            "\(folder)/latchkey", arguments, changing: ["PATH": "\(folder):/usr/bin:/bin"])
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        for finger in fingers {
            #expect(try bus.tell("await-finger") == "needed")
            try bus.tell("reader SCAN \(finger)")
        }
        process.waitUntilExit()
        return BuiltPrograms.Outcome(
            status: process.terminationStatus, output: output.fileHandleForReading.availableData,
            errors: String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self))
    }

    @Test func aFingerOpensWhatWasLocked() throws {
        let none = try latchkey("slot", "add", "fingerprint", typed: "words words")
        #expect(none.status == 3 && none.errors.contains("no finger is enrolled"), "\(none.errors)")
        #expect(try bus.tell("enroll right") == "enroll-completed")
        let early = try latchkey("unlock", "--finger")
        #expect(early.status == 3 && early.errors.contains("`latchkey slot add fingerprint`"))
        // What was seen of the reader before is good for five seconds.
        #expect(
            try Waiting.eventually {
                try latchkey("slot", "add", "fingerprint", typed: "words words").status == 0
            })
        #expect(try latchkey("slot", "list").text.contains("fingerprint\t00000000\t\ta finger, after a lock"))
        try checkForm("slot list", try latchkey("slot", "list", "--json"))
        #expect(try status()["fingerUnlocks"] as? Bool == true)
        #expect(try status()["fingerOpensNow"] as? Bool == false)

        #expect(try latchkey("lock").status == 0)
        #expect(try latchkey("get", "mail", "alice").status == 3)
        #expect(try status()["fingerOpensNow"] as? Bool == true)
        let unlocks = "Unlocks       when a person comes, or a finger after a lock, also now\n"
        #expect(try latchkey("status").text.contains(unlocks))
        let opened = try touching(["wrong", "right"], "unlock", "--finger", "--json")
        #expect(opened.errors.contains("Put a finger on the reader.") && opened.errors.contains("Not recognized."))
        try checkForm("unlock", opened)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        // Nothing is waited for where it is open.
        #expect(try latchkey("unlock", "--finger").status == 0)
        // With a passcode a person is asked before the record is shown.
        #expect(try latchkey("passcode", "remove", "--yes", typed: "words words").status == 0)
        let log = try latchkey("log").text
        for event in ["finger-added", "unlocked-by-finger"] { #expect(log.contains(event)) }
    }

    /// What a program with an LAContext of its own gets of it, without asking anybody.
    @Test func aProgramSaysHowOldTheFingerMayBe() async throws {
        #expect(try bus.tell("enroll right") == "enroll-completed")
        #expect(
            try Waiting.eventually {
                try latchkey("slot", "add", "fingerprint", typed: "words words").status == 0
            })
        let data = programs.home + "/data/latchkey"
        let locations = KeychainLocations(dataDirectory: data, runDirectory: data + "/run")
        let transport = DaemonConnectionPool(ClientConfiguration(target: .store(locations, autostart: false)))
        func code(_ policy: LAPolicy, within seconds: TimeInterval) async -> LAError.Code? {
            await CurrentKeychain.$scoped.withValue(transport) {
                let context = LAContext()
                context.interactionNotAllowed = true
                context.touchIDAuthenticationAllowableReuseDuration = seconds
                do {
                    #expect(try await context.evaluatePolicy(policy, localizedReason: "pay"))
                    return nil
                } catch { return (error as? LAError)?.code }
            }
        }
        // The passcode opened it, which is no finger.
        #expect(await code(.deviceOwnerAuthenticationWithBiometrics, within: 300) == .notInteractive)
        #expect(try latchkey("lock").status == 0)
        #expect(try touching(["right"], "unlock", "--finger").status == 0)
        #expect(await code(.deviceOwnerAuthenticationWithBiometrics, within: 300) == nil)
        #expect(await code(.deviceOwnerAuthentication, within: 300) == nil)
        #expect(await code(.deviceOwnerAuthenticationWithBiometrics, within: 0) == .notInteractive)
    }

    @Test func fiveWrongFingersNeedThePasscode() throws {
        #expect(try bus.tell("enroll right") == "enroll-completed")
        #expect(try latchkey("slot", "add", "fingerprint", typed: "words words").status == 0)
        #expect(try latchkey("lock").status == 0)
        let refused = try touching(Array(repeating: "wrong", count: 5), "unlock", "--finger")
        #expect(refused.status == 3, "\(refused.errors)")
        #expect(refused.errors.contains("a finger counts again once the passcode was typed"))
        #expect(refused.errors.hasSuffix("`latchkey unlock` takes the passcode.\n"))
        #expect(try latchkey("unlock", "--finger").status == 3)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        // With the programs goes what was kept; the choice stays.
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(try latchkey("unlock", "--finger").status == 3)
        #expect(try status()["fingerUnlocks"] as? Bool == true)
        #expect(try latchkey("slot", "remove", "fingerprint", typed: "words words").status == 0)
        #expect(try status()["fingerUnlocks"] as? Bool == false)
    }

    @Test func whatCannotBeIsSaid() throws {
        #expect(try latchkey("unlock", "--finger", "--login").status == 2)
        #expect(try latchkey("unlock", "--finger", "--passcode-fd", "0").status == 2)
        #expect(try latchkey("slot", "add", "fingerprint", "--at", "swtpm:/x").status == 2)
        #expect(try latchkey("slot", "remove", "fingerprint", typed: "words words").status == 1)
        #expect(try latchkey("passcode", "remove", "--yes", typed: "words words").status == 0)
        let open = try latchkey("unlock", "--finger")
        #expect(open.status == 2 && open.errors.contains("there is no passcode"))
    }
}
