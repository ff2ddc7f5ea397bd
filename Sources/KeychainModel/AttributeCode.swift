/// The four characters that name an attribute in dictionaries and columns
/// ("acct", "svce"), packed into a number.
package struct AttributeCode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
{
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Exactly four ASCII characters.
    package init?(_ text: String) {
        guard text.utf8.count == 4 else { return nil }
        var packed: UInt32 = 0
        for byte in text.utf8 {
            guard byte < 0x80 else { return nil }
            packed = packed << 8 | UInt32(byte)
        }
        rawValue = packed
    }

    /// Written so that a literal costs nothing but its four bytes.
    package init(stringLiteral text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4 && text.isASCII, "an attribute code has four characters")
        rawValue = text.withUTF8Buffer { bytes in unsafe bytes.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    package var description: String {
        String(decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }, as: UTF8.self)
    }
}

extension AttributeCode {
    package static let accessGroup: AttributeCode = "agrp"
    package static let accessible: AttributeCode = "pdmn"
    package static let accessControl: AttributeCode = "accc"
    package static let synchronizable: AttributeCode = "sync"
    package static let tombstone: AttributeCode = "tomb"
    package static let creationDate: AttributeCode = "cdat"
    package static let modificationDate: AttributeCode = "mdat"
    package static let label: AttributeCode = "labl"
    package static let account: AttributeCode = "acct"
    package static let service: AttributeCode = "svce"
    package static let server: AttributeCode = "srvr"
    package static let sha1: AttributeCode = "sha1"
    package static let uuid: AttributeCode = "UUID"
    package static let appClipItem: AttributeCode = "clip"
    package static let sharingGroup: AttributeCode = "ggrp"
    package static let multiUser: AttributeCode = "musr"
    package static let tokenID: AttributeCode = "tkid"
    package static let issuer: AttributeCode = "issr"
    package static let isPrivateKey: AttributeCode = "priv"
    package static let useDataProtection: AttributeCode = "nleg"
    /// Of ours, not of Apple's: ``LookupAttributes``.
    package static let lookup: AttributeCode = "look"
}
