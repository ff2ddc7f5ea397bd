import KeychainPlatform
import LatchkeyImport
import Testing

@Suite struct CSVReaderTests {
    /// Records as text: fields, or the flaw with its line.
    private func records(_ source: SourceText) -> [[String]] {
        var reader = CSVReader(source)
        var records: [[String]] = []
        while let record = reader.next() {
            switch record {
            case .fields(let fields, let line): records.append(["\(line)"] + fields.map { SecretText($0).text })
            case .malformed(let line, let flaw): records.append(["\(line)!", flaw.rawValue])
            }
        }
        return records
    }

    private func records(_ text: String) -> [[String]] { records(Sample.text(text)) }

    @Test func quotedFieldsHoldCommasQuotesAndNewlines() {
        #expect(
            records("a,\"b,c\",\"d\"\"e\"\n\"x\r\ny\",,\"\"\nlast,1,2")
                == [["1", "a", "b,c", "d\"e"], ["2", "x\r\ny", "", ""], ["4", "last", "1", "2"]])
    }

    @Test(arguments: ["\n", "\r\n", "\r"]) func linesMayEndInEachWay(_ end: String) {
        #expect(records("a,b\(end)\(end)c,d\(end)") == [["1", "a", "b"], ["3", "c", "d"]])
        let flawed = "a,b\(end)c,d\"e\(end)\"f\(end)g\",h"
        #expect(
            records(flawed) == [
                ["1", "a", "b"], ["2!", CSVReader.Flaw.quoteInside.rawValue], ["3", "f\(end)g", "h"],
            ])
    }

    @Test func blanksAndLoneReturnsBelongToAField() {
        #expect(records(" a , b\t\nc\rd,e") == [["1", " a ", " b\t"], ["2", "c\rd", "e"]])
    }

    @Test func malformedLineIsNamedAndLosesNothingElse() {
        let text = "h1,h2\nok,1\nab\"c,2\n\"open,3\nok,4\n\"x\"y,5\nok,6\n"
        #expect(
            records(text) == [
                ["1", "h1", "h2"], ["2", "ok", "1"],
                ["3!", CSVReader.Flaw.quoteInside.rawValue],
                ["4!", CSVReader.Flaw.textAfterQuote.rawValue],
                ["5", "ok", "4"],
                ["6!", CSVReader.Flaw.textAfterQuote.rawValue],
                ["7", "ok", "6"],
            ])
    }

    @Test func quoteThatNeverClosesLosesItsLineAlone() {
        #expect(
            records("a,b\n\"c,d\ne,f\ng,h\n")
                == [["1", "a", "b"], ["2!", CSVReader.Flaw.openQuote.rawValue], ["3", "e", "f"], ["4", "g", "h"]])
    }

    @Test func bytesThatAreNoTextLoseTheirLineAlone() {
        #expect(
            records(Sample.text(Array("a,b\n".utf8) + [0x63, 0x2c, 0xff, 0x0a] + Array("e,f".utf8)))
                == [["1", "a", "b"], ["2!", CSVReader.Flaw.notText.rawValue], ["3", "e", "f"]])
    }

    @Test(arguments: [false, true]) func utf16WithItsMarkReadsAlike(_ bigEndian: Bool) {
        let bytes = Sample.utf16("ä,\"😀\nb\"\r\nc,d", bigEndian: bigEndian)
        #expect(records(Sample.text(bytes)) == [["1", "ä", "😀\nb"], ["3", "c", "d"]])
        #expect(Sample.text(bytes).encoding == (bigEndian ? .utf16BigEndian : .utf16LittleEndian))
    }

    @Test(arguments: [false, true]) func utf16WithoutItsMarkIsSeen(_ bigEndian: Bool) {
        let bytes = Array(Sample.utf16("a,\"😀\nb\"\r\nc,d", bigEndian: bigEndian).dropFirst(2))
        #expect(records(Sample.text(bytes)) == [["1", "a", "😀\nb"], ["3", "c", "d"]])
        #expect(Sample.text(bytes).encoding == (bigEndian ? .utf16BigEndian : .utf16LittleEndian))
        // An odd byte more, and it is no such text.
        #expect(Sample.text(bytes + [0x61]).encoding == .utf8)
    }

    @Test func halfCharactersOfUTF16LoseTheirLineAlone() {
        var bytes = Sample.utf16("a,b\nX,c\nd,e", bigEndian: false)
        // X becomes a half that stands alone.
        let at = 2 + 2 * 4
        (bytes[at], bytes[at + 1]) = (0x00, 0xd8)
        #expect(
            records(Sample.text(bytes))
                == [["1", "a", "b"], ["2!", CSVReader.Flaw.notText.rawValue], ["3", "d", "e"]])
        #expect(
            records(Sample.text(bytes.dropLast()))
                == [
                    ["1", "a", "b"], ["2!", CSVReader.Flaw.notText.rawValue], ["3!", CSVReader.Flaw.notText.rawValue],
                ])
    }

    @Test func byteOrderMarkOfUTF8IsNoPartOfTheFirstField() {
        #expect(records(Sample.text([0xef, 0xbb, 0xbf] + Array("a,b".utf8))) == [["1", "a", "b"]])
    }

    /// Each of many open quotes is searched to the end once in all, not once each.
    @Test(.timeLimit(.minutes(20))) func manyOpenQuotesTakeNoLongerThanTheirText() {
        let text =
            "x,y\n" + String(repeating: "\"a\"\"b,c\n", count: 20_000) + String(repeating: "\"\"z,\"\n", count: 20_000)
        let found = records(text)
        // The heading, and the last of the open ones with the line that closes it.
        #expect(found.count { $0.first?.hasSuffix("!") == true } == found.count - 2)
        #expect(found.count == 40_000)
    }

    @Test func whatIsWrittenByTheRulesIsReadBack() {
        var numbers = SeededNumbers(seed: 7)
        let letters = ["a", "\"", ",", "\n", "\r\n", " ", "ß", "😀", "\t", "\\"]
        for _ in 0..<500 {
            let rows = (0..<Int.random(in: 1...4, using: &numbers)).map { _ in
                (0..<3).map { _ in
                    (0..<Int.random(in: 0...6, using: &numbers)).map { _ in letters.randomElement(using: &numbers)! }
                        .joined()
                }
            }
            let text = rows.map { row in
                row.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
            }.joined(separator: "\r\n")
            #expect(records(text).map { Array($0.dropFirst()) } == rows)
        }
    }
}
