import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices
import KeychainTesting
import Testing

@testable import LatchkeyCommand

/// What `latchkey explain` finds out, on the real engine: among it the three
/// puzzles of the developer forums.
@Suite struct NearestMissTests {
    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["own", "shared"]))
    }

    private let mail: [(String, RawValue)] = [
        ("class", .string("genp")), ("svce", .string("mail")), ("acct", .string("alice")),
    ]

    private func add(_ query: [(String, RawValue)]) throws {
        let given = QueryDictionary(query + [("v_Data", .secret)])
        _ = try CurrentKeychain.transport().perform(
            KeychainRequest(.add, query: given, value: SharedSecret(SecretBytes(copying: [1]))))
    }

    /// Makes a call and explains it.
    private func explain(
        _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)]
    ) throws -> (status: Status?, text: String) {
        let transport = try CurrentKeychain.transport()
        let carriesValue = operation == .add
        let given = QueryDictionary(query + (carriesValue ? [("v_Data", .secret)] : []))
        let value = carriesValue ? SharedSecret(SecretBytes(copying: [1])) : nil
        let request = KeychainRequest(operation, query: given, value: value)
        var failure: KeychainModel.KeychainError?
        var rows = 0
        do throws(KeychainModel.KeychainError) { rows = try transport.perform(request).rows.count } catch {
            failure = error
        }
        let session = try transport.session()
        let record = CallRecord(
            request: request, error: failure, rows: rows, groups: session.groups, nameableGroups: [],
            program: "/bin/app")
        let lines = try NearestMiss(record: record, keychain: transport).lines()
        return (failure?.status, ExplainedCall(number: 1, record: record, miss: lines).text)
    }

    @Test func theGenericAttributeIsSearchedByAndMakesNothingUnique() throws {
        try keychain.withScope { () throws in
            try add(mail + [("gena", .data([1]))])
            let missed = try explain(.copy, mail + [("gena", .data([2])), ("r_Data", .bool(true))])
            #expect(missed.status == .itemNotFound)
            #expect(missed.text.contains("1 item matches all but kSecAttrGeneric"))
            #expect(missed.text.contains("makes no item unique"))
            let taken = try explain(.add, mail + [("gena", .data([2]))])
            #expect(taken.status == .duplicateItem)
            #expect(taken.text.contains("one with the same kSecAttrAccount, kSecAttrService is there"))
            #expect(taken.text.contains("it differs in kSecAttrGeneric, which makes no item unique"))
        }
    }

    @Test func itemsAreNotLostWhenEntitlementsChange() throws {
        try keychain.withScope { () throws in try add(mail) }
        try keychain.withScope(as: TestEntitlements(keychainAccessGroups: ["new.name"])) { () throws in
            let missed = try explain(.copy, mail)
            #expect(missed.status == .itemNotFound)
            #expect(
                missed.text.contains("1 item matches in the access group own, which this program is not entitled to"))
            #expect(missed.text.contains("this program's groups: new.name"))
        }
    }

    @Test func anAttributeOfAnotherClassIsNamed() throws {
        try keychain.withScope { () throws in
            let refused = try explain(.copy, mail + [("srvr", .string("example.com"))])
            #expect(refused.status == .noSuchAttribute)
            #expect(
                refused.text.contains(
                    "kSecAttrServer is an attribute of kSecClassInternetPassword, not of kSecClassGenericPassword"))
        }
    }

    @Test func theNearestMissIsNamed() throws {
        try keychain.withScope { () throws in
            try add(mail + [("labl", .string("a")), ("icmt", .string("b"))])
            #expect(
                try explain(.copy, [mail[0], mail[1], ("acct", .string("bob"))]).text
                    .contains("1 item matches all but kSecAttrAccount"))
            #expect(
                try explain(.delete, mail + [("labl", .string("x")), ("icmt", .string("y"))]).text
                    .contains("1 item matches all but kSecAttrLabel and kSecAttrComment"))
            #expect(
                try explain(.copy, [mail[0], ("svce", .string("q")), ("acct", .string("q")), ("labl", .string("q"))])
                    .text
                    .contains("nothing is near: 1 item of kSecClassGenericPassword is in the groups that were tried"))
            try add(mail + [("agrp", .string("shared")), ("desc", .string("there"))])
            #expect(
                try explain(.copy, mail + [("agrp", .string("own")), ("desc", .string("there"))]).text
                    .contains("1 item matches in the access group shared, which the call did not ask for"))
        }
    }

    @Test func synchronizableItemsAreNamed() throws {
        try keychain.withScope { () throws in
            try add(mail + [("sync", .bool(true))])
            #expect(try explain(.copy, mail).text.contains("1 item matches and is synchronizable"))
            let none = try explain(.copy, mail + [("sync", .bool(true)), ("r_Data", .bool(true))])
            #expect(none.status == nil && none.text.contains("errSecSuccess: 1 found"))
        }
    }

    @Test func aGroupOfSomebodyElseIsNamed() throws {
        try keychain.withScope { () throws in
            let refused = try explain(.copy, mail + [("agrp", .string("other"))])
            #expect(
                refused.text.contains("groups: other") && refused.text.contains("this program's groups: own, shared"))
        }
    }

    /// Kinds and sizes, never what a program looks for.
    @Test func valuesAreNotShown() throws {
        try keychain.withScope { () throws in
            let query = [mail[0]] + [("svce", RawValue.string("canary-1")), ("gena", .data(Array("canary-2".utf8)))]
            let call = try explain(.copy, query + [("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true))])
            #expect(!call.text.contains("canary"))
            for expected in [
                "kSecClass        kSecClassGenericPassword", "kSecAttrService  text, 8 characters",
                "kSecAttrGeneric  data, 8 bytes", "kSecMatchLimit   kSecMatchLimitAll", "kSecReturnData   true",
                "SecItemCopyMatching  /bin/app", "errSecItemNotFound (-25300)",
            ] { #expect(call.text.contains(expected), "\(expected) in \(call.text)") }
        }
    }

    /// An LAContext, and the prompt that it brings along.
    @Test func aContextIsShownAsOneAndAsNothingElse() throws {
        try keychain.withScope { () throws in
            let context = [("u_AuthCtx", RawValue.authenticationContext), ("u_OpPrompt", .string("canary"))]
            let call = try explain(.copy, [mail[0]] + context)
            #expect(call.status == .itemNotFound && !call.text.contains("canary"))
            #expect(call.text.contains("kSecUseAuthenticationContext  <LAContext>"), "\(call.text)")
            #expect(call.text.contains("kSecUseOperationPrompt        text, 6 characters"))
        }
    }

    @Test func aRecordSurvivesItsEncoding() throws {
        let record = CallRecord(
            request: KeychainRequest(
                .update, query: QueryDictionary(mail), changes: QueryDictionary([("labl", .null)])),
            error: KeychainModel.KeychainError(.param, reason: .malformed(key: "k"), underlying: "u"), rows: 3,
            groups: ["a"],
            nameableGroups: ["b"], program: "/p")
        let again = try CallRecord(encoded: record.encoded)
        #expect(again.request.query == record.request.query && again.request.changes == record.request.changes)
        #expect(again.error == record.error && again.error?.underlying == "u" && again.rows == 3)
        #expect(again.groups == ["a"] && again.nameableGroups == ["b"] && again.program == "/p")
        #expect(again.request.operation == .update)
    }
}

@Suite struct TypedDictionaryTests {
    @Test(arguments: [
        (#"kSecClass: kSecClassGenericPassword"#, "class", RawValue.string("genp")),
        (#"kSecAttrService = "my mail""#, "svce", .string("my mail")),
        (#"    kSecAttrAccount as String: "alice","#, "acct", .string("alice")),
        (#"kSecAttrGeneric: <01 02ff>"#, "gena", .data([1, 2, 255])), ("kSecReturnData: true", "r_Data", .bool(true)),
        ("kSecAttrPort: 443", "port", .integer(443)), ("svce plain", "svce", .string("plain")),
        ("kSecMatchLimit: kSecMatchLimitAll", "m_Limit", .string("m_LimitAll")),
        ("kSecAttrAccessible: kSecAttrAccessibleAlways", "pdmn", .string("dk")),
        ("kSecValueData: anything", "v_Data", .secret),
        ("kSecUseAuthenticationContext: <LAContext>", "u_AuthCtx", .authenticationContext),
        ("kSecUseAuthenticationContext as String: LAContext(),", "u_AuthCtx", .authenticationContext),
    ])
    func linesAreRead(_ line: String, _ key: String, _ value: RawValue) throws {
        let entry = try #require(try TypedDictionary.entry(line))
        #expect(entry.key == key && entry.value == value)
    }

    @Test(arguments: ["", "   ", "// comment", "[", "]"])
    func emptyLinesAreSkipped(_ line: String) throws { #expect(try TypedDictionary.entry(line) == nil) }

    @Test(arguments: [
        "kSecAttrServce: x", "kSecClass", "kSecClass: kSecClassFoo", "kSecAttrGeneric: <0>", "kSecAttrGeneric: <zz>",
        ":",
    ])
    func mistakesAreRefused(_ line: String) {
        #expect(throws: CommandFailure.self) { try TypedDictionary.entry(line) }
    }

    /// The table of names agrees with the constants that programs use.
    @Test func namesAreThoseOfTheConstants() {
        for (key, constant) in [
            (kSecClass, "kSecClass"), (kSecMatchLimit, "kSecMatchLimit"), (kSecReturnData, "kSecReturnData"),
            (kSecValueData, "kSecValueData"), (kSecAttrService, "kSecAttrService"), (kSecAttrServer, "kSecAttrServer"),
            (kSecUseDataProtectionKeychain, "kSecUseDataProtectionKeychain"), (kSecAttrGeneric, "kSecAttrGeneric"),
            (kSecAttrAccessible, "kSecAttrAccessible"), (kSecUseAuthenticationUI, "kSecUseAuthenticationUI"),
            (kSecMatchHostOrSubdomainOfHost, "kSecMatchHostOrSubdomainOfHost"),
            (kSecValuePersistentRef, "kSecValuePersistentRef"),
        ] as [(CFString, String)] {
            #expect(KeyNames.constant(key as String) == constant)
            #expect(KeyNames.key(constant) == key as String)
        }
    }
}

@Suite struct ExplainEndToEndTests {
    @Test func aProgramsCallsAreShown() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", "alice", input: Data("canary".utf8))
        let outcome = try programs.latchkey(
            "explain", "--", "sh", "-c", "latchkey get mail alice; latchkey get mail bob; exit 7")
        #expect(outcome.status == 7)
        #expect(outcome.text.contains("canary"), "the command's own output is its own")
        #expect(!outcome.errors.contains("canary"))
        #expect(outcome.errors.contains("1. SecItemCopyMatching  \(BuiltPrograms.latchkey)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("errSecSuccess: 1 found"))
        #expect(outcome.errors.contains("1 item matches all but kSecAttrAccount"))
        let left = try FileManager.default.contentsOfDirectory(atPath: programs.home + "/tmp")
        #expect(left.isEmpty, "\(left)")
    }

    @Test func everyCallIsALineOfJSON() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        try programs.latchkey("rm", "mail")
        let outcome = try programs.latchkey("explain", "--json", "--", "latchkey", "list")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(outcome.errors)")
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["function"] as? String == "SecItemCopyMatching" && object["status"] as? Int == -25300)
            #expect((object["nearest"] as? [String])?.count == 1)
        }
    }

    @Test func aDictionaryIsExplainedBeforeThereIsCode() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", "alice", input: Data("canary".utf8))
        func explain(_ text: String, _ arguments: String...) throws -> String {
            let outcome = try programs.run(BuiltPrograms.latchkey, ["explain"] + arguments, input: Data(text.utf8))
            #expect(!outcome.text.contains("canary"))
            return outcome.text + outcome.errors
        }
        let item = """
            kSecClass: kSecClassGenericPassword
            kSecAttrAccessGroup: "latchkey"
            kSecAttrService: "mail"
            kSecAttrAccount: "alice"

            """
        #expect(try explain(item + "kSecReturnData: true\n").contains("errSecSuccess: 1 found"))
        #expect(try explain(item, "--call", "delete").contains("errSecSuccess"))
        #expect(try explain(item + "kSecMatchLimit: 1\n", "--call", "delete").contains("errSecParam"))
        #expect(try explain(item + "kSecValueData: x\n", "--call", "add").contains("errSecDuplicateItem"))
        #expect(try explain(item + "kSecAttrServer: a\n").contains("kSecClassInternetPassword"))
        #expect(try explain("kSecAttrServce: a\n").contains("no key is called that: kSecAttrServce"))
        #expect(try explain(item + item).contains("is there twice"))
        let windows = (item + "kSecReturnData: true\n").replacingOccurrences(of: "\n", with: "\r\n")
        #expect(try explain(windows).contains("errSecSuccess: 1 found"))
        #expect(try programs.latchkey("get", "mail", "alice").text == "canary")
    }

    @Test func aCommandWithoutCallsIsSaidToHaveNone() throws {
        let programs = try BuiltPrograms()
        let outcome = try programs.latchkey("explain", "--", "true")
        #expect(outcome.status == 0 && outcome.errors.contains("no keychain call was seen"))
        #expect(try programs.latchkey("explain", "--", "/nowhere/at/all").status == 127)
    }

    /// Nobody listens any more: the program runs as ever.
    @Test func aProgramOutlivesItsExplanation() throws {
        let programs = try BuiltPrograms()
        try programs.latchkey("set", "mail", input: Data("canary".utf8))
        let outcome = try programs.latchkey("get", "mail", changing: ["LATCHKEY_EXPLAIN": "/nowhere/calls.sock"])
        #expect(outcome.status == 0 && outcome.text == "canary")
    }
}
