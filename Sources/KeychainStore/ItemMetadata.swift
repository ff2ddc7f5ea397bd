internal import FoundationEssentials
internal import KeychainMessages
package import KeychainModel
internal import KeychainProtocol
internal import SwiftProtobuf

/// What the metadata seal of a row holds: every attribute, the access control,
/// and the id that ties the secret's seal to it.
package struct ItemMetadata: Sendable {
    package var attributes: AttributeMap
    package var accessControl: AccessControl?
    package var sealID: [UInt8]
    /// Keyed code of the data, so that the digest can be made without opening it.
    package var dataCode: [UInt8]

    package init(attributes: AttributeMap, accessControl: AccessControl?, sealID: [UInt8], dataCode: [UInt8]) {
        self.attributes = attributes
        self.accessControl = accessControl
        self.sealID = sealID
        self.dataCode = dataCode
    }

    package var encoded: [UInt8] {
        var writer = FieldWriter(capacity: 512)
        for (code, value) in attributes.entries { writer.attribute(1, code, value) }
        writer.bytes(2, accessControl?.encoded ?? [])
        writer.bytes(3, sealID)
        writer.bytes(4, dataCode)
        return writer.bytes
    }

    /// nil for bytes that no version of ours wrote.
    package init?(encoded bytes: [UInt8]) {
        guard let fields = MetadataFields(bytes), fields.sealID.count == 16 else { return nil }
        if !fields.accessControl.isEmpty {
            guard let decoded = AccessControl(encoded: fields.accessControl) else { return nil }
            accessControl = decoded
        }
        attributes = fields.attributes
        sealID = fields.sealID
        dataCode = fields.dataCode
    }
}
