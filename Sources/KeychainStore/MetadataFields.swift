internal import KeychainModel
internal import KeychainProtocol

/// Reads the fields of a sealed metadata message (Protos/latchkey_values.proto)
/// without the general decoder, which costs more than opening the seal: every
/// row of every answer passes here.
///
/// Wire format: protobuf.dev/programming-guides/encoding. What it accepts, the
/// general decoder accepts and reads alike (a test compares them over mutations);
/// it refuses more: a field that no version of ours writes, and a group.
struct MetadataFields {
    var attributes = AttributeMap()
    var accessControl: [UInt8] = []
    var sealID: [UInt8] = []
    var dataCode: [UInt8] = []

    /// nil for bytes that no version of ours wrote.
    init?(_ bytes: [UInt8]) {
        var reader = FieldReader(bytes[...])
        attributes.reserve(24)
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let (code, value) = reader.attribute() else { return nil }
                attributes.append(code, value)
            case FieldType.bytes.tag(2):
                guard let encoded = reader.bytes() else { return nil }
                accessControl = Array(encoded)
            case FieldType.bytes.tag(3):
                guard let id = reader.bytes() else { return nil }
                sealID = Array(id)
            case FieldType.bytes.tag(4):
                guard let code = reader.bytes() else { return nil }
                dataCode = Array(code)
            default: return nil
            }
        }
    }
}
