import KeychainModel
import KeychainPlatform
import Testing

@testable import Enclave

/// Whatever stands in a file, decoding it ends with a value or with a refusal.
@Suite struct DecoderFuzzTests {
    private static let files = ["software-secret.0", "protectors.0", "keybag.0"]

    private func decode(_ name: String, _ bytes: [UInt8]) {
        switch name {
        case "software-secret.0": _ = SoftwareSecret.parse(SecretBytes(copying: bytes))
        case "protectors.0":
            guard let file = AuthenticatedFile.parse(.protectors, bytes) else { return }
            _ = ProtectorsBody(parsing: file.uncheckedBody)
            _ = file.verified(by: .random())
        default:
            guard let file = AuthenticatedFile.parse(.keybag, bytes) else { return }
            _ = KeybagBody(parsing: file.uncheckedBody)
            _ = file.verified(by: .random())
        }
    }

    @Test(arguments: files)
    func everyPrefixDecodesOrIsRefused(name: String) throws {
        let whole = try EnclaveHome.made().read(name)
        for count in 0...whole.count { decode(name, Array(whole[..<count])) }
        for count in 1...whole.count { decode(name, Array(whole[(whole.count - count)...])) }
    }

    @Test(arguments: files)
    func everyMutationDecodesOrIsRefused(name: String) throws {
        let whole = try EnclaveHome.made().read(name)
        var random = SeededGenerator(seed: 0x4C41_5443_484B_4559)
        for _ in 0..<5000 { decode(name, mutated(whole, &random)) }
    }

    @Test func everyMutationOfABodyDecodesOrIsRefused() throws {
        let root = RootKey.random()
        let keybag = KeybagBody.new(for: .random(), root: root).encoded
        let file = AuthenticatedFile.parse(.protectors, Protectors.encodeNew(for: .random(), secret: .random()))
        let protectors = try #require(file).uncheckedBody
        var random = SeededGenerator(seed: 1)
        for count in 0...keybag.count { _ = KeybagBody(parsing: Array(keybag[..<count])) }
        for count in 0...protectors.count { _ = ProtectorsBody(parsing: Array(protectors[..<count])) }
        for _ in 0..<5000 {
            // What decodes, encodes to the same again: nothing is read that would not be written.
            if let body = KeybagBody(parsing: mutated(keybag, &random)) {
                #expect(KeybagBody(parsing: body.encoded) == body)
            }
            if let body = ProtectorsBody(parsing: mutated(protectors, &random)) {
                #expect(ProtectorsBody(parsing: body.encoded) == body)
            }
        }
    }

    /// Mutated files on disk: opened with the good copy, or refused with a reason.
    @Test func everyMutationOnDiskIsMendedOrRefused() throws {
        let home = try EnclaveHome()
        let made = try MadeKey(in: home.open())
        let before = try home.contents()
        var random = SeededGenerator(seed: 2)
        for round in 0..<200 {
            let name = EnclaveHome.keyFiles[round % EnclaveHome.keyFiles.count]
            try home.write(name, mutated(try #require(before[name]), &random))
            #expect(try made.opens(in: home.open()), "round \(round)")
            #expect(try home.contents() == before, "round \(round)")
        }
    }

    private func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0..<max(bytes.count, 1), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where !bytes.isEmpty: bytes[at] = .random(in: 0...255, using: &random)
            case 2 where !bytes.isEmpty: bytes.remove(at: at)
            case 3: bytes.insert(.random(in: 0...255, using: &random), at: min(at, bytes.count))
            default:
                let end = min(bytes.count, at + Int.random(in: 0..<64, using: &random))
                if at <= end { bytes.removeSubrange(min(at, end)..<end) }
            }
        }
        return bytes
    }
}
