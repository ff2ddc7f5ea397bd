import Foundation
import KeychainPlatform
import LatchkeyImport

/// Sources of the tests, and what is in them.
enum Sample {
    static func text(_ bytes: [UInt8]) -> SourceText { SourceText(SecretBytes(copying: bytes)) }
    static func text(_ text: String) -> SourceText { self.text(Array(text.utf8)) }

    /// As UTF-16 with its byte-order mark.
    static func utf16(_ text: String, bigEndian: Bool) -> [UInt8] {
        ([0xfeff] + Array(text.utf16)).flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
            return bigEndian ? [high, low] : [low, high]
        }
    }

    static func csv(_ text: String, _ format: SourceFormat? = nil) throws(ImportFailure) -> ImportedDocument {
        try SourceReader.csv(self.text(text), format)
    }

    static func json(_ text: String, _ format: SourceFormat? = nil) throws(ImportFailure) -> ImportedDocument {
        try SourceReader.json(self.text(text), format)
    }

    static func fixture(_ name: String) -> String { Bundle.module.resourcePath! + "/Fixtures/" + name }

    static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
}

extension ImportedDocument {
    /// Field, destination and count, as the report shows them.
    var fields: [String: FieldDestination] {
        Dictionary(ledger.rows.map { ($0.field, $0.destination) }) { first, _ in first }
    }

    var reasons: [String] { flaws.map { "\($0.place): \($0.reason)" } }
}

/// Numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
