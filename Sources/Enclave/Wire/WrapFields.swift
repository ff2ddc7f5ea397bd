internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainProtocol

/// The request that every add makes, and its answer, field by field
/// (Protos/latchkey_enclave.proto, WrapKeys), as ``UnwrapFields`` has what reads make. What is
/// not of the plain form is the general coder's, to which these bytes are the same.
enum WrapFields {
    struct Request: Equatable {
        let rows: [RowBinding]
        /// 16 bytes, or none.
        let session: [UInt8]

        /// - Returns: nil where a row says what a person is shown.
        init?(rows: some Collection<RowBinding>, session: [UInt8]) {
            guard rows.allSatisfy({ $0.shown == nil }) else { return nil }
            (self.rows, self.session) = (Array(rows), session)
        }

        func encoded(as number: UInt64) -> [UInt8] {
            var writer = FieldWriter(capacity: rows.count * 32 + session.count + 32)
            writer.number(1, number)
            writer.message(3) { batch in
                for row in rows {
                    batch.message(1) { message in
                        message.bytes(1, row.uuid)
                        message.number(2, UInt64(row.protectionClass.number))
                        message.bytes(3, row.accessControl)
                    }
                }
                batch.bytes(2, session)
            }
            return writer.bytes
        }

        /// nil for whatever was packed otherwise.
        init?(plain batch: ArraySlice<UInt8>) {
            var (rows, session): ([RowBinding], [UInt8]) = ([], [])
            var reader = FieldReader(batch)
            while !reader.isAtEnd {
                switch reader.varint() {
                case FieldType.bytes.tag(1):
                    guard let message = reader.bytes(), let row = RowBinding(plain: message) else { return nil }
                    rows.append(row)
                case FieldType.bytes.tag(2):
                    guard let bytes = reader.bytes() else { return nil }
                    session = Array(bytes)
                default: return nil
                }
            }
            (self.rows, self.session) = (rows, session)
        }
    }

    /// What became of one key (`Latchkey_EnclaveReply.KeyResult`).
    struct Result: Equatable {
        var outcome = Latchkey_EnclaveReply.Outcome.unspecified
        var generation: UInt32 = 0
        var wrapped: [UInt8] = []

        init(_ outcome: Latchkey_EnclaveReply.Outcome, _ wrapped: WrappedKey? = nil) {
            (self.outcome, generation, self.wrapped) = (outcome, wrapped?.generation ?? 0, wrapped?.box ?? [])
        }

        init(_ message: Latchkey_EnclaveReply.KeyResult) {
            (outcome, generation, wrapped) = (message.outcome, message.generation, Array(message.wrapped))
        }

        var message: Latchkey_EnclaveReply.KeyResult {
            var message = Latchkey_EnclaveReply.KeyResult()
            (message.outcome, message.generation, message.wrapped) = (outcome, generation, Data(wrapped))
            return message
        }

        fileprivate init?(plain message: ArraySlice<UInt8>) {
            var reader = FieldReader(message)
            while !reader.isAtEnd {
                switch reader.varint() {
                case FieldType.varint.tag(1):
                    // What no version of ours says is the general coder's to judge.
                    guard let number = reader.varint(), number < 0x80,
                        let known = Latchkey_EnclaveReply.Outcome(rawValue: Int(number))
                    else { return nil }
                    outcome = known
                case FieldType.varint.tag(2):
                    guard let number = reader.varint(), let value = UInt32(exactly: number) else { return nil }
                    generation = value
                case FieldType.bytes.tag(3):
                    guard let bytes = reader.bytes() else { return nil }
                    wrapped = Array(bytes)
                default: return nil
                }
            }
        }
    }

    struct Answer: Equatable, PlainAnswer {
        let number: UInt64
        /// One for each row.
        let results: [Result]

        var encoded: [UInt8] {
            var writer = FieldWriter(capacity: results.count * 72 + 16)
            writer.number(1, number)
            for result in results {
                writer.message(3) { message in
                    message.number(1, UInt64(result.outcome.rawValue))
                    message.number(2, UInt64(result.generation))
                    message.bytes(3, result.wrapped)
                }
            }
            return writer.bytes
        }

        init(number: UInt64, results: [Result]) { (self.number, self.results) = (number, results) }

        /// nil for whatever else was answered.
        init?(plain header: [UInt8]) {
            var reader = FieldReader(header[...])
            var (number, results): (UInt64, [Result]) = (0, [])
            while !reader.isAtEnd {
                switch reader.varint() {
                case FieldType.varint.tag(1):
                    guard let value = reader.varint() else { return nil }
                    number = value
                case FieldType.bytes.tag(3):
                    guard let message = reader.bytes(), let result = Result(plain: message) else { return nil }
                    results.append(result)
                default: return nil
                }
            }
            (self.number, self.results) = (number, results)
        }
    }
}

extension RowBinding {
    /// nil for a class that is not known, and for a row that says what a person is shown.
    fileprivate init?(plain message: ArraySlice<UInt8>) {
        var reader = FieldReader(message)
        var (uuid, number, accessControl): ([UInt8], UInt64, [UInt8]) = ([], 0, [])
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.bytes.tag(1):
                guard let bytes = reader.bytes() else { return nil }
                uuid = Array(bytes)
            case FieldType.varint.tag(2):
                guard let value = reader.varint() else { return nil }
                number = value
            case FieldType.bytes.tag(3):
                guard let bytes = reader.bytes() else { return nil }
                accessControl = Array(bytes)
            default: return nil
            }
        }
        guard let number = UInt8(exactly: number), let named = ProtectionClass(number: number) else { return nil }
        self.init(uuid: uuid, protectionClass: named, accessControl: accessControl)
    }
}
