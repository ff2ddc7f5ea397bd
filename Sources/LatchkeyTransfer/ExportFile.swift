internal import KeychainCrypto
package import KeychainPlatform
package import LatchkeyImport

/// The encrypted file of `latchkey export` (FORMATS.md, "Export").
package enum ExportFile {
    /// Content of a part, at the most.
    static let partByteCount = 64 * 1024

    /// Opens a whole file.
    ///
    /// - Parameter passphrase: asked once the file's header makes sense.
    package static func open(
        _ file: borrowing SecretBytes, passphrase: () throws(ImportFailure) -> SecretBytes
    ) throws(ImportFailure) -> SecretBytes {
        let header = try ExportHeader(file)
        let words = try passphrase()
        let key = try derive(words, header)
        do throws(CryptoError) { return try parts(of: file, header, key) } catch {
            throw ImportFailure(
                .wrongSource, "the export does not open: the passphrase is another one, or the file was changed or cut",
                "Try the passphrase again, then another copy of the file.")
        }
    }

    private static func derive(
        _ words: borrowing SecretBytes, _ header: ExportHeader
    ) throws(ImportFailure) -> SecretBytes {
        do throws(SystemCallError) {
            return try PassphraseKey.derive(from: words, salt: header.salt, cost: header.cost)
        } catch {
            throw ImportFailure(
                .unavailable,
                "there is no memory for the passphrase of this export (\(header.cost.kibibytes >> 10) MiB)",
                "Free some and try again.")
        }
    }

    /// Each part is its length (4 bytes) and a sealed part bound to the header.
    private static func parts(
        of file: borrowing SecretBytes, _ header: ExportHeader, _ key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        var reader = try SealedStream.Reader(key: key, header: header.stream)
        var content = SecretWriter(byteCount: file.count)
        var position = ExportHeader.byteCount
        while true {
            guard position + 4 <= file.count else { throw .malformed }
            let length = Int(ExportHeader.number(file, at: position))
            position += 4
            guard length <= partByteCount + SealedStream.overhead, position + length <= file.count else {
                throw .malformed
            }
            let part = try reader.open(file.copy(position..<position + length).insecureArray(), bound: header.bytes)
            position += length
            content.append(part.content)
            if part.tag == .last { break }
        }
        guard position == file.count else { throw .malformed }
        return content.finish()
    }
}

/// What stands before the parts of an encrypted export.
struct ExportHeader {
    static let byteCount = 8 + 4 + 4 + 4 + PassphraseKey.saltByteCount + SealedStream.headerByteCount
    private static let version: UInt32 = 1

    let bytes: [UInt8]
    let cost: PassphraseCost
    let salt: [UInt8]
    let stream: [UInt8]

    init(cost: PassphraseCost, salt: [UInt8], stream: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.stream = stream
        bytes =
            SourceContent.encryptedMark
            + [Self.version, cost.passes, cost.kibibytes].flatMap { number in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
            } + salt + stream
    }

    init(_ file: borrowing SecretBytes) throws(ImportFailure) {
        let damaged = ImportFailure(
            .wrongSource, "this is no whole export, or it asks for more than an export does",
            "Give another copy of the file.")
        guard file.count >= Self.byteCount,
            SourceContent.encryptedMark.enumerated().allSatisfy({ file[$0.offset] == $0.element })
        else { throw damaged }
        let version = Self.number(file, at: 8)
        guard version == Self.version else {
            throw ImportFailure(
                .wrongSource, "the export has version \(version), and this program knows \(Self.version)",
                "Install the newer Latchkey.")
        }
        guard let cost = PassphraseCost(passes: Self.number(file, at: 12), kibibytes: Self.number(file, at: 16)) else {
            throw damaged
        }
        let rest = file.copy(20..<Self.byteCount).insecureArray()
        self.init(
            cost: cost, salt: Array(rest.prefix(PassphraseKey.saltByteCount)),
            stream: Array(rest.dropFirst(PassphraseKey.saltByteCount)))
    }

    static func number(_ file: borrowing SecretBytes, at start: Int) -> UInt32 {
        var number: UInt32 = 0
        for index in start..<start + 4 { number = number << 8 | UInt32(file[index]) }
        return number
    }
}
