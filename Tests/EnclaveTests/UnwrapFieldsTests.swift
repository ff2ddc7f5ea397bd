import Foundation
import KeychainMessages
import KeychainPlatform
import Testing

@testable import Enclave

/// What every read asks, written and read field by field: the same bytes as by the general
/// coder, and whatever is not of that form is left to it.
@Suite struct UnwrapFieldsTests {
    private static func message(_ number: UInt64, _ packed: [UInt8], _ session: [UInt8]) -> Latchkey_EnclaveRequest {
        var message = Latchkey_EnclaveRequest()
        message.number = number
        message.unwrap.packed = Data(packed)
        message.unwrap.session = Data(session)
        return message
    }

    @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, 40_000])
    func aRequestIsTheGeneralCodersBytes(count: Int) {
        for (number, session) in [(UInt64(0), []), (1, Random.bytes(16)), (.max, Random.bytes(16))] as [(UInt64, [UInt8])] {
            let packed = Random.bytes(count)
            let request = UnwrapFields.Request(number: number, packed: packed, session: session)
            let general = MessageCoding.encode(Self.message(number, packed, session))
            #expect(request.encoded == general)
            #expect(UnwrapFields.Request(plain: general) == request)
        }
    }

    @Test(arguments: [0, 1, 127, 256])
    func anAnswerIsTheGeneralCodersBytes(count: Int) {
        for number in [0, 1, 300, UInt64.max] {
            let outcomes = (0..<count).map { UInt8($0 % 7 + 1) }
            let answer = UnwrapFields.Answer(number: number, outcomes: outcomes)
            var general = Latchkey_EnclaveReply()
            general.number = number
            general.outcomes = Data(outcomes)
            #expect(answer.encoded == MessageCoding.encode(general))
            #expect(UnwrapFields.Answer(plain: MessageCoding.encode(general)) == answer)
        }
    }

    @Test func whatElseThereIsIsTheGeneralCoders() {
        var other = Latchkey_EnclaveRequest()
        other.describe = true
        var rewrap = Latchkey_EnclaveRequest()
        rewrap.rewrap.packed = Data([1])
        let plain = MessageCoding.encode(Self.message(7, [1, 2, 3], []))
        // A second one, which the general coder takes for more of the first.
        for header in [MessageCoding.encode(other), MessageCoding.encode(rewrap), [], plain + plain, plain + [0x98]] {
            #expect(UnwrapFields.Request(plain: header) == nil)
        }
        var refusal = Latchkey_EnclaveReply()
        refusal.number = 7
        refusal.failure.status = -25291
        var result = Latchkey_EnclaveReply()
        result.results = [Latchkey_EnclaveReply.KeyResult()]
        for header in [MessageCoding.encode(refusal), MessageCoding.encode(result), [0x3A, 5, 1]] {
            #expect(UnwrapFields.Answer(plain: header) == nil)
        }
    }

    @Test func everyCutOfARequestIsNoneOrAnother() {
        let whole = MessageCoding.encode(Self.message(300, Array(1...40), Array(1...16)))
        for count in 0..<whole.count {
            let cut = Array(whole[..<count])
            guard let plain = UnwrapFields.Request(plain: cut) else { continue }
            // What it takes, the general coder takes for the same.
            let general = MessageCoding.decode(Latchkey_EnclaveRequest.self, cut)
            #expect(general?.number == plain.number)
            #expect(general.map { Array($0.unwrap.packed) } == Array(plain.packed))
        }
    }
}
