import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import LatchkeyImport
import LatchkeyTransfer
import Testing

/// The frame of an encrypted export, from outside.
@Suite struct ExportFileTests {
    private static let header = 60

    /// Three parts: two of 64 KiB and the rest.
    private static let content = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let file = Result { try ExportSample.sealed(content) }

    private func open(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8] {
        try ExportFile.open(SecretBytes(copying: bytes)) { () throws(ImportFailure) in ExportSample.words }
            .insecureArray()
    }

    @Test func partsJoinToTheirContent() throws {
        let file = try Self.file.get()
        #expect(try open(file) == Self.content)
        #expect(file.count == Self.header + 3 * (4 + 17) + Self.content.count)
    }

    @Test func everyCutIsNoticed() throws {
        let file = try Self.file.get()
        let part = 4 + 17 + 65_536
        for count in [0, 7, 59, 60, 63, 64, 60 + part - 1, 60 + part, 60 + 2 * part, file.count - 1] {
            #expect(throws: ImportFailure.self, "\(count)") { try open(Array(file.prefix(count))) }
        }
        #expect(throws: ImportFailure.self) { try open(file + [0]) }
    }

    @Test func partsInAnotherOrderOrTwiceAreNoticed() throws {
        let file = try Self.file.get()
        let part = 4 + 17 + 65_536
        let (one, two) = (file[60..<60 + part], file[60 + part..<60 + 2 * part])
        let rest = file[(60 + 2 * part)...]
        #expect(throws: ImportFailure.self) { try open(Array(file[..<60] + two + one + rest)) }
        #expect(throws: ImportFailure.self) { try open(Array(file[..<60] + one + one + two + rest)) }
        #expect(throws: ImportFailure.self) { try open(Array(file[..<60] + one + rest)) }
    }

    @Test func everyByteOfTheHeaderCounts() throws {
        let file = try ExportSample.sealed(Array("short".utf8))
        for index in file.indices {
            var changed = file
            changed[index] ^= 1
            #expect(throws: ImportFailure.self, "\(index)") { try open(changed) }
        }
    }

    /// A hostile file must not make us spend what it likes.
    @Test(arguments: [(0, 8), (17, 8), (1, 7), (1, 1_048_577), (UInt32.max, UInt32.max)] as [(UInt32, UInt32)])
    func costBeyondTheLimitsIsRefusedBeforeAnythingIsAsked(_ passes: UInt32, _ kibibytes: UInt32) throws {
        var file = try ExportSample.sealed(Array("short".utf8))
        file.replaceSubrange(12..<16, with: ExportSample.bytes(passes))
        file.replaceSubrange(16..<20, with: ExportSample.bytes(kibibytes))
        do throws(ImportFailure) {
            _ = try ExportFile.open(SecretBytes(copying: file)) { () throws(ImportFailure) in
                Issue.record("the passphrase was asked for")
                return ExportSample.words
            }
        } catch {
            #expect(error.message.contains("asks for more than"))
        }
    }

    @Test func newerVersionIsNamed() throws {
        var file = try ExportSample.sealed(Array("short".utf8))
        file[11] = 2
        do throws(ImportFailure) { _ = try open(file) } catch { #expect(error.message.contains("version 2")) }
    }

    /// The promise of FORMATS.md: a file of version 1 is read for ever.
    @Test func fileOfVersionOneIsRead() throws {
        let path = try #require(Bundle.module.resourcePath) + "/Fixtures/export-1.lkx"
        let lines = try open(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        let reader = try ExportReader.read(SourceText(SecretBytes(copying: lines)))
        #expect(reader.flaws.isEmpty)
        #expect(reader.items.map { $0.value?.text } == ["fixture value", nil])
        #expect(reader.items.map { $0.attributes["acct"]?.string } == ["alice", "bob"])
        #expect(reader.items.first?.created == 604_670_400)
    }
}

enum ExportSample {
    static var words: SecretBytes { SecretBytes(copying: Array("fixture words".utf8)) }

    static func bytes(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// A file by FORMATS.md, made without the code that writes exports.
    static func sealed(_ content: [UInt8]) throws -> [UInt8] {
        let cost = try #require(PassphraseCost(passes: 1, kibibytes: 8))
        let salt = [UInt8](repeating: 7, count: 16)
        var stream = SealedStream.Writer(key: try PassphraseKey.derive(from: words, salt: salt, cost: cost))
        let header = Array("LKEXPORT".utf8) + bytes(1) + bytes(1) + bytes(8) + salt + stream.header
        var file = header
        var start = 0
        while true {
            let end = min(start + 65_536, content.count)
            let tag: SealedStream.Tag = end == content.count ? .last : .message
            let part = stream.seal(SecretBytes(copying: Array(content[start..<end])), bound: header, as: tag)
            file += bytes(UInt32(part.count)) + part
            start = end
            if end == content.count { return file }
        }
    }
}
