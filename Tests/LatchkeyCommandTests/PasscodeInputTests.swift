import KeychainPlatform
import LatchkeyCommand
import Testing

@Suite struct PasscodeInputTests {
    private func new(_ console: RecordingConsole) throws -> [UInt8] {
        var input = PasscodeInput(console: console)
        let passcode = try input.new()
        return passcode.insecureArray()
    }

    private func failure(_ console: RecordingConsole) -> CommandFailure? {
        do throws(CommandFailure) {
            var input = PasscodeInput(console: console)
            _ = try input.new()
            return nil
        } catch { return error }
    }

    @Test func newOneIsTypedTwice() throws {
        let console = RecordingConsole(terminal: true, typed: "words")
        #expect(try new(console) == Array("words".utf8))
        #expect(console.prompts == ["New passcode: ", "Once more: "] && console.text.isEmpty)
    }

    @Test func twoThatDifferAreTypedAgain() throws {
        let console = RecordingConsole(terminal: true, typed: "words", typedFirst: ["words", "wordz"])
        #expect(try new(console) == Array("words".utf8))
        #expect(console.notes == ["The two differ. Try again."] && console.prompts.count == 4)
    }

    @Test func threeThatDifferAreRefused() {
        let console = RecordingConsole(terminal: true, typedFirst: ["aaaa", "b", "cccc", "d", "eeee", "f", "g"])
        #expect(failure(console)?.lines == ["the two passcodes differ; nothing was changed", "Try again."])
        #expect(console.prompts.count == 6)
    }

    @Test(arguments: ["abc", "é1"])
    func whatIsTooShortIsNotTypedAgain(_ typed: String) {
        let console = RecordingConsole(terminal: true, typed: typed)
        #expect(failure(console)?.lines.first == "the passcode has fewer than 4 bytes; nothing was changed")
        #expect(failure(console)?.status == .usage && console.prompts.allSatisfy { $0 == "New passcode: " })
    }

    @Test(arguments: [nil, "", String(repeating: "x", count: 1025)])
    func noneEmptyOrEndlessIsRefused(_ typed: String?) {
        #expect(failure(RecordingConsole(terminal: true, typed: typed))?.status == .usage)
    }

    @Test func firstLineOfWhatIsPipedInIsTaken() throws {
        let console = RecordingConsole(input: Array("words words\nmore".utf8))
        #expect(try new(console) == Array("words words".utf8) && console.prompts.isEmpty)
    }

    @Test func whereNobodyCanBeAskedItIsSaid() {
        #expect(failure(RecordingConsole())?.status == .locked)
        #expect(failure(RecordingConsole(input: Array(repeating: 0x61, count: 5000)))?.status == .usage)
    }
}
