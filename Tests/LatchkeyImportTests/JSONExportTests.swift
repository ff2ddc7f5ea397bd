import LatchkeyImport
import Testing

/// Whose export a JSON is.
@Suite struct JSONExportTests {
    private func refused(_ text: String) -> ImportFailure? {
        do throws(ImportFailure) {
            _ = try Sample.json(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (#"{"folders":[],"items":[{"title":"x","category":"login","fields":[{"value":"p"}]}]}"#, "Enpass"),
        (#"{"folders":[],"items":[{"title":"x","template_type":"login.default"}]}"#, "Enpass"),
        (#"{"version":{"major":1},"exporterRpId":"x","accounts":[]}"#, "CXF"),
        (#"{"accounts":[{"id":"x","collections":[],"items":[{"title":"T"}]}]}"#, "CXF"),
        (#"{"version":"1.21.2","encrypted":false,"userId":"x","vaults":{"v":{"items":[]}}}"#, "Proton Pass"),
        (#"{"version":1,"header":{"slots":null},"db":{"version":3,"entries":[]}}"#, "Aegis"),
    ])
    func exportOfAnotherProgramIsNamed(_ text: String, _ program: String) throws {
        let refusal = try #require(refused(text))
        #expect(refusal.kind == .wrongSource && refusal.message.contains(program) && !refusal.advice.isEmpty)
    }

    @Test(arguments: [
        #"{"items":[{"name":"x"}]}"#, #"{"items":[{"type":"login","name":"x"}]}"#, #"{"accounts":[]}"#,
        #"{"accounts":[{"name":"x"}]}"#, #"{"accounts":[{"vaults":{"a":1}}]}"#,
    ])
    func namesOfMembersAloneAreNoFormat(_ text: String) throws {
        #expect(try #require(refused(text)).message.contains("no known format"))
    }

    @Test(arguments: ["[]", #"[{"name":"x"}]"#]) func aListIsSaidToBeOne(_ text: String) throws {
        #expect(try #require(refused(text)).message.contains("a list"))
    }

    @Test func encryptedBitwardenIsRefusedAsThat() throws {
        let refusal = try #require(refused(#"{"encrypted":true,"passwordProtected":true,"salt":"x","data":"2.y"}"#))
        #expect(refusal.message.contains("Bitwarden") && refusal.advice.contains(".json"))
    }

    @Test(arguments: [#"{"encrypted":false,"items":[]}"#, #"{"items":[]}"#])
    func emptyExportOfBitwardenIsOne(_ text: String) throws {
        let document = try Sample.json(text)
        #expect(document.format == .bitwardenJSON && document.entries.isEmpty && document.flaws.isEmpty)
    }
}
