internal import KeychainMessages
internal import KeychainModel
internal import KeychainProtocol

/// The request that every read of a value makes, and its answer, field by field
/// (Protos/latchkey_enclave.proto, UnwrapKeys): building the general messages costs
/// several times what opening the key costs. What is not of the plain form is the general
/// coder's, to which these bytes are the same.
enum UnwrapFields {
    struct Request: Equatable {
        var number: UInt64 = 0
        var packed: ArraySlice<UInt8> = []
        var session: ArraySlice<UInt8> = []

        var encoded: [UInt8] {
            var writer = FieldWriter(capacity: packed.count + session.count + 32)
            writer.number(1, number)
            writer.message(4) { inner in
                inner.bytes(2, Array(packed))
                inner.bytes(3, Array(session))
            }
            return writer.bytes
        }

        init(number: UInt64, packed: [UInt8], session: [UInt8]) {
            (self.number, self.packed, self.session) = (number, packed[...], session[...])
        }

        /// nil for whatever else was asked.
        init?(plain header: [UInt8]) {
            guard let request = PlainRequest(header, field: 4) else { return nil }
            number = request.number
            var reader = FieldReader(request.message)
            while !reader.isAtEnd {
                switch reader.varint() {
                case FieldType.bytes.tag(2):
                    guard let bytes = reader.bytes() else { return nil }
                    packed = bytes
                case FieldType.bytes.tag(3):
                    guard let bytes = reader.bytes() else { return nil }
                    session = bytes
                default: return nil
                }
            }
        }
    }

    struct Answer: Equatable, PlainAnswer {
        var number: UInt64 = 0
        /// One for each row, a `Latchkey_EnclaveReply.Outcome`.
        var outcomes: [UInt8] = []

        var encoded: [UInt8] {
            var writer = FieldWriter(capacity: outcomes.count + 24)
            writer.number(1, number)
            writer.bytes(7, outcomes)
            return writer.bytes
        }

        init(number: UInt64, outcomes: [UInt8]) { (self.number, self.outcomes) = (number, outcomes) }

        /// nil for whatever else was answered.
        init?(plain header: [UInt8]) {
            var reader = FieldReader(header[...])
            while !reader.isAtEnd {
                switch reader.varint() {
                case FieldType.varint.tag(1):
                    guard let value = reader.varint() else { return nil }
                    number = value
                case FieldType.bytes.tag(7):
                    guard let bytes = reader.bytes() else { return nil }
                    outcomes = Array(bytes)
                default: return nil
                }
            }
        }
    }
}
