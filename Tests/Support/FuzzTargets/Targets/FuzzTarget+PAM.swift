internal import CLatchkeyPAM

extension FuzzTarget {
    /// What pam_latchkey reads: the words behind its name in a line of /etc/pam.d, then two
    /// passwords as somebody typed them, each between zeros.
    static let pamModule = FuzzTarget("pam-module", largestInput: 4096, seeds: { PAMSeeds.all }) {
        bytes throws(Finding) in
        let fields = bytes.split(separator: 0, maxSplits: 63, omittingEmptySubsequences: false).map { Array($0) }
        let words = fields.count > 2 ? Array(fields.dropLast(2)) : []
        let read = parsed(words)
        try claim((1...60).contains(read.seconds), "a patience that is none")
        try claim(read.program.map { $0.first == UInt8(ascii: "/") } ?? true, "a program that is no absolute path")
        let passwords = fields.suffix(2).map { $0 }
        guard passwords.count == 2 else { return }
        for second in [nil, passwords[1]] {
            let typed = [passwords[0]] + (second.map { [$0] } ?? [])
            let isLine = typed.allSatisfy {
                !$0.isEmpty && $0.count <= Int(LP_LONGEST_PASSWORD) && !$0.contains(10)
            }
            let expected: [UInt8] = isLine ? Array(typed.map { $0 + [10] as [UInt8] }.joined()) : []
            try claim(lines(passwords[0], second) == expected, "lines that are not what was typed")
        }
    }

    private static func parsed(_ words: [[UInt8]]) -> (seconds: Int32, program: [UInt8]?) {
        let text: [UInt8] = Array(words.map { $0 + [0] as [UInt8] }.joined()) + [0]
        var starts: [Int] = []
        var start = 0
        for word in words {
            starts.append(start)
            start += word.count + 1
        }
        var options = unsafe lp_options()
        return unsafe text.withUnsafeBytes { buffer in
            let base = unsafe buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
            let arguments: [UnsafePointer<CChar>?] = unsafe starts.map { unsafe base + $0 }
            _ = unsafe lp_parse(&options, Int32(arguments.count), arguments)
            let program = unsafe options.program.map { unsafe Array(String(cString: $0).utf8) }
            return unsafe (options.seconds, program)
        }
    }

    private static func lines(_ first: [UInt8], _ second: [UInt8]?) -> [UInt8] {
        func signs(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
        var input = [CChar](repeating: 0, count: Int(LP_LONGEST_INPUT))
        let count: Int
        if let second {
            count = unsafe lp_lines(&input, signs(first), signs(second))
        } else {
            count = unsafe lp_lines(&input, signs(first), nil)
        }
        return input[..<count].map { UInt8(bitPattern: $0) }
    }
}

private enum PAMSeeds {
    static let all =
        [
            "ask\0lock_at_logout\0timeout=60\0latchkey=/usr/bin/latchkey\0old words\0new words",
            "timeout=0\0timeout=61\0timeout=007\0latchkey=relative\0\0one\ntwo",
        ].map { Array($0.utf8) } + [[UInt8](repeating: 97, count: 1024) + [0] + [UInt8](repeating: 98, count: 1025)]
}
