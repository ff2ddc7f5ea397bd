import Foundation
import KeychainMessages
import KeychainModel
import KeychainProtocol
import SwiftProtobuf
import Testing

@testable import KeychainStore

/// The reader of sealed metadata against the general decoder of the same format.
@Suite struct MetadataFieldsTests {
    private static func message(_ random: inout SystemRandomNumberGenerator) -> Latchkey_SealedMetadata {
        var message = Latchkey_SealedMetadata()
        message.attributes = (0..<Int.random(in: 0...24, using: &random)).map { _ in attribute(&random) }
        message.accessControl = Data((0..<Int.random(in: 0...3, using: &random)).map { UInt8($0) })
        message.sealID = Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
        message.dataCode = Data((0..<Int.random(in: 0...32, using: &random)).map { _ in 7 })
        return message
    }

    private static func attribute(_ random: inout SystemRandomNumberGenerator) -> Latchkey_WireAttribute {
        var attribute = Latchkey_WireAttribute()
        attribute.code = UInt32.random(in: 0 ... .max, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: attribute.text = ["", "plain", "ü e\u{301}", String(repeating: "x", count: 300)].randomElement(using: &random)!
        case 1: attribute.data = Data((0..<Int.random(in: 0...200, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
        case 2: attribute.integer = [0, 1, -1, .min, .max, 12345].randomElement(using: &random)!
        case 3: attribute.real = [0, -0.5, .infinity, 1e300].randomElement(using: &random)!
        default: attribute.date = Double.random(in: -1e9...1e9, using: &random)
        }
        return attribute
    }

    /// What the general decoder makes of the bytes; nil where it refuses them.
    private static func general(_ bytes: [UInt8]) -> Latchkey_SealedMetadata? {
        try? Latchkey_SealedMetadata(serializedBytes: bytes)
    }

    private static func agree(_ fields: MetadataFields, _ message: Latchkey_SealedMetadata) -> Bool {
        fields.accessControl == Array(message.accessControl) && fields.sealID == Array(message.sealID)
            && fields.dataCode == Array(message.dataCode) && fields.attributes.count == message.attributes.count
            && zip(fields.attributes.entries, message.attributes).allSatisfy { mine, theirs in
                mine.code.rawValue == theirs.code && bits(mine.value) == bits(theirs.attributeValue)
            }
    }

    /// A value that is equal to itself also where it is no number.
    private static func bits(_ value: AttributeValue?) -> [UInt8]? {
        switch value {
        case .string(let text): [0] + Array(text.utf8)
        case .data(let bytes): [1] + bytes
        case .integer(let number): [2] + AttributeValue.bigEndian(UInt64(bitPattern: number))
        case .real(let number): [3] + AttributeValue.bigEndian(number.bitPattern)
        case .date(let number): [4] + AttributeValue.bigEndian(number.bitPattern)
        case nil: nil
        }
    }

    @Test func whatWeWriteIsReadAlikeByBoth() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let message = Self.message(&random)
            let bytes: [UInt8] = try message.serializedBytes()
            let fields = try #require(MetadataFields(bytes))
            #expect(Self.agree(fields, message))
        }
    }

    @Test func whateverItAcceptsTheGeneralDecoderReadsAlike() throws {
        var random = SystemRandomNumberGenerator()
        var accepted = 0
        for _ in 0..<300 {
            let whole: [UInt8] = try Self.message(&random).serializedBytes()
            for _ in 0..<40 {
                var bytes = whole
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                default: bytes.insert(.random(in: 0...255, using: &random), at: at)
                }
                guard let fields = MetadataFields(bytes) else { continue }
                accepted += 1
                let message = try #require(Self.general(bytes), "\(bytes)")
                #expect(Self.agree(fields, message), "\(bytes)")
            }
        }
        #expect(accepted > 1000)
    }

    @Test func everyPrefixThatEndsWithinAFieldIsRefused() throws {
        var message = Latchkey_SealedMetadata()
        message.sealID = Data(repeating: 1, count: 16)
        let bytes: [UInt8] = try message.serializedBytes()
        for count in 1..<bytes.count { #expect(MetadataFields(Array(bytes[..<count])) == nil) }
    }

    /// Fields that no version writes, wrong types of known ones, a varint without
    /// an end, an attribute without a value, text that is no UTF-8.
    @Test(arguments: [
        [0x28, 1], [0x08, 1], [0x0B], [0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x00],
        [0x0A, 0x05, 0x0D, 1, 2, 3, 4], [0x0A, 0x03, 0x12, 0x01, 0xFF], [0x80, 0x80],
    ] as [[UInt8]])
    func whatNoVersionWroteIsRefused(_ bytes: [UInt8]) { #expect(MetadataFields(bytes) == nil) }
}
