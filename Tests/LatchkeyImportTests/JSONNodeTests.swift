import Foundation
import KeychainPlatform
import LatchkeyImport
import Testing

@Suite struct JSONNodeTests {
    private func parse(_ text: String) throws(JSONNode.Flaw) -> JSONNode { try JSONNode.parse(Sample.text(text)) }

    @Test func stringsAreDecodedWhenAsked() throws {
        let node = try parse(
            #"{"a":"x\"\\\/\b\f\n\r\tä\u00e4\ud83d\ude00","b":[1,-2.5e+3,true,false,null],"a":"second"}"#)
        #expect(node["a"]?.text == "x\"\\/\u{8}\u{c}\n\r\tää😀")
        #expect(node["b"]?.elements.map(\.text) == ["1", "-2.5e+3", "true", "false", ""])
        #expect(node.members.count == 3)
    }

    @Test(arguments: [
        ("{\"a\":1,\n\"b\" 2}", 2, JSONNode.Flaw.Reason.notJSON), ("[1,\n2", 2, .cutShort), ("", 1, .cutShort),
        ("[01]", 1, .notJSON), ("[1,]", 1, .notJSON), ("{\"a\":1,}", 1, .notJSON), ("\"a\u{1}\"", 1, .notJSON),
        ("\"\\x\"", 1, .notJSON), (#""\ud83d""#, 1, .halfCharacter), (#""\u12""#, 1, .halfCharacter),
        ("1 1", 1, .notJSON),
        ("\"abc", 1, .cutShort), ("tru", 1, .cutShort), ("nul!", 1, .notJSON), ("-", 1, .cutShort),
        ("[1 2]", 1, .notJSON),
    ])
    func flawIsNamedByItsLine(_ text: String, _ line: Int, _ reason: JSONNode.Flaw.Reason) {
        #expect(throws: JSONNode.Flaw.self) { try parse(text) }
        do throws(JSONNode.Flaw) { _ = try parse(text) } catch {
            #expect(error.line == line && error.reason == reason, "\(text): \(error)")
        }
    }

    @Test func nestingIsLimited() throws {
        _ = try parse(String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
        #expect(throws: JSONNode.Flaw.self) {
            try parse(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000))
        }
    }

    /// Foundation's reader is the other opinion.
    @Test func stringsMeanWhatFoundationSaysTheyDo() throws {
        var numbers = SeededNumbers(seed: 3)
        let scalars = (0..<2000).map { _ in UInt32.random(in: 0...0x2ffff, using: &numbers) }.compactMap(
            Unicode.Scalar.init)
        let text = String(String.UnicodeScalarView(scalars))
        for options in [JSONEncoder.OutputFormatting(), .withoutEscapingSlashes] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = options
            let written = String(decoding: try encoder.encode([text]), as: UTF8.self)
            #expect(try parse(written).elements.first?.text == text)
        }
    }
}
