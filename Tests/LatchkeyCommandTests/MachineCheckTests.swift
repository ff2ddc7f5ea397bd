import Foundation
import KeychainModel
import KeychainProtocol
import Testing

@testable import LatchkeyCommand

@Suite struct MachineCheckTests {
    private func object(_ outcome: BuiltPrograms.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any], "\(outcome.errors)")
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func doctorSaysWhatProtects() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let outcome = try programs.latchkey("doctor")
        #expect(outcome.status == 0 && outcome.text.contains("no passcode"), "\(outcome.text) \(outcome.errors)")
        let report = try object(try programs.latchkey("doctor", "--json"))
        #expect((report["protection"] as? String)?.contains("no passcode") == true)
        #expect((report["fixed"] as? [String])?.isEmpty == true)
    }

    /// The daemon refuses such a folder; doctor says which file and how to close it.
    @Test func filesThatAreOpenToOthersAreFoundAndClosed() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let data = programs.home + "/data/latchkey"
        for process in programs.processes("latchkeyd") + programs.processes("latchkey-enclave") {
            kill(process, SIGTERM)
        }
        for path in [data, data + "/keychain.db", data + "/enclave"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let refused = try programs.latchkey("doctor")
        #expect(refused.status != 0)
        #expect(refused.errors.contains("\(data) is open to others"), "\(refused.errors)")
        #expect(
            refused.errors.contains("chmod 700 '\(data)'") && refused.errors.contains("chmod 600 '\(data)/keychain.db'")
        )
        let fixed = try programs.latchkey("doctor", "--fix")
        #expect(fixed.status == 0, "\(fixed.text) \(fixed.errors)")
        #expect(fixed.text.contains("mended: \(data) is open to others"))
        #expect(try mode(data) == 0o700 && mode(data + "/enclave") == 0o700)
        #expect(try mode(data + "/keychain.db") == 0o600)
        #expect(try programs.latchkey("get", "mail").text == "canary")
        #expect(try object(try programs.latchkey("doctor", "--json"))["fixed"] as? [String] == [])
    }

    @Test func aSymbolicLinkIsNotFollowed() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let other = programs.home + "/other"
        try Data().write(to: URL(fileURLWithPath: other))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other)
        try FileManager.default.createSymbolicLink(
            atPath: programs.home + "/data/latchkey/link", withDestinationPath: other)
        #expect(try programs.latchkey("doctor", "--fix").status == 0)
        #expect(try mode(other) == 0o644)
    }

    @Test func anotherStoreAndAnotherVersionAreNamed() throws {
        var status = KeychainStatus()
        status.daemonProcess = 4242
        let session = SessionInformation(
            groups: ["a"], nameableGroups: [], strength: .user, isTemporary: false, identity: "x",
            missingFeatures: ["SO_PEERPIDFD"], serverVersion: "0.0.1")
        let surroundings = CommandRun.surroundings(on: FakeKeychain())
        let findings = MachineCheck(surroundings: surroundings, dataDirectory: "/nowhere").findings(status, session)
        #expect(findings.first?.mend == .endDaemon(process: 4242) && findings.first?.command == "kill 4242")
        #expect(findings.contains { $0.what.contains("SO_PEERPIDFD") })
        #expect(findings.contains { $0.what.contains("cannot be locked") })
    }
}
