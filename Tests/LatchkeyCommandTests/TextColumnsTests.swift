import Foundation
import KeychainPlatform
import LatchkeyCommand
import Testing

@Suite struct TextColumnsTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ﾊﾝ", 2), ("Ａ", 2), ("한글", 4),
        ("\u{1112}\u{1161}\u{11ab}", 2), ("😀", 2), ("👍🏽", 4), ("👩‍👩‍👧‍👦", 8), ("🇩🇪", 2), ("❤", 1), ("❤\u{fe0f}", 2),
        ("1\u{fe0f}\u{20e3}", 2), ("x\u{fe0f}", 1), ("あ\u{3099}", 2), ("ก\u{e33}", 2), ("«»", 2), ("\u{e000}", 1),
    ])
    func columnsAreThoseOfTheWidestTerminal(_ text: String, _ columns: Int) {
        #expect(TextColumns.count(text) == columns)
    }

    @Test func whatFitsIsWholeCharacters() {
        #expect(TextColumns.beginning(of: "日本", columns: 3) == "日")
        #expect(TextColumns.end(of: "日本", columns: 3) == "本")
        #expect(TextColumns.beginning(of: "ae\u{301}b", columns: 2) == "ae\u{301}")
        #expect(TextColumns.end(of: "ae\u{301}b", columns: 2) == "e\u{301}b")
        #expect(TextColumns.beginning(of: "a👩‍👩‍👧b", columns: 6) == "a")
        #expect(TextColumns.beginning(of: "abc", columns: 0).isEmpty && TextColumns.end(of: "", columns: 9).isEmpty)
    }

    /// Python has the standard's table too (unicodedata, of the version it says).
    @Test func theTableIsUnicodes() throws {
        let script = """
            import unicodedata as u
            for c in range(0x80, 0x110000):
                if u.category(chr(c)) not in ("Cn", "Co", "Cs", "Cc"):
                    print(c, int(u.east_asian_width(chr(c)) in "WF"), u.category(chr(c)))
            """
        let run = try ToolRun.run(
            "/usr/bin/python3", ["-c", script], environment: ["PATH=/usr/bin:/bin"], input: SecretBytes(count: 0),
            output: .upTo(1 << 24))
        let lines = String(decoding: run.output.insecureArray(), as: UTF8.self).split(separator: "\n")
        #expect(run.status == 0 && lines.count > 100_000)
        // Ahom's medial ra became a spacing mark after Python's version.
        let later: Set<UInt32> = [0x1171e]
        var different: [Substring] = []
        for line in lines {
            let fields = line.split(separator: " ")
            guard let value = UInt32(fields[0]), let scalar = Unicode.Scalar(value), !later.contains(value)
            else { continue }
            let isOver =
                ["Mn", "Me", "Cf"].contains(fields[2]) || (0x1160...0x11ff).contains(value)
                || (0xd7b0...0xd7ff).contains(value)
            let expected = isOver ? 0 : fields[1] == "1" ? 2 : 1
            if TextColumns.count(String(scalar)) != expected { different.append(line) }
        }
        #expect(different.isEmpty, "\(different.prefix(20))")
    }

    // MARK: Names

    @Test(arguments: [
        ("e\u{301}", "e\u{301}"), ("\u{301}x", "\\u{301}x"), ("a \u{301}", "a \\u{301}"), ("👩‍👧", "👩‍👧"),
        ("❤️‍🔥", "❤️‍🔥"), ("ma\u{200d}il", "ma\\u{200d}il"), ("\u{200d}", "\\u{200d}"), ("1\u{200d}", "1\\u{200d}"),
        ("\u{7f}\t", "\\u{7f}\\u{9}"), ("ש\u{5c1}ל\u{202b}", "ש\u{5c1}ל\\u{202b}"),
        ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"), ("\u{85}\u{2028}", "\\u{85}\\u{2028}"),
    ])
    func namesAreShownAsTheyAreButForWhatDisturbs(_ name: String, _ shown: String) {
        #expect(Array(PrintableText.escaped(name).unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func aTowerOfMarksStaysInItsLine() {
        let shown = PrintableText.escaped("e" + String(repeating: "\u{301}", count: 10))
        #expect(shown == "e" + String(repeating: "\u{301}", count: 8) + "\\u{301}\\u{301}")
    }
}
