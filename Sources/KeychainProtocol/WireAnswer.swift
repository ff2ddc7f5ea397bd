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
    private var rows: [Latchkey_WireRow] = []
    private var values: [SharedSecret] = []
    private var valueBytes: UInt64 = 0
    /// What the rows take in the header, at the most.
    private var headerBytes = 0

    package init(number: UInt64, returns: ReturnTypes, many: Bool) {
        self.number = number
        self.returns = returns
        self.many = many
    }

    package var isFull: Bool {
        rows.count >= WireLimit.rows || valueBytes >= UInt64(WireLimit.replyBytes)
            || headerBytes >= WireLimit.header / 2
    }

    /// Whether a row with `byteCount` bytes of value still fits into one message.
    package func hasRoom(for byteCount: Int) -> Bool {
        rows.isEmpty || valueBytes + UInt64(byteCount) <= UInt64(WireLimit.replyBytes)
    }

    package mutating func add(_ row: AnswerRow) {
        var out = Latchkey_WireRow()
        out.itemClass = row.itemClass.rawValue
        out.attributes = row.attributes.entries.map { Latchkey_WireAttribute($0.code, $0.value) }
        if let access = row.accessControl { out.accessControl = Data(access.encoded) }
        out.persistentReference = Data(row.persistentReference)
        // A field has a tag and a length of at most 16 bytes together.
        headerBytes += 256 + row.attributes.entries.reduce(0) { $0 + 32 + $1.value.byteCount }
        if let value = row.value {
            out.hasValue_p = true
            out.valueOffset = valueBytes
            out.valueLength = UInt64(value.bytes.count)
            valueBytes += out.valueLength
            values.append(value)
        }
        rows.append(out)
    }

    /// The next message, and room for the rows after it.
    ///
    /// - Throws: -108 where there is no memory for its values; they are dropped.
    package mutating func take(more: Bool) throws(KeychainError) -> EncodedMessage {
        var message = Latchkey_WireReply()
        message.number = number
        message.more = more
        message.returns = UInt32(returns.rawValue)
        message.many = many
        message.rows = rows
        let (parts, byteCount) = (values, Int(valueBytes))
        rows = []
        headerBytes = 0
        values = []
        valueBytes = 0
        do throws(SystemCallError) {
            return EncodedMessage(header: message.wireBytes, tail: try Self.concatenate(parts, byteCount: byteCount))
        } catch {
            throw .noMemory(for: "the values of an answer")
        }
    }

    private static func concatenate(
        _ parts: [SharedSecret], byteCount: Int
    ) throws(SystemCallError) -> SecretBytes {
        var out = try SecretBytes(allocating: byteCount)
        var at = 0
        for part in parts {
            unsafe out.withUnsafeMutableBytes { place in
                unsafe part.bytes.withUnsafeBytes { source in
                    guard source.count > 0 else { return }
                    unsafe UnsafeMutableRawBufferPointer(rebasing: place[at...]).copyMemory(from: source)
                }
            }
            at += part.bytes.count
        }
        return out
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
        var message = Latchkey_WireReply()
        message.number = number
        message.failure = Latchkey_Failure(error)
        return EncodedMessage(header: message.wireBytes, tail: SecretBytes(count: 0))
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
        let message: Latchkey_WireReply
        do throws(Fault) {
            do throws(WireFault) { message = try decodeMessage(header) } catch { throw .malformed }
            guard message.number == number else { throw .malformed }
            if !message.hasFailure { try absorb(message, tail) }
        } catch {
            switch error {
            case .malformed:
                throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "malformed answer")
            case .noMemory: throw .noMemory(for: "a value of the answer")
            }
        }
        if message.hasFailure { throw message.failure.keychainError }
        return !message.more
    }

    private enum Fault: Error {
        case malformed
        case noMemory
    }

    private mutating func absorb(_ message: Latchkey_WireReply, _ tail: borrowing SecretBytes) throws(Fault) {
        guard let returns = UInt8(exactly: message.returns) else { throw .malformed }
        answer.returns = ReturnTypes(rawValue: returns)
        answer.many = message.many
        do throws(WireFault) {
            if message.hasStatus { answer.status = try message.status.keychainStatus() }
            if message.hasDoctor { answer.doctor = try message.doctor.report() }
        } catch {
            throw .malformed
        }
        for row in message.rows { answer.rows.append(try Self.row(row, tail)) }
    }

    private static func row(_ row: Latchkey_WireRow, _ tail: borrowing SecretBytes) throws(Fault) -> AnswerRow {
        guard let itemClass = ItemClass(rawValue: row.itemClass) else { throw .malformed }
        var attributes = AttributeMap()
        attributes.reserve(row.attributes.count)
        for attribute in row.attributes {
            guard let value = attribute.attributeValue else { throw .malformed }
            attributes.append(AttributeCode(rawValue: attribute.code), value)
        }
        var value: SharedSecret?
        if row.hasValue_p {
            let total = UInt64(tail.count)
            guard row.valueOffset <= total, row.valueLength <= total - row.valueOffset else { throw .malformed }
            let range = Int(row.valueOffset)..<Int(row.valueOffset + row.valueLength)
            do throws(SystemCallError) { value = SharedSecret(try tail.copy(allocating: range)) } catch {
                throw .noMemory
            }
        }
        var access: AccessControl?
        if !row.accessControl.isEmpty {
            guard let decoded = AccessControl(encoded: Array(row.accessControl)) else { throw .malformed }
            access = decoded
        }
        return AnswerRow(
            itemClass: itemClass, attributes: attributes, accessControl: access,
            persistentReference: Array(row.persistentReference), value: value)
    }
}
