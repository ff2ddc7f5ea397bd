import Foundation
import KeychainPlatform
import Testing

/// `docker-credential-latchkey` with a real daemon and enclave, by the protocol of
/// docker-credential-helpers: what docker writes to it, what it compares in the answer.
@Suite struct DockerHelperEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    @discardableResult
    func docker(_ action: String, _ input: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(
            "\(BuiltPrograms.folder)/docker-credential-latchkey", [action], input: Data(input.utf8))
    }

    func store(_ url: String, _ name: String, _ secret: String) throws {
        let object = try JSONSerialization.data(
            withJSONObject: ["ServerURL": url, "Username": name, "Secret": secret], options: .withoutEscapingSlashes)
        let outcome = try docker("store", String(decoding: object, as: UTF8.self))
        #expect(outcome.status == 0 && outcome.text == "" && outcome.errors == "", "\(outcome.text)\(outcome.errors)")
    }

    func get(_ url: String) throws -> [String: String]? {
        let outcome = try docker("get", url)
        guard outcome.status == 0 else {
            #expect(outcome.status == 1 && outcome.text == "credentials not found in native keychain\n")
            return nil
        }
        return try JSONSerialization.jsonObject(with: outcome.output) as? [String: String]
    }

    static let hub = "https://index.docker.io/v1/"

    @Test func loginPullLogoutAsDockerDoesThem() throws {
        #expect(try get(Self.hub) == nil)
        try store(Self.hub, "alice", "pw \"ü\" \\ /\t\u{1}")
        #expect(try get(Self.hub) == ["ServerURL": Self.hub, "Username": "alice", "Secret": "pw \"ü\" \\ /\t\u{1}"])
        #expect(try programs.latchkey("get", "index.docker.io").text == "pw \"ü\" \\ /\t\u{1}")
        try store("registry.example:5000", "<token>", "identity")
        #expect(try get("registry.example:5000\n")?["Username"] == "<token>")
        // What a person stored by the very address that docker names.
        try programs.latchkey("set", "--internet", "https://hand.example/v1/", "carol", input: Data("hand".utf8))
        #expect(try get("https://hand.example/v1/")?["Username"] == "carol")
        #expect(try get("https://hand.example/v2/") == nil && get("hand.example") == nil)
        // As Go reads names.
        #expect(try docker("store", #"{"serverurl":"go.example","username":"a","SECRET":"pw"}"#).status == 0)
        #expect(try get("go.example") == ["ServerURL": "go.example", "Username": "a", "Secret": "pw"])
        let twice =
            #"{"ServerURL":"go.example","Username":"a","Secret":"one","username":"b","secret":"two","username":null}"#
        #expect(try docker("store", twice).status == 0)
        #expect(try get("go.example") == ["ServerURL": "go.example", "Username": "b", "Secret": "two"])
        #expect(try docker("erase", "go.example").status == 0)
        let list = try docker("list").output
        #expect(
            try JSONSerialization.jsonObject(with: list) as? [String: String] == [
                Self.hub: "alice", "registry.example:5000": "<token>",
            ])
        // Another login at the registry takes the place of the first.
        try store(Self.hub, "bob", "other")
        #expect(try get(Self.hub)?["Username"] == "bob")
        #expect(try programs.latchkey("get", "index.docker.io", "alice").status == 1)
        #expect(try docker("erase", Self.hub).status == 0)
        #expect(try get(Self.hub) == nil)
        #expect(try docker("erase", Self.hub).status == 0)
        #expect(try docker("list").text == #"{"registry.example:5000":"<token>"}"# + "\n")
    }

    /// Also where none could be made: another helper, or nobody, has the login.
    @Test func whoeverLooksMakesNoKeychain() throws {
        #expect(try get("a.example") == nil)
        #expect(try docker("list").text == "{}\n")
        let erased = try docker("erase", "a.example")
        #expect(erased.status == 0 && erased.text == "" && erased.errors == "")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
        #expect(programs.processes("latchkeyd").isEmpty)
    }

    /// Everything lies in `restore.ready` yet: whoever looks carries the restore on.
    @Test func aRestoreThatWasCutShortLosesNothing() throws {
        try store("a.example", "alice", "pw")
        for action in ["get", "list", "erase"] {
            try programs.cutRestoreShort()
            let outcome = try docker(action, "a.example")
            #expect(outcome.status == 0 && outcome.text.contains("alice") == (action != "erase"), "\(outcome.text)")
            #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey/restore.ready"))
        }
        #expect(try get("a.example") == nil, "it was erased")
    }

    /// Nobody knows what it is, so it stays, and no keychain is made beside it.
    @Test(arguments: ["get", "list", "erase"]) func aFileInTheRestoresPlaceMakesNoKeychain(_ action: String) throws {
        try programs.putFileInRestoresPlace()
        let outcome = try docker(action, "a.example")
        #expect(outcome.status != 0 && outcome.text.contains("restore.ready"), "\(outcome.text)")
        try programs.expectFileInRestoresPlaceAlone()
    }

    @Test func everySpellingOfAServerIsOneOfItsOwn() throws {
        let urls = [
            "https://a.example", "https://a.example/", "a.example", "http://a.example", "a.example:443", "A.example",
            "https://a.example:0443", "HTTPS://a.example", "https://[::1]:5000/v2", "made-up://a.example",
            "a.example/v1",
            "https://a.example/v2?x=y",
        ]
        for (number, url) in urls.enumerated() { try store(url, "alice", "pw\(number)") }
        for (number, url) in urls.enumerated() { #expect(try get(url)?["Secret"] == "pw\(number)", "\(url)") }
        let listed = try JSONSerialization.jsonObject(with: try docker("list").output) as? [String: String]
        #expect(listed?.keys.sorted() == urls.sorted())
        #expect(try docker("erase", "a.example").status == 0)
        #expect(try get("a.example") == nil && get("https://a.example") != nil)
    }

    @Test func gitsAndAPersonsItemsAreNotDockersToTakeAway() throws {
        try programs.latchkey("set", "ghcr.example", "alice", input: Data("by hand".utf8))
        #expect(try get("ghcr.example")?["Secret"] == "by hand")
        #expect(try get("http://ghcr.example") == nil, "over http")
        #expect(try docker("list").text == "{}\n")
        #expect(try docker("erase", "ghcr.example").status == 0)
        #expect(try programs.latchkey("get", "ghcr.example", "alice").text == "by hand")
        // Nor is what a person stores where docker has a login already.
        try store("plain.example", "alice", "of docker")
        try programs.latchkey("set", "--internet", "plain.example", "alice", input: Data("by hand".utf8))
        #expect(try get("plain.example")?["Secret"] == "of docker")
        #expect(try docker("erase", "plain.example").status == 0)
        #expect(try programs.latchkey("get", "--internet", "plain.example", "alice").text == "by hand")
        let git = "protocol=https\nhost=both.example\nusername=alice\npassword=of git\n"
        let helper = "\(BuiltPrograms.folder)/git-credential-latchkey"
        #expect(try programs.run(helper, ["store"], input: Data(git.utf8)).status == 0)
        #expect(try get("https://both.example") == nil)
        try store("https://both.example", "alice", "of docker")
        #expect(try get("https://both.example")?["Secret"] == "of docker")
        let asked = try programs.run(helper, ["get"], input: Data("protocol=https\nhost=both.example\n".utf8))
        #expect(asked.text == "username=alice\npassword=of git\n")
        #expect(try docker("erase", "https://both.example").status == 0)
        #expect(
            try programs.run(helper, ["get"], input: Data("protocol=https\nhost=both.example\n".utf8)).text
                == asked.text)
    }

    /// docker's client compares these texts (credentials/error.go).
    @Test(arguments: [
        ("get", "", "no credentials server URL"), ("get", " \n", "no credentials server URL"),
        ("erase", "", "no credentials server URL"), ("store", "{}", "no credentials server URL"),
        ("store", #"{"ServerURL":"  ","Username":"a","Secret":"CANARY"}"#, "no credentials server URL"),
        ("store", #"{"ServerURL":"a","Secret":"CANARY"}"#, "no credentials username"),
        ("store", #"{"ServerURL":"a","Username":null,"Secret":"CANARY"}"#, "no credentials username"),
        ("store", #"{"ServerURL":"a","Username":5,"Secret":"CANARY"}"#, "the input's Username is no string"),
        ("store", #"{"serverurl":{},"Username":"a","Secret":"CANARY"}"#, "the input's ServerURL is no string"),
        ("store", #"{"ServerURL":"a","Username":"a","Secret":["CANARY"]}"#, "the input's Secret is no string"),
        ("store", #"{"ServerURL":"a","Username":"a","Secret":true}"#, "the input's Secret is no string"),
        ("store", #"{"ServerURL":"a","username":5,"Username":"a","Secret":"b"}"#, "the input's Username is no string"),
        ("store", #"{"ServerURL":"a","Secret":"CANARY""#, "line 1 of the input is no JSON"),
        ("store", "CANARY", "line 1 of the input is no JSON"),
        ("get", "none", "credentials not found in native keychain"),
        ("frobnicate", "", "Unknown credential action `frobnicate`"),
    ])
    func whatIsMissingIsSaidInDockersWords(action: String, input: String, said: String) throws {
        let outcome = try docker(action, input)
        #expect(outcome.status == 1 && outcome.text == said + "\n", "\(outcome.text)")
        #expect(!outcome.errors.contains("CANARY"))
    }

    /// They see nothing of each other before they have stored.
    @Test func ofLoginsThatAreStoredAtOnceOneStays() throws {
        let login = #"'{"ServerURL":"r.example","Username":"u%s","Secret":"s%s"}' $i $i"#
        let store = "printf \(login) | docker-credential-latchkey store"
        // New users each; then the same two again and again, one of whom is there already.
        for users in ["1 2 3 4 5 6 7 8 9 10", "1 2 1 2 1 2 1 2", "2 1 2 1 2 1 2 1"] {
            let outcome = try programs.shell("for i in \(users); do (\(store)) & done; wait")
            #expect(outcome.status == 0 && outcome.text == "", "\(outcome.text)\(outcome.errors)")
            try expectOneLogin()
        }
    }

    private func expectOneLogin() throws {
        let list = try programs.latchkey("list", "--json").output
        let items = try JSONSerialization.jsonObject(with: list) as? [[String: Any]]
        #expect(items?.count == 1, "\(String(decoding: list, as: UTF8.self))")
        let kept = try #require(try get("r.example"))
        #expect(kept["Secret"] == kept["Username"]?.replacingOccurrences(of: "u", with: "s"))
    }

    @Test func theVersionIsSaid() throws {
        #expect(try docker("version").text.hasPrefix("docker-credential-latchkey (latchkey) "))
        #expect(try programs.run("\(BuiltPrograms.folder)/docker-credential-latchkey", []).status == 1)
    }

    @Test func aLockedKeychainFailsAtOnceAndSaysWhy() throws {
        try store(Self.hub, "alice", "pw")
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        #expect(try programs.latchkey("lock").status == 0)
        for (action, input) in [("get", Self.hub), ("list", ""), ("erase", Self.hub)] {
            let outcome = try docker(action, input)
            #expect(outcome.status == 3 && outcome.text.contains("`latchkey unlock` opens it"), "\(outcome.text)")
        }
    }
}
