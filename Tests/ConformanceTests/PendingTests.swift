import Conformance
import Testing

/// What waits, by what a case uses.
@Suite struct PendingTests {
    private func pending(_ step: String, context: String = "") throws -> Pending? {
        let json = #"{"id": "c", "topic": "t", "context": {\#(context)}, "steps": [\#(step)]}"#
        return Pending(try ConformanceCase(JSONValue(parsing: json.utf8)))
    }

    private func pending(query: String, call: String = "add", status: String = "0") throws -> Pending? {
        try pending(#"{"call": "\#(call)", "query": {\#(query)}, "status": \#(status)}"#)
    }

    @Test func waitsForObjects() throws {
        #expect(try pending(query: #""kSecValueRef": {"cert": "leafRSA"}"#) == .certificate)
        #expect(try pending(query: #""kSecValueRef": {"key": "ecP256", "kind": "private"}"#) == .key)
        #expect(try pending(query: #""kSecValueRef": {"identity": {"cert": "a", "key": "b"}}"#) == .identity)
        #expect(try pending(query: #""kSecMatchPolicy": {"policy": "ssl"}"#, call: "copy") == .policy)
        #expect(
            try pending(#"{"call": "copy", "query": {}, "status": 0, "result": {"each": {"type": "key"}}}"#) == .key)
    }

    @Test func waitsForReferencesAndIdentitiesThatMustBeFound() throws {
        let reference = #""kSecClass": {"const": "kSecClassKey"}, "kSecReturnRef": {"bool": true}"#
        #expect(try pending(query: reference, call: "copy") == .reference)
        #expect(try pending(query: reference, call: "copy", status: "-25300") == nil)
        #expect(try pending(query: reference, call: "update", status: "-50") == nil)
        #expect(try pending(query: #""kSecClass": {"const": "kSecClassIdentity"}"#, call: "copy") == .identity)
        #expect(
            try pending(query: #""kSecClass": {"const": "kSecClassIdentity"}"#, call: "copy", status: "-25303") == nil)
        let password = #""kSecClass": {"const": "kSecClassGenericPassword"}, "kSecReturnRef": {"bool": true}"#
        #expect(try pending(query: password, call: "copy") == nil)
    }

    @Test(arguments: [
        ("keySign", Pending.keyCall), ("identityCreate", .identity), ("pkcs12Import", .pkcs12), ("cli", .fileKeychain),
        ("backup", .backup), ("restore", .backup), ("newDevice", .backup),
    ]) func waitsForCalls(name: String, reason: Pending) throws {
        #expect(try pending(#"{"call": "\#(name)", "status": 0}"#) == reason)
    }

    @Test func waitsForTheFileKeychainAndNotForTheDevice() throws {
        let step = #"{"call": "copy", "query": {}, "status": -50}"#
        #expect(try pending(step, context: #""platform": "macos-file""#) == .fileKeychain)
        #expect(try pending(step, context: #""platform": "macos-dp", "passcodeSet": false"#) == nil)
        #expect(try pending(step, context: #""deviceState": "locked""#) == nil)
        #expect(try pending(#"{"call": "setState", "state": "locked", "status": 0}"#) == nil)
    }

    @Test func doesNotWaitForBytesOfAFixture() throws {
        #expect(try pending(query: #""kSecValueData": {"certDER": "leafRSA"}"#) == nil)
        #expect(
            try pending(query: #""kSecMatchIssuers": {"array": [{"certIssuerDER": "leafRSA"}]}"#, call: "copy") == nil)
    }
}
