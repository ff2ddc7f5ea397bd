internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform

/// The rows that one message of an answer brings (Protos/latchkey_wire.proto,
/// WireReply without failure, status and doctor).
struct ReplyFields {
    var number: UInt64 = 0
    var more = false
    var returns: ReturnTypes = []
    var many = false
    var rows: [RowFields] = []

    /// From the general decoder's message.
    init(_ message: Latchkey_WireReply) throws(WireFault) {
        guard let returns = UInt8(exactly: message.returns) else { throw WireFault() }
        number = message.number
        more = message.more
        self.returns = ReturnTypes(rawValue: returns)
        many = message.many
        for row in message.rows { rows.append(try RowFields(row)) }
    }

    /// Without the general decoder; nil for whatever is more than rows.
    init?(plain header: [UInt8]) {
        var reader = FieldReader(header[...])
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let value = reader.varint() else { return nil }
                number = value
            case FieldType.varint.tag(3):
                guard let flag = reader.varint() else { return nil }
                more = flag != 0
            case FieldType.varint.tag(4):
                guard let bits = reader.varint(), let returns = UInt8(exactly: bits) else { return nil }
                self.returns = ReturnTypes(rawValue: returns)
            case FieldType.varint.tag(5):
                guard let flag = reader.varint() else { return nil }
                many = flag != 0
            case FieldType.bytes.tag(6):
                guard let message = reader.bytes(), let row = RowFields(plain: message) else { return nil }
                rows.append(row)
            default: return nil
            }
        }
    }
}

/// One row, its value still a place in the tail.
struct RowFields {
    private var itemClass = ""
    private var attributes = AttributeMap()
    private var accessControl: [UInt8] = []
    private var persistentReference: [UInt8] = []
    private var hasValue = false
    private var valueOffset: UInt64 = 0
    private var valueLength: UInt64 = 0
    private var search: UInt64 = 0
    private var isClosed = false

    init(_ row: Latchkey_WireRow) throws(WireFault) {
        itemClass = row.itemClass
        attributes.reserve(row.attributes.count)
        for attribute in row.attributes {
            guard let value = attribute.attributeValue else { throw WireFault() }
            attributes.append(AttributeCode(rawValue: attribute.code), value)
        }
        accessControl = Array(row.accessControl)
        persistentReference = Array(row.persistentReference)
        hasValue = row.hasValue_p
        valueOffset = row.valueOffset
        valueLength = row.valueLength
        search = UInt64(row.search)
        isClosed = row.closed
    }

    init?(plain message: ArraySlice<UInt8>) {
        var reader = FieldReader(message)
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let text = reader.text() else { return nil }
                itemClass = text
            case FieldType.bytes.tag(2):
                guard let (code, value) = reader.attribute() else { return nil }
                attributes.append(code, value)
            case FieldType.bytes.tag(3):
                guard let bytes = reader.bytes() else { return nil }
                accessControl = Array(bytes)
            case FieldType.bytes.tag(4):
                guard let bytes = reader.bytes() else { return nil }
                persistentReference = Array(bytes)
            case FieldType.varint.tag(5):
                guard let flag = reader.varint() else { return nil }
                hasValue = flag != 0
            case FieldType.varint.tag(6):
                guard let offset = reader.varint() else { return nil }
                valueOffset = offset
            case FieldType.varint.tag(7):
                guard let length = reader.varint() else { return nil }
                valueLength = length
            case FieldType.varint.tag(8):
                guard let number = reader.varint(), UInt32(exactly: number) != nil else { return nil }
                search = number
            case FieldType.varint.tag(9):
                guard let flag = reader.varint() else { return nil }
                isClosed = flag != 0
            default: return nil
            }
        }
    }

    func answerRow(_ tail: borrowing SecretBytes) throws(AnswerFault) -> AnswerRow {
        guard let itemClass = ItemClass(rawValue: itemClass) else { throw .malformed }
        var access: AccessControl?
        if !accessControl.isEmpty {
            guard let decoded = AccessControl(encoded: accessControl) else { throw .malformed }
            access = decoded
        }
        var row = AnswerRow(
            itemClass: itemClass, attributes: attributes, accessControl: access,
            persistentReference: persistentReference, value: try value(in: tail))
        row.search = Int(search)
        row.isClosed = isClosed
        return row
    }

    private func value(in tail: borrowing SecretBytes) throws(AnswerFault) -> SharedSecret? {
        guard hasValue else { return nil }
        let total = UInt64(tail.count)
        guard valueOffset <= total, valueLength <= total - valueOffset else { throw .malformed }
        let range = Int(valueOffset)..<Int(valueOffset + valueLength)
        do throws(SystemCallError) { return SharedSecret(try tail.copy(allocating: range)) } catch { throw .noMemory }
    }
}

/// Why an answer cannot be taken.
enum AnswerFault: Error {
    case malformed
    case noMemory
}
