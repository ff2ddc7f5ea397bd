import KeychainModel
import LatchkeyCommand
import Testing

@Suite struct InternetAddressTests {
    let keychain = FakeKeychain()

    private func plant(_ attributes: [String: RawValue], _ value: String) {
        let names: [String: RawValue] = [
            "srvr": .string("byh.ex"), "acct": .string("alice"), "agrp": .string("latchkey"),
            "mdat": .date(800_000_000),
        ]
        keychain.plant(.internetPassword, names.merging(attributes) { $1 }, value)
    }

    /// As an import leaves them.
    private func plantThree() {
        plant(["ptcl": .string("htps"), "labl": .string("Site")], "web")
        plant(["ptcl": .string("htps"), "port": .integer(8443), "path": .string("/admin")], "admin")
        plant(["ptcl": .string("imps")], "mail")
    }

    @Test(
        arguments: [
            ("byh.ex", "byh.ex", nil, nil, nil), ("GitHub.com", "github.com", nil, nil, nil),
            ("byh.ex:8443", "byh.ex", 8443, nil, nil), ("box:22", "box", 22, nil, nil),
            ("https://byh.ex", "byh.ex", nil, "htps", nil), ("https://byh.ex:443/", "byh.ex", nil, "htps", nil),
            ("HTTP://byh.ex:8080/a/b", "byh.ex", 8080, "http", "/a/b"), ("byh.ex/a", "byh.ex", nil, nil, "/a"),
            ("sftp://byh.ex", "byh.ex", nil, "ssh ", nil), ("[::1]:8443", "[::1]", 8443, nil, nil),
            ("https://[2001:DB8::1]/x", "[2001:db8::1]", nil, "htps", "/x"),
        ] as [(String, String, Int64?, String?, String?)])
    func aServerIsStoredInItsParts(text: String, host: String, port: Int64?, scheme: String?, path: String?) {
        #expect(keychain.set(["--internet", text, "alice"], "pw") == .done)
        let item = keychain.items[0].attributes
        #expect(item["srvr"] == .string(host))
        #expect(item["port"] == .integer(port ?? 0))
        #expect(item["ptcl"] == scheme.map { .string($0) } ?? .integer(0))
        #expect(item["path"] == .string(path ?? ""))
        for verb in [["get"], ["get", "--internet"], ["info"], ["list"], ["whocan"]] {
            let run = CommandRun(list: verb + [text] + (verb == ["list"] ? [] : ["alice"]), on: keychain)
            #expect(run.status == .done || verb == ["whocan"] && run.status != .noMatch, "\(verb) \(run.notes)")
        }
        #expect(CommandRun("rm", text, "alice", on: keychain).status == .done)
        #expect(keychain.items.isEmpty)
    }

    @Test(arguments: [
        "byh.ex:", "byh.ex:0", "byh.ex:99999", "byh.ex:+80", "byh.ex:ssh", "::1", "[::1", "[::1]:x", "[host]:1",
        "https://", "gopher://byh.ex", "https://alice:CANARY@byh.ex", "https://byh.ex/?q=1", "https://byh.ex/#a",
        "two words",
    ])
    func whatIsNoServerIsRefused(text: String) {
        let run = CommandRun(
            "set", "--internet", text, on: keychain, console: RecordingConsole(input: Array("pw".utf8)))
        #expect(run.status == .usage)
        #expect(run.lastNote.contains("HOST:PORT") && !run.notes.joined().contains("CANARY"))
        #expect(keychain.items.isEmpty)
    }

    @Test func aServerStoredAsItWasTypedIsStillFound() {
        plant(["srvr": .string("byh.ex:8443")], "old")
        #expect(CommandRun("get", "byh.ex:8443", on: keychain).text == "old")
        #expect(CommandRun("list", "byh.ex:8443", on: keychain).status == .done)
        #expect(CommandRun("rm", "--internet", "byh.ex:8443", on: keychain).status == .done)
    }

    @Test func aGenericPasswordOfThatNameComesFirst() {
        keychain.set(["https://byh.ex", "alice"], "generic")
        plantThree()
        #expect(CommandRun("get", "https://byh.ex", "alice", on: keychain).text == "generic")
    }

    @Test func itemsOfOneAccountAreToldApart() {
        plantThree()
        let run = CommandRun("get", "byh.ex", "alice", on: keychain)
        #expect(run.status == .usage && run.text.isEmpty)
        #expect(run.notes.contains { $0.contains(#"alice  https  "Site"  2026-05-09T06:13:20Z"#) }, "\(run.notes)")
        #expect(run.notes.contains { $0.contains("alice  https  port 8443  /admin") })
        #expect(run.notes.contains { $0.contains("alice  imaps") })
        #expect(run.lastNote == "latchkey: Choose one with --protocol, --port, --path or --label.")
    }

    @Test(arguments: [
        (["--port", "8443"], "admin"), (["--path", "admin"], "admin"), (["--path", "/admin"], "admin"),
        (["--protocol", "imaps"], "mail"), (["--label", "Site"], "web"),
        (["--protocol", "https", "--path", ""], "web"),
        (["--port", "443"], "web"),
    ])
    func optionsChooseAmongThem(options: [String], value: String) {
        plantThree()
        #expect(CommandRun(list: ["get", "byh.ex", "alice"] + options, on: keychain).text == value)
        #expect(CommandRun(list: ["info", "byh.ex", "alice"] + options, on: keychain).status == .done)
        #expect(CommandRun(list: ["rm", "byh.ex", "alice"] + options, on: keychain).status == .done)
        #expect(keychain.items.count == 2)
    }

    @Test(arguments: [
        ("byh.ex/alice?port=8443", "admin"), ("latchkey://byh.ex/alice?path=%2Fadmin", "admin"),
        ("byh.ex/alice?protocol=imaps", "mail"), ("byh.ex/alice?kind=internet&label=Site", "web"),
        ("byh.ex:8443/alice", "admin"), ("https%3A%2F%2Fbyh.ex:8443%2Fadmin/alice", "admin"),
    ])
    func referencesChooseAmongThem(reference: String, value: String) throws {
        plantThree()
        #expect(CommandRun("read", reference, on: keychain).text == value)
        let spelled = try SecretReference(reference).text
        #expect(try SecretReference(spelled).text == spelled)
        #expect(CommandRun("read", spelled, on: keychain).text == value)
    }

    @Test func aReferenceThatMeansSeveralSaysHowToChoose() {
        plantThree()
        let run = CommandRun("read", "byh.ex/alice", on: keychain)
        #expect(run.status == .usage && run.lastNote.contains("protocol=…, port=…, path=… or label=…"))
        #expect(CommandRun("read", "byh.ex/alice?port=x", on: keychain).status == .usage)
        #expect(CommandRun("read", "byh.ex/alice?port=1&port=2", on: keychain).status == .usage)
    }

    @Test func whatDoesNotExistIsNoItem() {
        plantThree()
        #expect(CommandRun("get", "byh.ex", "alice", "--port", "1", on: keychain).status == .noMatch)
        #expect(CommandRun("get", "byh.ex", "alice", "--protocol", "gopher", on: keychain).status == .usage)
    }

    @Test func editChoosesByWhatItsOptionsBeginWithFrom() {
        plantThree()
        #expect(CommandRun("edit", "byh.ex", "alice", "--label", "x", on: keychain).lastNote.contains("--from-port"))
        let run = CommandRun(
            "edit", "byh.ex", "alice", "--from-port", "8443", "--port", "9443", "--label", "Admin", on: keychain)
        #expect(run.status == .done)
        #expect(CommandRun("get", "byh.ex:9443", "alice", on: keychain).text == "admin")
        #expect(CommandRun("edit", "https://byh.ex:9443", "alice", "--label", "y", on: keychain).status == .done)
    }

    // MARK: set

    @Test func setReplacesTheOnlyItemOfAServer() {
        plant(["ptcl": .string("htps"), "port": .integer(8443)], "old")
        let console = RecordingConsole(input: Array("new".utf8), errorTerminal: true)
        #expect(CommandRun("set", "--internet", "byh.ex", "alice", on: keychain, console: console).status == .done)
        #expect(keychain.items.count == 1)
        #expect(console.notes.first?.contains("replaces the secret of byh.ex/alice (https, port 8443)") == true)
        #expect(CommandRun("get", "byh.ex", "alice", on: keychain).text == "new")
    }

    @Test func setLeavesWhatAProgramStoredForItselfAlone() {
        plant(["ptcl": .string("htps"), "crtr": .integer(0x6769_7463)], "of git")
        #expect(keychain.set(["--internet", "byh.ex", "alice"], "mine") == .done)
        #expect(keychain.items.count == 2)
        #expect(CommandRun("get", "byh.ex", "alice", "--protocol", "https", on: keychain).text == "of git")
    }

    @Test func setRefusesToChooseAmongSeveral() {
        plantThree()
        let run = CommandRun(
            "set", "--internet", "byh.ex", "alice", on: keychain, console: RecordingConsole(input: [50]))
        #expect(run.status == .usage && run.lastNote.contains("PROTOCOL://HOST:PORT/PATH"))
        #expect(keychain.items.count == 3)
        #expect(keychain.set(["--internet", "https://byh.ex:8443/admin", "alice"], "new") == .done)
        #expect(keychain.items.count == 3)
        #expect(CommandRun("get", "byh.ex:8443", "alice", on: keychain).text == "new")
    }

    @Test func setPrefersTheItemOfTheWholeServer() {
        plantThree()
        plant([:], "whole")
        #expect(keychain.set(["--internet", "byh.ex", "alice"], "new") == .done)
        #expect(keychain.items.count == 4)
        #expect(
            CommandRun("get", "byh.ex", "alice", "--protocol", "none", on: keychain).text == "new")
    }

    @Test func anAddressIsAnItemOfItsOwn() {
        keychain.set(["--internet", "byh.ex", "alice"], "whole")
        keychain.set(["--internet", "byh.ex:8443", "alice"], "port")
        #expect(keychain.items.count == 2)
        #expect(CommandRun("get", "byh.ex", "alice", "--port", "0", on: keychain).text == "whole")
    }
}
