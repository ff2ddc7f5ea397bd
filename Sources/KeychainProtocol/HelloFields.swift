internal import KeychainMessages
package import KeychainModel

/// The client's part of the hello (Protos/latchkey_wire.proto, ClientHello), field by field:
/// each program that makes one call waits for it.
package enum HelloFields {
    package static func encoded(version: String) -> [UInt8] {
        var writer = FieldWriter(capacity: 32)
        writer.number(1, UInt64(ProtocolVersion.lowest))
        writer.number(2, UInt64(ProtocolVersion.highest))
        writer.text(3, version)
        return writer.bytes
    }

    /// What the daemon answered.
    ///
    /// - Throws: why it refuses the connection, or a fault for what is no answer.
    package static func decoded(_ header: [UInt8]) throws(WireFault) -> Result<SessionInformation, KeychainError> {
        if let session = SessionInformation(plain: header) { return .success(session) }
        let answer: Latchkey_ServerHello = try decodeMessage(header)
        return answer.hasFailure ? .failure(answer.failure.keychainError) : .success(answer.session)
    }
}

extension SessionInformation {
    /// Without the general decoder; nil for a refusal, and for whatever else there is, which
    /// is the general decoder's to judge.
    init?(plain header: [UInt8]) {
        var reader = FieldReader(header[...])
        self.init(
            groups: [], nameableGroups: [], strength: .none, isTemporary: false, identity: "", missingFeatures: [],
            serverVersion: "")
        protocolVersion = 0
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let number = reader.varint(), let version = UInt32(exactly: number) else { return nil }
                protocolVersion = version
            case FieldType.bytes.tag(2):
                guard let text = reader.text() else { return nil }
                serverVersion = text
            case FieldType.bytes.tag(4):
                guard let text = reader.text() else { return nil }
                groups.append(text)
            case FieldType.bytes.tag(5):
                guard let text = reader.text() else { return nil }
                nameableGroups.append(text)
            case FieldType.varint.tag(6):
                guard let number = reader.varint(), let known = Int(exactly: number).flatMap(IdentityStrength.init)
                else { return nil }
                strength = known
            case FieldType.varint.tag(7):
                guard let flag = reader.varint() else { return nil }
                isTemporary = flag != 0
            case FieldType.bytes.tag(8):
                guard let text = reader.text() else { return nil }
                identity = text
            case FieldType.bytes.tag(9):
                guard let text = reader.text() else { return nil }
                missingFeatures.append(text)
            default: return nil
            }
        }
    }
}
