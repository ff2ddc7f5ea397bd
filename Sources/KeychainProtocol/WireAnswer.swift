internal import FoundationEssentials
internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
internal import SwiftProtobuf

/// Builds the messages of one answer, at most 256 rows and about 4 MiB of
/// values each (FORMATS.md, "Answers").
package struct AnswerEncoder: ~Copyable {
    private let number: UInt64
    private let returns: ReturnTypes
    private let many: Bool
    /// The fields of the rows so far.
    private var rows = FieldWriter()
    private var rowCount = 0
    private var values: [SharedSecret] = []
    private var valueBytes: UInt64 = 0

    package init(number: UInt64, returns: ReturnTypes, many: Bool) {
        self.number = number
        self.returns = returns
        self.many = many
    }

    package var isFull: Bool {
        rowCount >= WireLimit.rows || valueBytes >= UInt64(WireLimit.replyBytes)
            || rows.bytes.count >= WireLimit.header / 2
    }

    /// Whether a row with `byteCount` bytes of value still fits into one message.
    package func hasRoom(for byteCount: Int) -> Bool {
        rowCount == 0 || valueBytes + UInt64(byteCount) <= UInt64(WireLimit.replyBytes)
    }

    package mutating func add(_ row: AnswerRow) {
        let valueOffset = valueBytes
        if let value = row.value {
            valueBytes += UInt64(value.bytes.count)
            values.append(value)
        }
        rowCount += 1
        rows.message(6) { writer in
            writer.text(1, row.itemClass.rawValue)
            for (code, value) in row.attributes.entries { writer.attribute(2, code, value) }
            if let access = row.accessControl { writer.bytes(3, access.encoded) }
            writer.bytes(4, row.persistentReference)
            if let value = row.value {
                writer.presentNumber(5, 1)
                writer.number(6, valueOffset)
                writer.number(7, UInt64(value.bytes.count))
            }
            writer.number(8, UInt64(row.search))
            writer.number(9, row.isClosed ? 1 : 0)
        }
    }

    /// The next message, and room for the rows after it.
    ///
    /// - Throws: -108 where there is no memory for its values; they are dropped.
    package mutating func take(more: Bool) throws(KeychainError) -> EncodedMessage {
        var header = FieldWriter(capacity: 32 + rows.bytes.count)
        header.number(1, number)
        header.number(3, more ? 1 : 0)
        header.number(4, UInt64(returns.rawValue))
        header.number(5, many ? 1 : 0)
        header.append(rows)
        let parts = values
        rows = FieldWriter()
        rowCount = 0
        values = []
        valueBytes = 0
        do throws(SystemCallError) {
            return EncodedMessage(header: header.bytes, tail: try SecretBytes.joined(parts))
        } catch {
            throw .noMemory(for: "the values of an answer")
        }
    }
}

/// A message ready to be sent.
package struct EncodedMessage: ~Copyable, Sendable {
    package let header: [UInt8]
    package let tail: SecretBytes

    package init(header: [UInt8], tail: consuming SecretBytes) {
        self.header = header
        self.tail = tail
    }

    package static func failure(_ error: KeychainError, number: UInt64) -> EncodedMessage {
        EncodedMessage(header: FailureFields(error, number: number).encoded, tail: SecretBytes(count: 0))
    }

    /// Says that a request is still at work: nothing, and more to come.
    package static func progress(number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.more = true
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    package static func status(_ status: KeychainStatus, number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.status = Latchkey_StatusReport(status)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }
}

extension EncodedMessage {
    package static func census(_ counts: [GroupCount], number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.census = counts.map { count in
            var out = Latchkey_GroupCount()
            out.group = count.group.name
            out.items = UInt64(count.items)
            return out
        }
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    package static func outcomes(_ outcomes: [KeychainError?], number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.outcomes = outcomes.map { error in
            var out = Latchkey_NewItemOutcome()
            if let error { out.failure = Latchkey_Failure(error) }
            return out
        }
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    package static func changes(_ batch: ChangeBatch, number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.changes = Latchkey_ChangeBatch(batch)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    package static func device(_ state: DeviceState, number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.device = Latchkey_DeviceState(state)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }

    package static func doctor(_ report: DoctorReport, number: UInt64) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.doctor = Latchkey_DoctorReport(report)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
    }
}

/// Puts the messages of one answer together again, on the client's side.
package struct AnswerDecoder {
    private let number: UInt64
    package private(set) var answer = KeychainAnswer()

    package init(number: UInt64) { self.number = number }

    /// Takes one message; true where it was the last.
    ///
    /// - Throws: ``KeychainError`` where it says that the call failed.
    package mutating func take(_ header: [UInt8], tail: borrowing SecretBytes) throws(KeychainError) -> Bool {
        let failure: KeychainError
        do throws(AnswerFault) {
            if let reply = ReplyFields(plain: header) {
                guard reply.number == number else { throw .malformed }
                try absorb(reply, tail)
                return !reply.more
            }
            if let refused = FailureFields(plain: header) {
                guard refused.number == number else { throw .malformed }
                failure = refused.error
            } else {
                let message = try Self.decoded(header)
                guard message.number == number else { throw .malformed }
                if !message.hasFailure {
                    try absorb(message, tail)
                    return !message.more
                }
                failure = message.failure.keychainError
            }
        } catch {
            switch error {
            case .malformed:
                throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "malformed answer")
            case .noMemory: throw .noMemory(for: "a value of the answer")
            }
        }
        throw failure
    }

    private static func decoded(_ header: [UInt8]) throws(AnswerFault) -> Latchkey_WireReply {
        do throws(WireFault) { return try decodeMessage(header) } catch { throw .malformed }
    }

    private mutating func absorb(_ message: Latchkey_WireReply, _ tail: borrowing SecretBytes) throws(AnswerFault) {
        let rows: ReplyFields
        do throws(WireFault) {
            if message.hasStatus { answer.status = try message.status.keychainStatus() }
            if message.hasChanges { answer.changes = try message.changes.batch() }
            if message.hasMeans { answer.means = AuthenticationMeans(message.means) }
            if message.hasDevice {
                guard let state = DeviceState(message.device) else { throw WireFault() }
                answer.device = state
            }
            if message.hasAudit {
                let page = try message.audit.page()
                if answer.audit == nil { answer.audit = page } else { answer.audit?.append(page) }
            }
            if message.hasDoctor { answer.doctor = try message.doctor.report() }
            rows = try ReplyFields(message)
        } catch {
            throw .malformed
        }
        answer.outcomes = message.outcomes.map { $0.hasFailure ? $0.failure.keychainError : nil }
        answer.census = message.census.map {
            GroupCount(group: AccessGroup($0.group), items: Int(clamping: $0.items))
        }
        try absorb(rows, tail)
    }

    private mutating func absorb(_ reply: ReplyFields, _ tail: borrowing SecretBytes) throws(AnswerFault) {
        answer.returns = reply.returns
        answer.many = reply.many
        for row in reply.rows { answer.rows.append(try row.answerRow(tail)) }
    }
}
