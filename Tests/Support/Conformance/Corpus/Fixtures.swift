package import Foundation

/// The keys and certificates that cases name.
package struct Fixtures: Sendable {
    private let folder: String
    private let expected: JSONValue

    package init(folder: String) throws {
        self.folder = folder
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/expected.json"))
        expected = try JSONValue(parsing: bytes)
    }

    /// The bytes of a certificate.
    func certificate(_ name: String) throws -> Data {
        guard let file = expected["certs"]?[name]?["file"]?.string else {
            throw CorpusError("no fixture certificate \(name)")
        }
        return try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
    }

    /// The issuer's name of a certificate, outer SEQUENCE included.
    func issuer(_ name: String) throws -> Data {
        guard let hex = expected["certs"]?[name]?["issuerDER"]?.string else {
            throw CorpusError("no issuer of fixture certificate \(name)")
        }
        return try Data(hexadecimal: hex)
    }
}

extension Data {
    /// Pairs of hexadecimal digits.
    package init(hexadecimal hex: String) throws {
        let digits = Array(hex.utf8)
        guard digits.count.isMultiple(of: 2) else { throw CorpusError("an odd number of hexadecimal digits") }
        self.init(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                throw CorpusError("not hexadecimal: \(hex.prefix(20))")
            }
            append(byte)
        }
    }

    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
