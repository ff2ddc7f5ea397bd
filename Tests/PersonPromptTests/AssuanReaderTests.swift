import KeychainPlatform
import PersonPrompt
import Testing

@Suite struct AssuanReaderTests {
    /// Every answer in what a program says, with the data that came before it.
    private func answers(_ text: String) throws -> [(answer: AssuanAnswer, data: [UInt8])] {
        var reader = AssuanReader()
        var all: [(answer: AssuanAnswer, data: [UInt8])] = []
        for byte in Array(text.utf8) {
            if let answer = try reader.take(byte) { all.append((answer, reader.takeData().insecureArray())) }
        }
        return all
    }

    private func fault(_ text: String) -> AssuanFault? {
        var reader = AssuanReader()
        do throws(AssuanFault) { for byte in Array(text.utf8) { _ = try reader.take(byte) } } catch { return error }
        return nil
    }

    @Test func dataOfSeveralLinesIsOneAnswer() throws {
        let all = try answers("OK Pleased to meet you\n# hm\nS BUTTON_INFO close\nD se%25cr\r\nD et%0a%0D\nOK\n")
        #expect(all.map(\.answer) == [.ok, .ok])
        #expect(all[1].data == Array("se%cret\n\r".utf8))
    }

    @Test func refusalHasItsMeaning() throws {
        let all = try answers("ERR 83886179 Operation cancelled\nERR 83886142 Timeout\nERR 83886194\nERR 1\n")
        let meanings = all.map { answer -> AssuanCode.Meaning? in
            guard case .refused(let code) = answer.answer else { return nil }
            return code.meaning
        }
        #expect(meanings == [.canceled, .timedOut, .canceled, .other(1)])
    }

    @Test(arguments: [
        ("D %4\n", AssuanFault.badEscape), ("D %zz\n", .badEscape), ("D %\n", .badEscape), ("ERR\n", .badCode),
        ("ERR -1\n", .badCode), ("ERR 99999999999\n", .badCode), ("ERR 1x\n", .badCode), ("OKAY\n", .unknownLine),
        ("INQUIRE CHECKPIN x\n", .unknownLine), ("\u{0}\n", .unknownLine),
        (String(repeating: "x", count: 1001), .lineTooLong),
        (String(repeating: "#\n", count: 257), .tooManyLines),
    ])
    func nonsenseIsAFault(_ text: String, _ expected: AssuanFault) {
        #expect(fault(text) == expected)
    }

    @Test func moreDataThanAPasscodeHasIsSaidAndNotKept() throws {
        var reader = AssuanReader()
        let line = "D " + String(repeating: "a", count: 900) + "\n"
        for byte in Array((line + line + line + "OK\n").utf8) {
            guard try reader.take(byte) != nil else { continue }
            let (before, count) = (reader.isTooMuchData, reader.takeData().count)
            #expect(before && count == AssuanReader.longestData)
            let after = reader.isTooMuchData
            #expect(!after)
        }
    }
}
