import Foundation
import KeychainModel
import KeychainProtocol
import KeychainServices
import LatchkeyCommand
import Testing

/// `info` and `edit` on a keychain of the test and on the real programs.
@Suite struct InfoAndEditCommandTests {
    let keychain = FakeKeychain()

    private func object(_ data: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    // MARK: Arguments

    @Test(arguments: [
        ["edit", "a"], ["edit", "a", "--attribute", "nonsense"], ["edit", "a", "--attribute", "kSecAttrFoo=1"],
        ["edit", "a", "--attribute", "kSecAttrIsInvisible=maybe"], ["edit", "a", "--port", "1"],
        ["edit", "a", "--accessible", "sometimes"], ["edit", "a", "--attribute", "mdat=2026-01-31T23:59:59Z"],
        ["edit", "a", "--attribute", "cdat=2026-02-30T00:00:00Z"], ["edit", "a", "--attribute", "tomb=1"],
        ["edit", "a", "--label", "x", "--attribute", "labl=y"], ["edit", "a", "--to-server", "x"],
    ])
    func whatAnItemCannotHaveIsAUsageError(arguments: [String]) {
        keychain.set(["a"], "pw")
        let before = keychain.items[0].attributes
        let console = RecordingConsole()
        let run = CommandRun(list: arguments, on: keychain, console: console)
        #expect(run.status == .usage)
        #expect(run.notes.count == 2)
        #expect(keychain.items[0].attributes == before)
    }

    @Test func aPortIsOne() {
        keychain.set(["--internet", "example.com"], "pw")
        for port in ["65536", "-1", "https", ""] {
            let run = CommandRun("edit", "example.com", "--port=\(port)", on: keychain)
            #expect(run.status == .usage, "\(port)")
        }
        #expect(CommandRun("edit", "example.com", "--port", "65535", on: keychain).status == .done)
        #expect(CommandRun("edit", "example.com", "--port", "0", on: keychain).status == .done)
    }

    @Test func severalMatchesNeedAnAccount() {
        keychain.set(["a", "x"], "1")
        keychain.set(["a", "y"], "2")
        for verb in [["info", "a"], ["edit", "a", "--label", "l"]] {
            let run = CommandRun(list: verb, on: keychain)
            #expect(run.status == .usage)
            #expect(run.notes.joined().contains("x") && run.lastNote.contains("Name one account"))
        }
        #expect(CommandRun("info", "none", on: keychain).status == .noMatch)
    }

    @Test func editSaysWhatChangedOnATerminalAndWhenNothingDid() {
        keychain.set(["a", "--label", "Old"], "1")
        let edit = CommandRun(
            list: ["edit", "a", "--label", "New\u{1b}[0m", "--comment", "c"], on: keychain,
            console: RecordingConsole(terminal: true))
        #expect(
            edit.notes == [#"kSecAttrLabel: "Old" -> "New\u{1b}[0m""#, #"kSecAttrComment: none -> "c""#])
        let again = CommandRun(
            list: ["edit", "a", "--comment", "c"], on: keychain, console: RecordingConsole(terminal: true))
        #expect(again.notes == ["Nothing to change: the item is so already."])
        #expect(again.status == .done)
    }

    /// Whom programs of the Secret Service find by its attributes.
    private func plant(_ service: String, _ account: String, foundBy pairs: [String: String]) throws -> [UInt8] {
        let found = try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) })).encoded
        keychain.plant(
            .genericPassword,
            ["svce": .string(service), "acct": .string(account), "agrp": .string("latchkey"), "look": .data(found)],
            "secret")
        return found
    }

    /// One of them would be replaced when a program stores its own anew.
    @Test func noTwoItemsAreFoundByTheSame() throws {
        _ = try plant("mail", "alice", foundBy: ["service": "mail", "username": "alice"])
        _ = try plant("elsewhere", "b", foundBy: ["service": "mail", "username": "bob"])
        let before = keychain.items.map(\.attributes)
        let run = CommandRun("edit", "mail", "alice", "--to-account", "bob", on: keychain)
        #expect(run.status == .usage)
        #expect(run.notes.joined().contains("nothing was changed"))
        #expect(keychain.items.map(\.attributes) == before)
        #expect(CommandRun("edit", "mail", "alice", "--to-account", "carol", on: keychain).status == .done)
    }

    /// What a program has meanwhile given the item to be found by is not overwritten.
    @Test func whatItIsFoundByChangesOnlyFromWhatWasRead() throws {
        let before = try plant("mail", "alice", foundBy: ["service": "mail", "username": "alice"])
        let run = CommandRun("edit", "mail", "alice", "--to-account", "bob", on: keychain)
        #expect(run.status == .done, "\(run.notes)")
        let update = try #require(keychain.requests.last { $0.operation == .update })
        #expect(update.query["look"] == .data(before) && update.changes["look"] != nil)
        #expect(update.changes["look"] != .data(before))
    }

    @Test func infoShowsControlCharactersEscapedAndNoValue() {
        keychain.plant(
            .genericPassword,
            ["svce": .string("s"), "acct": .string("a\u{1b}"), "gena": .data([0, 255]), "agrp": .string("latchkey")],
            "hunter2")
        let run = CommandRun("info", "s", on: keychain)
        #expect(run.text.contains("kSecAttrAccount\ta\\u{1b}\n"))
        #expect(run.text.contains("kSecAttrGeneric\t<00ff>\n"))
        #expect(!run.text.contains("hunter2"))
        #expect(keychain.requests.allSatisfy { $0.query["r_Data"] == nil })
    }

    @Test func protocolsHaveTheNamesOfTheConstants() {
        let constants = [
            kSecAttrProtocolFTP, kSecAttrProtocolHTTP, kSecAttrProtocolIRC, kSecAttrProtocolNNTP,
            kSecAttrProtocolPOP3, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS, kSecAttrProtocolIMAP,
            kSecAttrProtocolLDAP, kSecAttrProtocolAFP, kSecAttrProtocolTelnet, kSecAttrProtocolSSH,
            kSecAttrProtocolFTPS, kSecAttrProtocolHTTPS, kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPSProxy,
            kSecAttrProtocolFTPProxy, kSecAttrProtocolSMB, kSecAttrProtocolRTSP, kSecAttrProtocolRTSPProxy,
            kSecAttrProtocolDAAP, kSecAttrProtocolEPPC, kSecAttrProtocolIPP, kSecAttrProtocolNNTPS,
            kSecAttrProtocolLDAPS, kSecAttrProtocolTelnetS, kSecAttrProtocolIMAPS, kSecAttrProtocolIRCS,
            kSecAttrProtocolPOP3S,
        ].map { "\($0)" }
        #expect(Set(LatchkeyProgram.protocolCodes) == Set(constants))
    }

    // MARK: Real programs

    @Test func everyAttributeIsChangedAndShown() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", "alice", "--label", "Old", input: Data("hunter2".utf8))
        let edit = try programs.latchkey(
            "edit", "mail", "--label", "Work", "--comment", "c", "--description", "d", "--accessible",
            "after-first-unlock", "--attribute", "kSecAttrType=note", "--attribute", "crtr=7", "--attribute",
            "IsInvisible=true", "--attribute", "gena=<00ff>", "--attribute", "cdat=2024-02-29T12:00:00Z", "--json")
        #expect(edit.status == 0, "\(edit.errors)")
        let changed = try #require(object(edit.output)["changed"] as? [[String: Any]])
        #expect(changed.count == 9)
        #expect(changed[0]["attribute"] as? String == "kSecAttrLabel" && changed[0]["from"] as? String == "Old")
        let info = try programs.latchkey("info", "mail", "alice", "--json")
        let members = try object(info.output)
        #expect(members["accessible"] as? String == "after-first-unlock")
        #expect(members["synchronizable"] as? Bool == false)
        #expect(members["created"] as? String == "2024-02-29T12:00:00Z")
        let all = try #require(members["attributes"] as? [String: Any])
        #expect(all["kSecAttrLabel"] as? String == "Work" && all["kSecAttrComment"] as? String == "c")
        #expect(all["kSecAttrDescription"] as? String == "d" && all["kSecAttrCreator"] as? Int == 7)
        #expect(all["kSecAttrType"] as? Int == 0x6e6f_7465 && all["kSecAttrIsInvisible"] as? Int == 1)
        #expect((all["kSecAttrGeneric"] as? [String: String]) == ["hex": "00ff"])
        let text = try programs.latchkey("info", "mail").text
        #expect(text.hasPrefix("kSecClass\tkSecClassGenericPassword\n"))
        #expect(text.contains("kSecAttrAccessibleAfterFirstUnlock (opens once the keychain has been unlocked)\n"))
        #expect(text.contains("(note)") && !text.contains("hunter2") && !info.text.contains("hunter2"))
        #expect(try programs.latchkey("get", "mail").text == "hunter2")
    }

    @Test func anItemMovesWholeAndATakenPlaceLosesNothing() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", "alice", "--label", "A", input: Data("one".utf8))
        try programs.latchkey("set", "mail", "bob", "--label", "B", input: Data("two".utf8))
        let taken = try programs.latchkey("edit", "mail", "alice", "--to-account", "bob", "--label", "C")
        #expect(taken.status == 2)
        #expect(taken.errors.contains("nothing was changed"))
        #expect(try programs.latchkey("get", "mail", "alice").text == "one")
        #expect(try programs.latchkey("get", "mail", "bob").text == "two")
        #expect(try programs.latchkey("info", "mail", "alice").text.contains("kSecAttrLabel\tA\n"))
        let moved = try programs.latchkey(
            "edit", "mail", "alice", "--to-service", "post", "--to-account", "al", "--json")
        #expect(try object(moved.output)["service"] as? String == "post")
        #expect(try programs.latchkey("get", "post", "al").text == "one")
        #expect(try programs.latchkey("get", "mail", "alice").status == 1)
    }

    @Test func internetPasswordsMoveAmongTheirOwnAttributes() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "--internet", "host", "me", input: Data("pw".utf8))
        let edit = try programs.latchkey(
            "edit", "host", "--to-server", "example.com", "--port", "8443", "--path", "/x", "--protocol", "https")
        #expect(edit.status == 0 && edit.errors.isEmpty && edit.output.isEmpty)
        let text = try programs.latchkey("info", "example.com").text
        for line in ["kSecAttrPort\t8443", "kSecAttrPath\t/x", "kSecAttrProtocol\thtps (https)"] {
            #expect(text.contains(line + "\n"))
        }
        #expect(try programs.latchkey("edit", "example.com", "--to-service", "x").status == 2)
        // An address is taken apart, as everywhere else.
        #expect(try programs.latchkey("edit", "example.com", "--to-server", "https://u@x").status == 2)
        let twice = ["edit", "example.com", "--to-server", "https://New.example:9443/y", "--port", "1"]
        #expect(try programs.run(BuiltPrograms.latchkey, twice).status == 2)
        #expect(try programs.latchkey("edit", "example.com", "--to-server", "https://New.example:9443/y").status == 0)
        let moved = try programs.latchkey("info", "https://new.example:9443/y").text
        for line in ["kSecAttrServer\tnew.example", "kSecAttrPort\t9443", "kSecAttrPath\t/y"] {
            #expect(moved.contains(line + "\n"), "\(moved)")
        }
        #expect(try programs.latchkey("edit", "new.example", "--to-server", "example.com").status == 0)
        // Of what the address does not say it keeps what it has.
        #expect(try programs.latchkey("info", "example.com").text.contains("kSecAttrPort\t9443\n"))
        #expect(try programs.latchkey("get", "example.com").text == "pw")
    }

    /// A URL without a port has that of its protocol, and without a path the root.
    @Test func aURLNamesAPlaceWholly() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "--internet", "https://old.example:9443/y", "me", input: Data("pw".utf8))
        for (address, told) in [
            ("https://a.example:443/", "a.example"), ("HTTPS://b.example:8443/z", "b.example"),
            ("https://c.example", "c.example"),
        ] {
            let place = address.contains("a.") ? "old.example" : address.contains("b.") ? "a.example" : "b.example"
            #expect(try programs.latchkey("edit", place, "--to-server", address).status == 0)
            let text = try programs.latchkey("info", told).text
            let isPlain = !address.contains("b.")
            #expect(text.contains("kSecAttrPort\t8443\n") == !isPlain, "\(text)")
            #expect(text.contains("kSecAttrPath\t/z\n") == !isPlain, "\(text)")
            #expect(!text.contains("9443") && !text.contains("kSecAttrPath\t/y"), "\(text)")
        }
        // An option says what the address does not.
        #expect(
            try programs.latchkey("edit", "c.example", "--to-server", "https://d.example", "--port", "8444").status == 0)
        #expect(try programs.latchkey("info", "d.example").text.contains("kSecAttrPort\t8444\n"))
        // It goes over ssh, as in `set`.
        #expect(try programs.latchkey("edit", "d.example", "--to-server", "sftp://e.example").status == 0)
        let text = try programs.latchkey("info", "e.example").text
        #expect(text.contains("kSecAttrProtocol\tssh ") && !text.contains("8444"), "\(text)")
        #expect(try programs.latchkey("get", "e.example", "me").text == "pw")
    }
}
