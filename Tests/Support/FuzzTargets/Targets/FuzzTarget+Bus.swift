internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// What `latchkey-bus` says, and what it is asked.
    static let systemBus = FuzzTarget("system-bus", seeds: { BusSeeds.all }) { bytes throws(Finding) in
        var source = ByteSource(bytes)
        let (header, tail) = source.message()
        if let request = BusProtocol.decodeRequest(header: header, tail: SecretBytes(copying: tail)) {
            let again = BusProtocol.decodeRequest(header: BusProtocol.encode(request), tail: SecretBytes(count: 0))
            try claim(again == request, "a request that its encoding changes")
            try claim(tail.isEmpty, "a request with a tail")
        }
        if let word = BusProtocol.decodeWord(header: header, tail: SecretBytes(copying: tail)) {
            let again = BusProtocol.decodeWord(header: BusProtocol.encode(word), tail: SecretBytes(count: 0))
            try claim(again == word, "a word that its encoding changes")
            try claim(tail.isEmpty, "a word with a tail")
            if case .reader(let reader?) = word { try claim((0...100).contains(reader.fingers), "too many fingers") }
        }
    }
}

private enum BusSeeds {
    static let all: [[UInt8]] = {
        let requests: [BusRequest] = [.describeReader, .verifyFinger, .followLogins, .letSleep]
        let reader = FingerReader(fingers: 3, isSwiped: true)
        let words: [BusWord] = [
            .failed("there is no system bus"), .reader(nil), .reader(reader), .ready(reader), .touched(.match),
            .touched(.noMatch), .touched(.unreadable), .following(delaysSleep: true), .sleeping, .screenLocked,
        ]
        return (requests.map(BusProtocol.encode) + words.map(BusProtocol.encode)).map { ByteSink.message($0, []) }
    }()
}
