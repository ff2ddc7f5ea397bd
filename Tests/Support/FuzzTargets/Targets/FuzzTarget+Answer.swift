internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension FuzzTarget {
    /// A message of an answer, as it comes over the wire.
    static let answer = FuzzTarget("answer", seeds: { AnswerSeeds.all }) { bytes throws(Finding) in
        var source = ByteSource(bytes)
        let (header, tail) = source.message()
        guard let first = AnswerProperty.decoded(header, tail, number: 3) else { return }
        let total = first.rows.reduce(0) { $0 + ($1.value?.bytes.count ?? 0) }
        // Rows may share bytes of a tail; what comes back is bounded by what came in.
        try claim(total <= tail.count * max(first.rows.count, 1), "more bytes than came")
        // What is refused to be read is not read as something less.
        let message: Latchkey_WireReply
        do throws(WireFault) { message = try decodeMessage(header) } catch { throw Finding("an answer out of nothing") }
        try claim(UInt32(first.returns.rawValue) == message.returns, "another shape")
        let constrained = message.rows.count { !$0.accessControl.isEmpty }
        try claim(first.rows.count { $0.accessControl != nil } == constrained, "an access control was dropped")
        try AnswerProperty.survivesItsEncoding(first)
    }

    /// Rows as the engine hands them out, over the wire and back.
    static let rows = FuzzTarget("rows") { bytes throws(Finding) in
        var source = ByteSource(bytes)
        var answer = KeychainAnswer(
            returns: ReturnTypes(rawValue: source.byte()), many: source.flag(), rows: [])
        while !source.isAtEnd, answer.rows.count < 300 { answer.rows.append(source.answerRow()) }
        try AnswerProperty.survivesItsEncoding(answer)
    }
}

enum AnswerProperty {
    /// nil where it is refused; a failure that the message reports counts as such.
    static func decoded(_ header: [UInt8], _ tail: [UInt8], number: UInt64) -> KeychainAnswer? {
        var decoder = AnswerDecoder(number: number)
        do throws(KeychainError) {
            _ = try decoder.take(header, tail: SecretBytes(copying: tail))
            return decoder.answer
        } catch {
            _ = error.description
            return nil
        }
    }

    /// Answers decode to what was encoded, however many messages they take.
    static func survivesItsEncoding(_ answer: KeychainAnswer) throws(Finding) {
        var encoder = AnswerEncoder(number: 9, returns: answer.returns, many: answer.many)
        var decoder = AnswerDecoder(number: 9)
        do throws(KeychainError) {
            for row in answer.rows {
                if encoder.isFull || !encoder.hasRoom(for: row.value?.bytes.count ?? 0) {
                    let isOver = try take(encoder.take(more: true), &decoder)
                    if isOver { throw KeychainError(.notAvailable, reason: .internalFault(what: "over too early")) }
                }
                encoder.add(row)
            }
            guard try take(encoder.take(more: false), &decoder) else {
                throw KeychainError(.notAvailable, reason: .busy)
            }
        } catch {
            throw Finding("an answer of ours does not decode: \(error)")
        }
        try check(decoder.answer, answer)
    }

    private static func take(
        _ message: consuming EncodedMessage, _ decoder: inout AnswerDecoder
    ) throws(KeychainError) -> Bool {
        try decoder.take(message.header, tail: message.tail)
    }

    private static func check(_ got: KeychainAnswer, _ sent: KeychainAnswer) throws(Finding) {
        try claim(got.returns == sent.returns && got.many == sent.many, "another shape")
        try claim(got.rows.count == sent.rows.count, "\(sent.rows.count) rows became \(got.rows.count)")
        for (a, b) in zip(got.rows, sent.rows) { try claim(Sameness.of(a, b), "another row") }
    }
}

extension ByteSource {
    mutating func answerRow() -> AnswerRow {
        let itemClass = choice(of: ItemClass.allCases)
        let attributes = attributes()
        let access: AccessControl? = flag() ? accessControl() : nil
        let reference = data()
        let value = flag() ? SharedSecret(SecretBytes(copying: data())) : nil
        return AnswerRow(
            itemClass: itemClass, attributes: attributes, accessControl: access, persistentReference: reference,
            value: value)
    }
}

private enum AnswerSeeds {
    static let all: [[UInt8]] = [
        seed(.failure(KeychainError(.param, reason: .malformed(key: "x"), underlying: "y"), number: 3)),
        seed(.status(status, number: 3)), seed(rows(more: false)), seed(rows(more: true)),
    ]

    private static var status: KeychainStatus {
        var status = KeychainStatus()
        status.dataDirectory = "/data"
        status.storeID = Array(0..<16)
        status.items = [.genericPassword: 3, .key: 1]
        status.openClasses = [.always, .whenUnlocked]
        return status
    }

    private static func rows(more: Bool) -> EncodedMessage {
        var encoder = AnswerEncoder(number: 3, returns: [.data, .attributes], many: true)
        for number in 0..<3 {
            var attributes = AttributeMap()
            attributes.append(.account, .string("account \(number)"))
            attributes.append(.creationDate, .date(1))
            attributes.append("crtr", .integer(-1))
            encoder.add(
                AnswerRow(
                    itemClass: .genericPassword, attributes: attributes,
                    accessControl: AccessControl(unconstrained: .whenUnlocked), persistentReference: [1, 2],
                    value: number == 1 ? nil : SharedSecret(SecretBytes(copying: [1, 2, 3]))))
        }
        do throws(KeychainError) { return try encoder.take(more: more) } catch { return .failure(error, number: 3) }
    }

    private static func seed(_ message: consuming EncodedMessage) -> [UInt8] {
        ByteSink.message(message.header, message.tail.insecureArray())
    }
}
