import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import LatchkeyCommand
import LatchkeyImport
import LatchkeyTransfer
import Testing

/// `latchkey import` on a keychain in memory.
@Suite struct ImportCommandTests {
    private let keychain = FakeKeychain()
    private let heading = "name,url,username,password,note\n"

    @discardableResult
    private func run(_ text: String, _ arguments: String..., terminal: Bool = false) -> CommandRun {
        CommandRun(
            list: ["import", "-"] + arguments, on: keychain,
            console: RecordingConsole(input: Array(text.utf8), errorTerminal: terminal))
    }

    private func value(_ key: String, _ name: String, account: String) -> String? {
        keychain.items.first { $0.attributes[key] == .string(name) && $0.attributes["acct"] == .string(account) }?.value
            .map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
    }

    @Test func entryWithASiteBecomesAnInternetPassword() throws {
        #expect(run(heading + "Shop,https://Shop.example:8443/in/,alice,pw,\n").status == .done)
        let item = try #require(keychain.items.first)
        #expect(keychain.items.count == 1 && item.itemClass == .internetPassword)
        #expect(item.attributes["srvr"] == .string("shop.example") && item.attributes["port"] == .integer(8443))
        #expect(item.attributes["path"] == .string("/in/") && item.attributes["ptcl"] == .string("htps"))
        #expect(item.attributes["labl"] == .string("Shop") && item.attributes["agrp"] == .string("latchkey"))
        #expect(value("srvr", "shop.example", account: "alice") == "pw")
    }

    @Test(arguments: [
        ("", "Router"), ("androidapp://com.example", "androidapp://com.example"), ("two words", "two words"),
    ])
    func anyOtherEntryBecomesAGenericOne(_ address: String, _ service: String) throws {
        #expect(run(heading + "Router,\(address),alice,pw,\n").status == .done)
        #expect(keychain.items.map(\.itemClass) == [.genericPassword])
        #expect(value("svce", service, account: "alice") == "pw")
    }

    @Test func notesAreValuesAndNeverAttributes() {
        let outcome = run(heading + "Shop,shop.example/a,alice,pw,NOTE-CANARY\n")
        #expect(value("svce", "shop.example/a", account: "alice (note)") == "NOTE-CANARY")
        #expect(!keychain.items.contains { "\($0.attributes)".contains("CANARY") })
        #expect(!outcome.text.contains("CANARY") && outcome.text.contains("1 note."))
        #expect(keychain.items.contains { $0.attributes["type"] == .integer(1_852_798_053) })
    }

    @Test func nothingIsNoBetterPasswordThanTheOneThatIsThere() {
        run(heading + "A,a.example,u,p1,\n")
        let outcome = run(
            heading + "B,a.example,u,p2,\nC,a.example,u,,\n", "--json", "--on-conflict", "replace")
        #expect(value("srvr", "a.example", account: "u") == "p2", "\(outcome.text)")
        run(heading + "D,a.example,u,,\n", "--on-conflict", "replace")
        #expect(value("srvr", "a.example", account: "u") == "p2")
    }

    /// Its first line is a secret like the others.
    @Test func aFileWithoutAHeadingIsNotShown() {
        let outcome = run("example.com,alice,hunter2-secret,note\nexample.org,bob,pw,x\n")
        #expect(outcome.status != .done)
        #expect(!outcome.notes.joined().contains("hunter2") && outcome.notes.joined().contains("4 columns"))
    }

    @Test func secondRunChangesNothing() {
        let text = heading + "A,a.example,u,p,n\nB,,v,q,\n"
        #expect(run(text).status == .done)
        let before = keychain.requests.count { $0.isWrite }
        let second = run(text, "--json")
        #expect(second.status == .done)
        #expect(second.text.contains(#""added":0,"unchanged":3,"replaced":0"#))
        #expect(keychain.requests.count { $0.isWrite } == before)
    }

    @Test func dryRunSaysTheSameAndWritesNothing() {
        let text = heading + "A,a.example,u,p,n\nA,a.example,u,other,\n"
        let dry = run(text, "--dry-run", "--json", "--on-conflict", "rename")
        #expect(keychain.requests.allSatisfy { !$0.isWrite } && keychain.items.isEmpty)
        let real = run(text, "--json", "--on-conflict", "rename")
        #expect(dry.text.replacing(#""dryRun":true"#, with: #""dryRun":false"#) == real.text)
    }

    // MARK: Conflicts

    @Test func conflictKeepsWhatIsThereAndSaysSo() {
        run(heading + "A,a.example,u,old,\n")
        let outcome = run(heading + "A,a.example,u,new,\n")
        #expect(outcome.status == .noMatch)
        #expect(outcome.text.contains("line 2: a.example, u: kept what was there"))
        #expect(value("srvr", "a.example", account: "u") == "old")
    }

    @Test func conflictReplacesWhereAsked() {
        run(heading + "A,a.example,u,old,\n")
        #expect(run(heading + "B,a.example,u,new,\n", "--on-conflict", "replace").status == .done)
        #expect(value("srvr", "a.example", account: "u") == "new")
        #expect(keychain.items.first?.attributes["labl"] == .string("B"))
    }

    @Test func conflictRenamesOnceHoweverOftenItRuns() {
        let text = heading + "A,a.example,u,one,\nA,a.example,u,two,\nA,a.example,u,three,\nA,a.example,u,two,\n"
        for _ in 0..<3 { #expect(run(text, "--on-conflict", "rename").status == .done) }
        #expect(keychain.items.count == 3)
        #expect(value("srvr", "a.example", account: "u") == "one")
        #expect(value("srvr", "a.example", account: "u (2)") == "two")
        #expect(value("srvr", "a.example", account: "u (3)") == "three")
    }

    @Test func twoRowsForOnePlaceAreReported() {
        let text = heading + "A,a.example,u,one,\nA,a.example,u,two,\nA,a.example,u,one,\n"
        let kept = run(text, "--json")
        #expect(kept.text.contains(#""added":1,"unchanged":1,"replaced":0,"renamed":0,"conflicts":1"#))
        #expect(kept.text.contains(#"{"place":"line 3","outcome":"conflict""#))
        #expect(value("srvr", "a.example", account: "u") == "one")
    }

    @Test func lastOfSeveralRowsReplacesAndStaysSo() {
        let text = heading + "A,a.example,u,one,\nA,a.example,u,two,\n"
        for _ in 0..<2 {
            let outcome = run(text, "--json", "--on-conflict", "replace")
            #expect(outcome.text.contains(#"{"place":"line 2","outcome":"superseded""#))
            #expect(value("srvr", "a.example", account: "u") == "two")
        }
        #expect(keychain.requests.count { $0.isWrite } == 1)
    }

    // MARK: Entries that are several items

    private let secrets = "name,url,username,password,note,totp\n"

    @Test func whatBelongsToALoginIsRenamedWithIt() {
        run(secrets + "A,a.example,u,p1,n1,NBSWY3DP\nB,b.example,,p1,,NBSWY3DP\n")
        let text =
            secrets + "A,a.example,u,p2,n2,GEZDGNBV\nA,a.example,u,p3,,NBSWY3DP\nB,b.example,,p2,,GEZDGNBV\n"
        #expect(run(text, "--on-conflict", "rename").status == .done)
        #expect(value("srvr", "a.example", account: "u (2)") == "p2")
        #expect(value("svce", "a.example", account: "u (2) (note)") == "n2")
        #expect(value("svce", "a.example", account: "u (2) (otp)") == "GEZDGNBV")
        // The same secret under the name of the other login is another item.
        #expect(value("srvr", "a.example", account: "u (3)") == "p3")
        #expect(value("svce", "a.example", account: "u (3) (otp)") == "NBSWY3DP")
        #expect(value("srvr", "b.example", account: "(2)") == "p2")
        #expect(value("svce", "b.example", account: "(2) (otp)") == "GEZDGNBV")
        let before = keychain.requests.count { $0.isWrite }
        let again = run(text, "--on-conflict", "rename", "--json")
        #expect(again.status == .done && again.text.contains(#""added":0,"unchanged":7,"replaced":0,"renamed":0"#))
        #expect(keychain.requests.count { $0.isWrite } == before)
    }

    /// `get --otp` of each place has to find it.
    @Test func aOneTimeSecretLiesBesideEachSite() {
        let heading =
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
        let text = heading + ",,login,L,n,,0,\"https://a.example,https://b.example/x,androidapp://c\",u,p,NBSWY3DP\n"
        #expect(run(text).status == .done)
        for service in ["a.example", "b.example/x"] {
            #expect(value("svce", service, account: "u (otp)") == "NBSWY3DP")
        }
        #expect(value("svce", "androidapp://c", account: "u") == "p")
        #expect(value("svce", "a.example", account: "u (note)") == "n")
        #expect(keychain.items.count == 6)
    }

    @Test func dryRunOfRenamingSaysTheSame() {
        run(secrets + "A,a.example,u,p1,n1,\n")
        let text = secrets + "A,a.example,u,p2,n2,NBSWY3DP\nA,a.example,u,p2,n3,\n"
        let dry = run(text, "--dry-run", "--json", "--on-conflict", "rename")
        let real = run(text, "--json", "--on-conflict", "rename")
        #expect(dry.text.replacing(#""dryRun":true"#, with: #""dryRun":false"#) == real.text)
    }

    @Test func loginWithoutAPasswordIsNoEmptyValue() {
        let outcome = run(secrets + "A,a.example,u,,n,NBSWY3DP\nB,b.example,u,,,\n")
        #expect(outcome.status == .noMatch && keychain.items.count == 3)
        #expect(outcome.text.contains("line 2: \u{201c}A\u{201d}: it has no password; what else it has is stored"))
        #expect(value("srvr", "a.example", account: "u") == nil)
        #expect(value("svce", "a.example", account: "u (note)") == "n")
        #expect(value("srvr", "b.example", account: "u") == "")
    }

    // MARK: Reports

    @Test func longNameIsCutInTheReportAlone() {
        let name = String(repeating: "x", count: 500)
        run(heading + "A,\(name),u,old,\n")
        let outcome = run(heading + "A,\(name),u,new,\n")
        #expect(!outcome.text.contains(name) && outcome.text.contains(name.prefix(80) + "…"))
        #expect(run(heading + "A,\(name),u,new,\n", "--json").text.contains(name))
    }

    @Test(arguments: [("nowhere", "nowhere"), (".", "folder")])
    func keyFileThatCannotBeReadIsNamed(_ name: String, _ words: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/db.kdbx"
        try Data([0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5]).write(to: URL(fileURLWithPath: path))
        let outcome = CommandRun("import", "--key-file", "\(folder.path)/\(name)", path, on: keychain)
        #expect(outcome.status == .usage, "\(outcome.notes)")
        #expect(outcome.notes.joined().contains("key file") && outcome.notes.joined().contains(words))
    }

    @Test func emptyNameIsNoFolder() {
        let outcome = CommandRun("import", "", on: keychain)
        #expect(outcome.status == .usage && outcome.notes.joined().contains("empty"))
    }

    @Test func malformedLineIsNamedAndTheRestIsStored() {
        let outcome = run(heading + "A,a.example,u,p,\nbroken\nB,b.example,u,p,\n")
        #expect(outcome.status == .noMatch && keychain.items.count == 2)
        #expect(outcome.text.contains("line 3: 1 fields where the heading has 5"))
    }

    @Test func everyColumnHasALine() {
        let text = run(heading + "A,a.example,u,p,n\n").text
        for line in [
            "name (1): label", "username (1): account", "password (1): the value", "note (1): the value of a note",
        ] {
            #expect(text.contains(line), "\(line)")
        }
    }

    @Test func unknownFormatAndSourceAreRefused() {
        #expect(run("colour\nred\n").status == .usage)
        #expect(run(heading, "--format", "excel").lastNote.contains("bitwarden-csv"))
        #expect(run(heading, "--format", "pass").status == .usage)
        #expect(CommandRun("import", "/nowhere/x.csv", on: keychain).status == .usage)
        #expect(keychain.items.isEmpty)
    }

    @Test func helpAndDocumentNameEveryFormat() throws {
        let help = CommandRun("import", "--help", on: keychain)
        let words = Set((help.text + help.notes.joined(separator: "\n")).split { " ,\n".contains($0) })
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let document = try String(contentsOf: folder.appendingPathComponent("docs/import.md"), encoding: .utf8)
        for format in SourceFormat.ofFiles { #expect(words.contains(format.rawValue[...]), "\(format)") }
        for format in SourceFormat.ofCSV { #expect(document.contains("| `\(format.rawValue)` |"), "\(format)") }
    }

    @Test func itemThatTheKeychainRefusesIsNamed() {
        keychain.refuse(service: "B")
        let outcome = run(heading + "A,,u,p,\nB,,u,p,\nC,,u,p,\n", "--json")
        #expect(outcome.status == .noMatch)
        #expect(outcome.text.contains(#""added":2"#) && outcome.text.contains(#""failed":1"#))
        #expect(outcome.text.contains(#"{"place":"line 3","outcome":"failed","service":"B""#))
    }

    @Test func barIsDrawnOnATerminalAlone() {
        let rows = (0..<200).map { "A,h\($0).example,u,p,\n" }.joined()
        #expect(run(heading + rows).console.drawn.isEmpty)
        let drawn = run(heading + rows, terminal: true).console.drawn
        #expect(drawn.last == "" && drawn.contains { $0.contains("200 of 200") })
        #expect(drawn.count <= 103)
    }
}
