import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import LatchkeyCommand
import LatchkeyTransfer
import Testing

/// `get --otp`.
@Suite struct OneTimeCodeTests {
    let keychain = FakeKeychain()
    private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let address = "otpauth://totp/mail:alice?secret=\(secret)&issuer=mail"

    /// At 59 seconds after 1970, the first moment of RFC 6238 appendix B.
    private func run(_ arguments: [String], terminal: Bool = false) -> (LatchkeyCommand.ExitStatus, RecordingConsole) {
        let console = RecordingConsole(terminal: terminal)
        let clock = ManualClock(wallClock: 59 - 978_307_200)
        let status = LatchkeyProgram.run(
            arguments,
            in: Surroundings(
                console: console, keychain: { [keychain] _ in keychain }, shield: .none, currentDirectory: "/work",
                configuration: ClientConfiguration(target: .nowhere, clock: clock),
                transfer: KeychainTransfer.usual))
        return (status, console)
    }

    @Test func theCodeIsThatOfTheMoment() {
        keychain.set(["mail", "alice"], Self.address)
        #expect(run(["get", "--otp", "mail"]).1.text == "287082")
        let (_, terminal) = run(["get", "mail", "--otp"], terminal: true)
        #expect(terminal.text == "287082\n" && terminal.notes == ["1 second left."])
        let json = run(["get", "mail", "--otp", "--json"]).1.text
        #expect(json.hasSuffix(#""seconds_left":1,"encoding":"utf8","value":"287082"}"# + "\n"))
    }

    @Test(arguments: [Self.address, "gezd gnbv gy3t qojq gezd gnbv gy3t qojq"])
    func theItemBesideTheLoginIsTaken(value: String) {
        keychain.set(["mail", "alice"], "hunter2")
        keychain.set(["mail", "alice (otp)"], value)
        #expect(run(["get", "--otp", "mail"]).1.text == "287082")
        #expect(run(["get", "--otp", "mail", "alice"]).1.text == "287082")
        keychain.set(["mail", "bob (otp)"], value)
        #expect(run(["get", "--otp", "mail"]).0 == .usage)
    }

    /// What `import` laid beside a login has its account named.
    @Test func aNameWithoutAnAccountSaysTheLogin() {
        keychain.set(["--internet", "mail.example", "alice"], "hunter2")
        keychain.set(["mail.example", "alice (note)"], "a note")
        keychain.set(["mail.example", "alice (otp)"], Self.address)
        keychain.set(["mail.example", "alice (file: a (1).txt)"], "a file")
        #expect(run(["get", "mail.example"]).1.text == "hunter2")
        #expect(run(["get", "mail.example", "alice (file: a (1).txt)"]).1.text == "a file")
        #expect(run(["get", "mail.example", "alice (note)"]).1.text == "a note")
        #expect(run(["get", "--otp", "mail.example"]).1.text == "287082")
        // Another account's is not beside it.
        keychain.set(["mail.example", "bob (note)"], "of bob")
        #expect(run(["get", "mail.example"]).0 == .usage)
        #expect(run(["rm", "mail.example", "bob (note)"]).0 == .done)
        #expect(run(["rm", "mail.example"]).0 == .done)
        #expect(run(["get", "mail.example", "alice"]).0 == .noMatch)
        // The login is gone: what it left is what there is.
        #expect(run(["get", "mail.example", "alice (note)"]).1.text == "a note")
        #expect(run(["get", "mail.example"]).0 == .usage)

        keychain.set(["Bank", "carol"], "of carol")
        keychain.set(["Bank", "carol (note)"], "another note")
        keychain.set(["Bank", "carol (file: b)"], "another file")
        #expect(run(["get", "Bank"]).1.text == "of carol")
    }

    /// What `import` makes of a login whose address has a path and a port.
    @Test func theItemBesideALoginOfAPathIsTaken() {
        keychain.set(["--internet", "https://a.example:8443/login", "u"], "hunter2")
        keychain.set(["a.example:8443/login", "u (otp)"], Self.address)
        for name in [["a.example", "u"], ["https://a.example:8443/login", "u"], ["a.example"]] {
            #expect(run(["get", "--otp"] + name).1.text == "287082", "\(name)")
        }
        keychain.set(["a.example:8443/login", "u (note)"], "a note")
        let removal = run(["rm", "a.example", "u"])
        #expect(removal.0 == .done)
        #expect(
            removal.1.notes == [
                "a.example:8443/login/u (note) is left beside it.", "a.example:8443/login/u (otp) is left beside it.",
            ])
    }

    private func names() -> Set<String> {
        Set(
            keychain.items.map { item in
                ["svce", "srvr", "acct"].compactMap { key -> String? in
                    guard case .string(let text)? = item.attributes[key] else { return nil }
                    return text
                }
                .joined(separator: "/")
            })
    }

    @Test func whatLiesBesideALoginGoesAlongToItsNewName() {
        keychain.set(["--internet", "https://a.example:8443/login", "u"], "hunter2")
        for beside in ["u (otp)", "u (note)", "u (file: a (1).txt)", "v (otp)"] {
            keychain.set(["a.example:8443/login", beside], Self.address)
        }
        let edit = run(
            ["edit", "a.example", "u", "--to-server", "https://b.example", "--to-account", "w"], terminal: true)
        #expect(edit.0 == .done)
        #expect(edit.1.notes.suffix(3).allSatisfy { $0.hasPrefix("b.example/w (") && $0.hasSuffix(") went along.") })
        #expect(
            names() == [
                "b.example/w", "b.example/w (otp)", "b.example/w (note)", "b.example/w (file: a (1).txt)",
                "a.example:8443/login/v (otp)",
            ])
        #expect(run(["get", "--otp", "b.example"]).1.text == "287082")
        // An account that becomes none, and one that comes.
        #expect(run(["edit", "b.example", "w", "--to-account", ""]).0 == .done)
        #expect(names().isSuperset(of: ["b.example/", "b.example/(otp)", "b.example/(file: a (1).txt)"]))
        #expect(run(["edit", "b.example", "", "--to-account", "x"]).0 == .done)
        #expect(names().isSuperset(of: ["b.example/x", "b.example/x (otp)", "b.example/x (file: a (1).txt)"]))
    }

    @Test func whatLiesBesideTwoLoginsStays() {
        keychain.set(["--internet", "https://a.example", "u"], "1")
        keychain.set(["--internet", "ftp://a.example", "u"], "2")
        keychain.set(["a.example", "u (otp)"], Self.address)
        let edit = run(["edit", "a.example", "u", "--from-protocol", "ftp", "--to-account", "w"])
        #expect(edit.0 == .done)
        #expect(
            edit.1.notes == ["a.example/u (otp) stays: another item of the former name has it beside it, too."])
        #expect(names() == ["a.example/u", "a.example/w", "a.example/u (otp)"])
    }

    @Test func whereALoginCannotMoveNothingBesideItDoes() throws {
        let programs = try BuiltPrograms()
        for account in ["alice", "alice (otp)", "alice (note)", "bob", "carol (note)"] {
            try programs.latchkey("set", "mail", account, input: Data(account.utf8))
        }
        let before = try programs.latchkey("list", "--json").text
        for taken in ["bob", "carol"] {
            let edit = try programs.latchkey("edit", "mail", "alice", "--to-account", taken)
            #expect(edit.status == 2 && edit.errors.contains("nothing was changed"))
        }
        for account in ["alice", "alice (otp)", "alice (note)", "bob", "carol (note)"] {
            #expect(try programs.latchkey("get", "mail", account).text == account)
        }
        let names = { (json: String) in json.split(separator: "\"").filter { $0.contains("(") || $0.contains("bob") } }
        #expect(try names(programs.latchkey("list", "--json").text) == names(before))
    }

    @Test func codesOfSteamAreFiveLetters() {
        keychain.set(["Steam", "alice"], "hunter2")
        keychain.set(["Steam", "alice (otp)"], "steam://\(Self.secret)")
        let text = run(["get", "--otp", "Steam"]).1.text
        #expect(text.count == 5 && text.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) })
        #expect(!text.contains("287082"))
    }

    @Test(arguments: ["hunter2", secret, "otpauth://totp/a?secret=0189hunter2", "otpauth://hotp/a?secret=\(secret)"])
    func whatMakesNoCodeIsAnErrorWithoutTheSecret(value: String) {
        keychain.set(["mail", "alice"], value)
        let (status, console) = run(["get", "--otp", "mail"])
        #expect(status == .usage && console.output.isEmpty)
        #expect(console.notes.allSatisfy { !$0.contains("hunter2") && !$0.contains(Self.secret) })
        #expect(run(["get", "--otp", "none"]).0 == .noMatch)
    }

    @Test func theRealProgramMakesTheCodeOfNow() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data(Self.address.utf8))
        let outcome = try programs.latchkey("get", "mail", "--otp")
        #expect(outcome.status == 0)
        #expect(outcome.text.range(of: "^[0-9]{6}$", options: .regularExpression) != nil)
    }
}
