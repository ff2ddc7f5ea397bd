import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

/// Searches whose answers go out in several messages, and which meet items that a
/// person has to agree to behind the first of them.
@Suite struct LongSearchTests {
    private let person = PersonAtHand()

    private static func item(_ account: String, _ more: [(String, RawValue)] = []) -> QueryDictionary {
        QueryDictionary(
            [("class", .string("genp")), ("svce", .string("long")), ("acct", .string(account)), ("v_Data", .secret)]
                + more)
    }

    private static func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array("value of \(text)".utf8)))
    }

    /// 300 items, one that asks for a person, and both again: their accounts.
    private func fill(_ daemon: DaemonUnderTest) throws -> [String] {
        let client = daemon.client()
        let access = try #require(AccessControl(protection: "ak", flags: .userPresence))
        var accounts: [String] = []
        for half in ["first", "second"] {
            let plain = (0..<300).map { "\(half) \($0)" }
            for start in stride(from: 0, to: plain.count, by: 100) {
                let items = plain[start..<start + 100].map { NewItem(Self.item($0), value: Self.secret($0)) }
                #expect(try client.perform(KeychainRequest(.addItems, items: items)).outcomes.allSatisfy { $0 == nil })
            }
            let guarded = "\(half) guarded"
            _ = try client.perform(
                KeychainRequest(
                    .add, query: Self.item(guarded, [("accc", .accessControl(access))]), value: Self.secret(guarded)))
            accounts += plain + [guarded]
        }
        return accounts
    }

    private static func search(_ limit: RawValue = .string("m_LimitAll")) -> KeychainRequest {
        KeychainRequest(
            .copy,
            query: QueryDictionary([
                ("class", .string("genp")), ("svce", .string("long")), ("m_Limit", limit),
                ("r_Attributes", .bool(true)), ("r_Data", .bool(true)),
            ]))
    }

    private static func accounts(_ answer: KeychainAnswer) -> [String] {
        answer.rows.map { row in
            let account = row.attributes[.account]?.string ?? ""
            let isWhole = row.value?.bytes.insecureArray() == Array("value of \(account)".utf8)
            return isWhole ? account : "\(account) with another value"
        }
    }

    @Test func aSearchGoesOnBehindWhatWasToldOnceAPersonHasAgreed() throws {
        let daemon = try person.daemon()
        let all = try fill(daemon)
        let client = daemon.client()
        #expect(Self.accounts(try client.perform(Self.search())) == all)
        #expect(person.asked == [.useItem])
        // What was told counts.
        #expect(Self.accounts(try client.perform(Self.search(.integer(450)))) == Array(all.prefix(450)))
        #expect(person.asked.count == 2)
    }

    @Test func whoIsRefusedHearsOfThatAloneAndMayAskAgain() throws {
        let daemon = try person.daemon()
        let all = try fill(daemon)
        let client = daemon.client()
        let refusals: [(PersonAtHand.Answer, Status)] = [
            (.cancels, .userCanceled), (.isAway, .interactionNotAllowed),
        ]
        for (answer, status) in refusals {
            person.answer(answer)
            let error = #expect(throws: KeychainError.self) { try client.perform(Self.search()) }
            #expect(error?.status == status)
        }
        person.answer(.agrees)
        #expect(Self.accounts(try client.perform(Self.search())) == all)
    }
}
