internal import KeychainPlatform
internal import PersonPrompt

extension FuzzTarget {
    /// What a pinentry says, and the words of others in what it is told.
    static let assuan = FuzzTarget("assuan", seeds: { AssuanSeeds.all }) { bytes throws(Finding) in
        var reader = AssuanReader()
        var data = 0
        do throws(AssuanFault) {
            for byte in bytes {
                guard try reader.take(byte) != nil else { continue }
                data += reader.takeData().count
            }
        } catch {}
        try claim(data <= bytes.count, "more data than there were bytes")
    }

    /// Words that stand among ours.
    static let foreignText = FuzzTarget("foreign-text", seeds: { AssuanSeeds.words }) { bytes throws(Finding) in
        let words = String(decoding: bytes, as: UTF8.self)
        for repertoire in [ForeignText.Repertoire.unicode, .ascii] {
            let clean = ForeignText(words, characters: 40, bytes: 90, repertoire).text
            try claim(clean.unicodeScalars.count <= 43 && clean.utf8.count <= 93, "words that are too long")
            try claim(
                !clean.unicodeScalars.contains { $0.value < 0x20 || "\"“”<>\u{7f}".unicodeScalars.contains($0) },
                "words that end ours")
            let again = ForeignText(clean, characters: 80, bytes: 200, repertoire).text
            try claim(again == clean, "words that change when they are cleaned again")
        }
    }
}

private enum AssuanSeeds {
    static let all = [
        "OK Pleased to meet you\n", "S BUTTON_INFO close\nD pass%25word\nD more\r\nOK\n",
        "# comment\n\nERR 83886179 no\n",
        "INQUIRE CHECKPIN x\nEND\n",
    ].map { Array($0.utf8) }
    static let words = ["fetching mail", "a”\nItem | “x”", "\u{202e}abc\u{200b} e\u{301}\u{301}\u{301}", "<b>100%</b>"]
        .map { Array($0.utf8) }
}
