import Foundation
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

@testable import Enclave

/// What every add asks, written and read field by field: the same bytes as by the general
/// coder, and whatever is not of that form is left to it.
@Suite struct WrapFieldsTests {
    private static func message(
        _ number: UInt64, _ rows: [RowBinding], _ session: [UInt8]
    ) -> Latchkey_EnclaveRequest {
        var message = Latchkey_EnclaveRequest()
        message.number = number
        message.wrap.rows = rows.map(\.message)
        message.wrap.session = Data(session)
        return message
    }

    private static func plain(_ header: [UInt8]) -> WrapFields.Request? {
        PlainRequest(header, field: 3).flatMap { WrapFields.Request(plain: $0.message) }
    }

    private static func rows(_ count: Int) -> [RowBinding] {
        (0..<count).map { index in
            RowBinding(
                uuid: index == 3 ? [] : Random.bytes(16),
                protectionClass: ProtectionClass.allCases[index % ProtectionClass.allCases.count],
                accessControl: Random.bytes([0, 40, 127, 128, 300][index % 5]))
        }
    }

    @Test(arguments: [0, 1, 2, 5, 256])
    func aRequestIsTheGeneralCodersBytes(count: Int) throws {
        let callers: [(UInt64, [UInt8])] = [(0, []), (1, Random.bytes(16)), (.max, Random.bytes(16))]
        for (number, session) in callers {
            let rows = Self.rows(count)
            let request = try #require(WrapFields.Request(rows: rows, session: session))
            let general = MessageCoding.encode(Self.message(number, rows, session))
            #expect(request.encoded(as: number) == general)
            let read = try #require(PlainRequest(general, field: 3))
            #expect(WrapFields.Request(plain: read.message) == request)
            #expect(read.number == number)
        }
    }

    @Test(arguments: [0, 1, 7, 256])
    func anAnswerIsTheGeneralCodersBytes(count: Int) {
        let kinds: [Latchkey_EnclaveReply.Outcome] = [
            .key, .unspecified, .locked, .needs, .damaged, .noClassKey, .effaced, .applicationPassword,
            .UNRECOGNIZED(9),
        ]
        for number in [0, 1, 300, UInt64.max] {
            let results = (0..<count).map { index in
                let bytes = Random.bytes([60, 88, 0, 200][index % 4])
                let box = WrappedKey(generation: [1, 128, .max][index % 3], box: bytes)
                return WrapFields.Result(kinds[index % kinds.count], index % 2 == 0 ? box : nil)
            }
            let answer = WrapFields.Answer(number: number, results: results)
            var general = Latchkey_EnclaveReply()
            general.number = number
            general.results = results.map(\.message)
            #expect(answer.encoded == MessageCoding.encode(general))
            #expect(WrapFields.Answer(plain: MessageCoding.encode(general)) == answer)
        }
    }

    /// A constrained row says what a person is shown.
    @Test func whatElseThereIsIsTheGeneralCoders() {
        let shown = RowBinding(
            uuid: [1], protectionClass: .whenUnlocked, accessControl: [1],
            shown: ShownItem(label: "a", group: "b"))
        #expect(WrapFields.Request(rows: [shown], session: []) == nil)
        var other = Latchkey_EnclaveRequest()
        other.describe = true
        var ofNoClass = Self.message(1, Self.rows(1), [])
        ofNoClass.wrap.rows[0].classNumber = 200
        let plain = MessageCoding.encode(Self.message(7, Self.rows(2), []))
        let constrained = MessageCoding.encode(Self.message(1, [shown], []))
        let headers = [
            MessageCoding.encode(other), MessageCoding.encode(ofNoClass), constrained, [],
            // A second one, which the general coder takes for more of the first.
            plain + plain, plain + [0x98],
        ]
        for header in headers { #expect(Self.plain(header) == nil) }
        var refusal = Latchkey_EnclaveReply()
        refusal.number = 7
        refusal.failure.status = -25291
        for header in [MessageCoding.encode(refusal), [0x1A, 5, 1], [0x1A, 2, 0x10]] {
            #expect(WrapFields.Answer(plain: header) == nil)
        }
    }

    @Test func noCutIsARequest() {
        let whole = MessageCoding.encode(Self.message(300, Self.rows(3), Random.bytes(16)))
        for count in 0..<whole.count { #expect(Self.plain(Array(whole[..<count])) == nil) }
    }

    /// What it takes, the general coder takes for the same.
    @Test func everyOtherByteIsNoneOrTheSame() throws {
        let whole = MessageCoding.encode(Self.message(300, Self.rows(3), Random.bytes(16)))
        var taken = 0
        for at in whole.indices {
            for flip: UInt8 in [1, 2, 4, 0x80, 0xFF] {
                var header = whole
                header[at] ^= flip
                guard let plain = Self.plain(header) else { continue }
                let number = try #require(PlainRequest(header, field: 3)).number
                taken += 1
                let general = MessageCoding.decode(Latchkey_EnclaveRequest.self, header)
                #expect(general?.number == number)
                #expect(general?.wrap.rows.map { RowBinding($0) } == plain.rows)
                #expect(general.map { Array($0.wrap.session) } == plain.session)
            }
        }
        // Values are taken, the form of the message is not.
        #expect(taken > 0 && taken < whole.count * 5)
    }
}
