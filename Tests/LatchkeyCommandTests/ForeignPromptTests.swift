import Foundation
import KeychainTestSupport
import Testing

/// A locked collection of another Secret Service, whose own program asks a person for the
/// password (Tests/Support/locked-provider.py).
@Suite(.enabled(if: SecretServiceClients.areInstalled, "dbus, python3-keyring or python3-dbus is missing"))
struct ForeignPromptTests {
    private let programs: BuiltPrograms
    private let session: PrivateSession

    init() throws {
        programs = try BuiltPrograms()
        session = try PrivateSession()
    }

    /// The provider, once it has the name, and the file with what it was asked for.
    private func provider(_ mode: String) throws -> (process: TestProcess, heard: () -> [String]) {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Support/locked-provider.py").path
        let path = programs.home + "/heard"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let process = programs.start("/usr/bin/python3", [script, mode], changing: bus)
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try process.run()
        let question = "import dbus, sys; sys.exit(not dbus.SessionBus().name_has_owner('org.freedesktop.secrets'))"
        let hasName = try BuiltPrograms.eventually {
            try programs.run("/usr/bin/python3", ["-c", question], changing: bus).status == 0
        }
        #expect(hasName)
        let heard = {
            let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").map(String.init)
        }
        return (process, heard)
    }

    private var bus: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": session.address] }

    /// Where a person could be asked: the provider itself shows nothing.
    private func imported(_ arguments: String..., display: String = ":77") throws -> BuiltPrograms.Outcome {
        try programs.run(
            BuiltPrograms.latchkey, ["import", "--from", "secret-service"] + arguments,
            changing: bus.merging(["DISPLAY": display]) { one, _ in one })
    }

    /// Of which collections a client of our own service finds the item.
    private var taken: [String] {
        get throws {
            try ["locked", "open"].filter { collection in
                let place = "/org/freedesktop/secrets/collection/\(collection)/1"
                let found = try programs.latchkey(
                    "secret-service", "exec", "--", "/usr/bin/secret-tool", "lookup", "place", place)
                return found.text == "value of \(collection)"
            }
        }
    }

    @Test func whatAPersonOpensIsTakenAndClosedAgain() throws {
        let (process, heard) = try provider("accepted")
        defer { process.killNow() }
        let outcome = try imported()
        #expect(outcome.status == 0 && outcome.text.contains("Has added 2."), "\(outcome.text)\(outcome.errors)")
        #expect(heard() == ["prompted", "locked"])
        #expect(try taken == ["locked", "open"])
    }

    @Test(arguments: [
        ("dismissed", "unlocking the collection was declined"),
        ("refused", "no display"), ("leaving", "has ended"),
    ])
    func whatNobodyOpensIsNamedAndTheRestIsTaken(mode: String, said: String) throws {
        let (process, heard) = try provider(mode)
        defer { if process.isRunning { process.killNow() } }
        let outcome = try imported()
        let isThere = mode != "leaving"
        #expect(outcome.status == 1, "\(outcome.status) \(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("The locked") && outcome.text.contains(said), "\(outcome.text)\(outcome.errors)")
        #expect(heard() == ["prompted"])
        #expect(try taken == (isThere ? ["open"] : []))
    }

    /// The question is taken back then.
    @Test func aQuestionThatNobodyAnswersHasAnEnd() throws {
        let (process, heard) = try provider("silent")
        defer { process.killNow() }
        let outcome = try programs.run(
            "\(BuiltPrograms.folder)/latchkey-secret-service",
            ["--read-out", "secret-service", "--answer-within", "1"],
            changing: bus.merging(["DISPLAY": ":77"]) { one, _ in one })
        #expect(outcome.text.contains("nobody unlocked the collection"), "\(outcome.text)\(outcome.errors)")
        #expect(outcome.text.contains("item of open"))
        #expect(heard() == ["prompted", "dismissed"])
    }

    @Test func whereNobodyCanBeAskedNobodyIs() throws {
        let (process, heard) = try provider("accepted")
        defer { process.killNow() }
        let outcome = try imported(display: "")
        #expect(outcome.status == 1 && outcome.text.contains("nobody can be asked here"), "\(outcome.text)")
        #expect(heard().isEmpty)
        #expect(try taken == ["open"])
    }
}
