import KeychainModel
import Testing

@Suite struct PersistentReferenceTests {
    @Test func bothFormsReadBack() throws {
        let new = PersistentReference(.genericPassword, .identifier(Array(0..<16)))
        #expect(new.bytes.count == 20)
        #expect(PersistentReference(bytes: new.bytes) == new)
        let old = PersistentReference(.internetPassword, .row(258))
        #expect(old.bytes == Array("inet".utf8) + [0, 0, 0, 0, 0, 0, 1, 2])
        #expect(PersistentReference(bytes: old.bytes) == old)
    }

    @Test(arguments: [0, 4, 11, 13, 19, 21]) func otherLengthsAreRefused(_ count: Int) {
        #expect(PersistentReference(bytes: Array((Array("genp".utf8) + [UInt8](repeating: 0, count: 40)).prefix(count))) == nil)
    }

    @Test func unknownClassIsRefusedAndNothingOfItIsPrinted() {
        #expect(PersistentReference(bytes: Array("xxxx".utf8) + [UInt8](repeating: 0, count: 16)) == nil)
        #expect(PersistentReference(.key, .identifier([UInt8](repeating: 0xAB, count: 16))).description == "keys…")
    }
}
