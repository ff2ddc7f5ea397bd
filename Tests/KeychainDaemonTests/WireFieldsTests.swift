import KeychainMessages
import KeychainModel
import KeychainPlatform
import SwiftProtobuf
import Testing

@testable import KeychainProtocol

/// Requests and rows read and written field by field, against the general coder
/// of the same format.
@Suite struct WireFieldsTests {
    typealias Random = SystemRandomNumberGenerator

    // MARK: Requests

    @Test func inWhoseNameACallIsMadeIsReadAsItWasWritten() throws {
        for operation in [KeychainRequest.Operation.add, .copy, .update, .delete] {
            var request = KeychainRequest(operation, query: QueryDictionary([("class", .string("genp"))]))
            let plain = request.encoded(number: 4)
            request.behalf = .person
            let header = request.encoded(number: 4)
            #expect(header == plain + [0x58, 1])
            for (bytes, behalf) in [(plain, KeychainRequest.Behalf.program), (header, .person)] {
                let decoded = try KeychainRequest.decode(header: bytes, tail: SecretBytes(count: 0))
                #expect(decoded.number == 4 && decoded.request.behalf == behalf)
                #expect(decoded.request.operation == operation && decoded.request.query == request.query)
            }
            // A name that this program does not know.
            #expect(throws: WireFault()) {
                try KeychainRequest.decode(header: plain + [0x58, 2], tail: SecretBytes(count: 0))
            }
        }
    }

    @Test func onlyCallsOnItemsAreMadeInAPersonsName() throws {
        for operation in [
            KeychainRequest.Operation.status, .device, .means, .census, .deleteGroups(["a"]), .setApplicationPassword,
            .doctor(.acceptDamage), .changePosition(.searched),
        ] {
            var request = KeychainRequest(operation)
            _ = try KeychainRequest.decode(header: request.encoded(number: 1), tail: SecretBytes(count: 0))
            request.behalf = .person
            #expect(throws: WireFault(), "\(operation)") {
                try KeychainRequest.decode(header: request.encoded(number: 1), tail: SecretBytes(count: 0))
            }
        }
    }

    /// The kinds of values of ordinary requests come first.
    private static let ordinaryKinds = 0..<8
    private static let allKinds = 0..<13

    private static func request(_ random: inout Random, of kinds: Range<Int> = allKinds) -> KeychainRequest {
        let operations: [KeychainRequest.Operation] = [.add, .copy, .update, .delete]
        return served(
            KeychainRequest(
                operations.randomElement(using: &random)!, query: dictionary(&random, kinds),
                changes: dictionary(&random, kinds)), &random)
    }

    /// Perhaps in another program's service.
    private static func served(_ request: KeychainRequest, _ random: inout Random) -> KeychainRequest {
        var request = request
        let programs: [ServedProgram?] = [
            nil, ServedProgram(path: "/usr/bin/git", process: 4711), ServedProgram(path: "", process: 1),
            ServedProgram(path: String(repeating: "ü", count: 2000), process: .min),
            ServedProgram(path: "", process: 0), ServedProgram(path: "/usr/bin/git", process: 1, evidence: .descriptor),
            ServedProgram(path: "", process: 0, evidence: .ended),
        ]
        request.served = programs.randomElement(using: &random)!
        return request
    }

    /// Several searches.
    private static func searches(_ random: inout Random, of kinds: Range<Int>) -> KeychainRequest {
        let count = Int.random(in: 1...5, using: &random)
        return served(KeychainRequest(.copyEach((0..<count).map { _ in dictionary(&random, kinds) })), &random)
    }

    /// Of the Secret Service.
    private static func itemSearches(_ random: inout Random) -> KeychainRequest {
        let pair = LookupAttributes([.init(name: "server", value: "ü"), .init(name: "a", value: "")]) ?? .none
        let all: [(AttributeCode, AttributeValue)] = [
            (.lookup, .data(pair.encoded)), (.service, .string("")), (.account, .string("account")),
            (.server, .string(String(repeating: "x", count: 300))),
        ]
        let searches = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            let itemClass = [ItemClass.genericPassword, .internetPassword].randomElement(using: &random)!
            var held = AttributeMap()
            for (code, value) in all.shuffled(using: &random) where Bool.random(using: &random) {
                if Schema.of(itemClass)[code] != nil { held.append(code, value) }
            }
            let group = AccessGroup(["login", "ü", ""].randomElement(using: &random)!)
            let extent = ItemSearch.Extent(rawValue: .random(in: 1...4, using: &random))!
            guard Int.random(in: 0..<3, using: &random) > 0 else {
                return ItemSearch(
                    PersistentReference(itemClass, .identifier(Array(0..<16))), in: group, telling: extent)
            }
            return ItemSearch(
                itemClass, having: held, in: group, telling: extent, excludingLookups: .random(using: &random))!
        }
        return served(KeychainRequest(.searchEach(searches)), &random)
    }

    private static func any(_ random: inout Random, of kinds: Range<Int>) -> KeychainRequest {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: request(&random, of: kinds)
        case 1: items(&random, of: kinds)
        case 2: itemSearches(&random)
        default: searches(&random, of: kinds)
        }
    }

    /// Several adds, which have fields of their own.
    private static func items(_ random: inout Random, of kinds: Range<Int>) -> KeychainRequest {
        KeychainRequest(
            .addItems,
            items: (0..<Int.random(in: 1...5, using: &random)).map { _ in
                let value = Bool.random(using: &random) ? bytes(&random, atMost: 300) : nil
                return NewItem(
                    dictionary(&random, kinds), value: value.map { SharedSecret(SecretBytes(copying: $0)) },
                    created: Bool.random(using: &random) ? 0 : nil,
                    modified: Bool.random(using: &random) ? -1.5 : nil)
            })
    }

    private static func dictionary(_ random: inout Random, _ kinds: Range<Int>) -> QueryDictionary {
        var out = QueryDictionary()
        for index in 0..<Int.random(in: 0...9, using: &random) {
            let isForeign = kinds == allKinds && Int.random(in: 0..<20, using: &random) == 0
            out.append(isForeign ? .foreign : .text("k\(index)"), value(&random, kinds, depth: 0))
        }
        return out
    }

    private static func value(_ random: inout Random, _ kinds: Range<Int>, depth: Int) -> RawValue {
        switch Int.random(in: kinds, using: &random) {
        case 0: .string(["", "plain", "ü e\u{301}", String(repeating: "x", count: 300)].randomElement(using: &random)!)
        case 1: .data(bytes(&random, atMost: 20_000))
        case 2: .integer([0, 1, -1, .min, .max, 12345].randomElement(using: &random)!)
        case 3: .real([0, -0.5, .infinity, .nan, 1e300].randomElement(using: &random)!)
        case 4: .bool(.random(using: &random))
        case 5: .date(.random(in: -1e9...1e9, using: &random))
        case 6: .null
        case 7: .secret
        case 8: .uuid(Array(0..<16))
        case 9 where depth < 3: .array((0..<3).map { _ in value(&random, kinds, depth: depth + 1) })
        case 10: .dictionary
        case 11: .accessControl(AccessControl(unconstrained: .whenUnlocked))
        default: .foreign(type: "CGColor")
        }
    }

    private static func bytes(_ random: inout Random, atMost most: Int) -> [UInt8] {
        let count = Int.random(in: 0...1, using: &random) == 0 ? Int.random(in: 0...40, using: &random) : most
        return (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    /// What a request says, in the general encoder's words.
    private static func words(_ fields: RequestFields) -> [UInt8] {
        var message = KeychainRequest(fields.operation, query: fields.query, changes: fields.changes)
            .message(number: fields.number)
        message.searches = fields.searches.map { Latchkey_ItemSearch($0) }
        if let served = fields.served { message.served = Latchkey_ServedProgram(served) }
        message.items = fields.items.map { item in
            var out = Latchkey_NewItem()
            out.query = item.query.wire
            out.valueLength = item.valueLength
            if let created = item.created { out.created = created }
            if let modified = item.modified { out.modified = modified }
            return out
        }
        return message.wireBytes
    }

    @Test func aRequestIsWrittenAsTheGeneralEncoderWritesIt() {
        var random = Random()
        for _ in 0..<500 {
            let request = Self.any(&random, of: Self.allKinds)
            let number = [0, 1, 127, 128, UInt64.max].randomElement(using: &random)!
            #expect(request.encoded(number: number) == request.message(number: number).wireBytes)
        }
    }

    @Test func whateverRequestIsReadWithoutTheGeneralDecoderItReadsAlike() throws {
        var random = Random()
        var accepted = 0
        for _ in 0..<400 {
            let kinds = Bool.random(using: &random) ? Self.ordinaryKinds : Self.allKinds
            let request = Self.any(&random, of: kinds)
            let whole = request.encoded(number: .random(in: 0...300, using: &random))
            for round in 0..<30 {
                let bytes = round == 0 ? whole : Self.mutated(whole, &random)
                guard let plain = RequestFields(plain: bytes) else { continue }
                accepted += 1
                let general = try RequestFields(decodeMessage(bytes) as Latchkey_WireRequest)
                #expect(Self.words(plain) == Self.words(general), "\(bytes.prefix(200))")
            }
        }
        #expect(accepted > 400)
    }

    /// What programs really send does not need the general decoder.
    @Test func ordinaryRequestsAreReadWithoutTheGeneralDecoder() {
        let item: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("account")),
            ("sync", .integer(0)), ("r_Data", .bool(true)), ("gena", .data([1, 2])), ("v_Data", .secret),
        ]
        for operation in [KeychainRequest.Operation.add, .copy, .update, .delete] {
            let request = KeychainRequest(
                operation, query: QueryDictionary(item), changes: QueryDictionary([("labl", .string("new"))]))
            #expect(RequestFields(plain: request.encoded(number: 7)) != nil)
        }
        var searches = KeychainRequest(.copyEach([QueryDictionary(item)]))
        searches.served = ServedProgram(path: "/usr/bin/git", process: 4711)
        let read = RequestFields(plain: searches.encoded(number: 7))
        #expect(read?.items.count == 1 && read?.served == searches.served)
        let found = ItemSearch(
            PersistentReference(.genericPassword, .identifier(Array(0..<16))), in: AccessGroup("a"), telling: .value)
        let asked = RequestFields(plain: KeychainRequest(.searchEach([found])).encoded(number: 7))
        #expect(asked?.searches == [found])
        let several = KeychainRequest(.addItems, items: [NewItem(QueryDictionary(item), value: nil, created: 1)])
        #expect(RequestFields(plain: several.encoded(number: 7))?.items.count == 1)
    }

    /// As many attributes as fit into a header are not compared each with each.
    @Test func aSearchForMoreThanItemsAreFoundByIsRefused() {
        var search = Latchkey_ItemSearch()
        search.itemClass = "genp"
        search.group = "group"
        for number in 0..<300_000 {
            var attribute = Latchkey_WireAttribute()
            attribute.code = UInt32(number)
            attribute.text = ""
            search.attributes.append(attribute)
        }
        var request = Latchkey_WireRequest()
        request.operation = .searchEach
        request.searches = [search]
        let bytes = request.wireBytes
        #expect(bytes.count < WireLimit.header && RequestFields(plain: bytes) == nil)
        #expect(throws: WireFault()) { try KeychainRequest.decode(header: bytes, tail: SecretBytes(count: 0)) }
    }

    @Test func aSearchOfAnExtentThatIsNotKnownIsRefused() {
        for extent in 0...5 {
            var search = Latchkey_ItemSearch()
            search.itemClass = "genp"
            search.group = "group"
            search.extent = .init(rawValue: extent) ?? .unspecified
            var request = Latchkey_WireRequest()
            request.operation = .searchEach
            request.searches = [search]
            let isKnown = (1...4).contains(extent)
            let bytes = request.wireBytes
            #expect((RequestFields(plain: bytes) != nil) == isKnown)
            #expect(((try? KeychainRequest.decode(header: bytes, tail: SecretBytes(count: 0))) != nil) == isKnown)
        }
    }

    // MARK: The hello

    @Test func theHelloIsWrittenAsTheGeneralEncoderWritesIt() {
        for version in ["", "0.1.0", "ü"] {
            var hello = Latchkey_ClientHello()
            hello.lowestProtocol = ProtocolVersion.lowest
            hello.highestProtocol = ProtocolVersion.highest
            hello.programVersion = version
            #expect(HelloFields.encoded(version: version) == hello.wireBytes)
        }
    }

    @Test func theAnswerToTheHelloIsReadAsTheGeneralDecoderReadsIt() throws {
        let whole = SessionInformation(
            groups: ["exe./usr/bin/git", "ü"], nameableGroups: ["*"], strength: .program, isTemporary: true,
            identity: "exe./usr/bin/git", missingFeatures: ["pidfd"], serverVersion: "0.1.0")
        let bare = SessionInformation(
            groups: [], nameableGroups: [], strength: .none, isTemporary: false, identity: "", missingFeatures: [],
            serverVersion: "")
        var random = Random()
        var accepted = 0
        for session in [whole, bare] {
            let bytes = Latchkey_ServerHello(session, protocolVersion: 4).wireBytes
            #expect(SessionInformation(plain: bytes)?.groups == session.groups)
            for round in 0..<400 {
                let bytes = round == 0 ? bytes : Self.mutated(bytes, &random)
                guard let plain = SessionInformation(plain: bytes) else { continue }
                accepted += 1
                let general: Latchkey_ServerHello = try decodeMessage(bytes)
                #expect(!general.hasFailure && plain == general.session, "\(bytes)")
            }
        }
        #expect(accepted > 50)
    }

    @Test func aRefusalOfTheHelloIsTold() throws {
        let refusal = KeychainError(.notAvailable, reason: .busy)
        var answer = Latchkey_ServerHello()
        answer.failure = Latchkey_Failure(refusal)
        let decoded = try HelloFields.decoded(answer.wireBytes)
        #expect(throws: refusal) { try decoded.get() }
        #expect(throws: WireFault()) { try HelloFields.decoded([0xFF]) }
    }

    private static func mutated(_ whole: [UInt8], _ random: inout Random) -> [UInt8] {
        guard !whole.isEmpty else { return whole }
        var bytes = whole
        // Near the front, where the fields are, not in a long value.
        let at = Int.random(in: 0..<min(bytes.count, 120), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(.random(in: 0...255, using: &random), at: at)
        default: bytes += bytes[..<at]
        }
        return bytes
    }

    // MARK: Answers

    private static func row(_ random: inout Random) -> AnswerRow {
        var attributes = AttributeMap()
        for index in 0..<Int.random(in: 0...12, using: &random) {
            attributes.append(AttributeCode(rawValue: UInt32(index)), attribute(&random))
        }
        let access = Bool.random(using: &random) ? AccessControl(unconstrained: .whenUnlocked) : nil
        let value = Bool.random(using: &random) ? SharedSecret(SecretBytes(copying: bytes(&random, atMost: 200))) : nil
        var row = AnswerRow(
            itemClass: .genericPassword, attributes: attributes, accessControl: access,
            persistentReference: bytes(&random, atMost: 20), value: value)
        row.search = [0, 1, 127].randomElement(using: &random)!
        return row
    }

    private static func attribute(_ random: inout Random) -> AttributeValue {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .string(["", "plain", String(repeating: "ü", count: 200)].randomElement(using: &random)!)
        case 1: .data(bytes(&random, atMost: 300))
        case 2: .integer([0, -1, .min, .max].randomElement(using: &random)!)
        case 3: .real(.nan)
        default: .date(0)
        }
    }

    /// The same rows as the general encoder's message.
    private static func message(_ rows: [AnswerRow], returns: ReturnTypes) -> Latchkey_WireReply {
        var message = Latchkey_WireReply()
        message.number = 9
        message.returns = UInt32(returns.rawValue)
        message.many = true
        var offset: UInt64 = 0
        for row in rows {
            var out = Latchkey_WireRow()
            out.itemClass = row.itemClass.rawValue
            out.attributes = row.attributes.entries.map { Latchkey_WireAttribute($0.code, $0.value) }
            if let access = row.accessControl { out.accessControl = .init(access.encoded) }
            out.persistentReference = .init(row.persistentReference)
            out.search = UInt32(row.search)
            if let value = row.value {
                out.hasValue_p = true
                out.valueOffset = offset
                out.valueLength = UInt64(value.bytes.count)
                offset += out.valueLength
            }
            message.rows.append(out)
        }
        return message
    }

    @Test func anAnswerIsWrittenAsTheGeneralEncoderWritesIt() throws {
        var random = Random()
        for _ in 0..<300 {
            let rows = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.row(&random) }
            var encoder = AnswerEncoder(number: 9, returns: [.data], many: true)
            for row in rows { encoder.add(row) }
            let header = try encoder.take(more: false).header
            #expect(header == Self.message(rows, returns: [.data]).wireBytes)
        }
    }

    @Test func whateverAnswerIsReadWithoutTheGeneralDecoderItReadsAlike() throws {
        var random = Random()
        var accepted = 0
        for _ in 0..<300 {
            let rows = (0..<Int.random(in: 0...3, using: &random)).map { _ in Self.row(&random) }
            let whole = Self.message(rows, returns: [.data, .attributes]).wireBytes
            let tail = (0..<800).map { UInt8(truncatingIfNeeded: $0) }
            for round in 0..<30 {
                let bytes = round == 0 ? whole : Self.mutated(whole, &random)
                guard let plain = ReplyFields(plain: bytes) else { continue }
                accepted += 1
                let general = try ReplyFields(decodeMessage(bytes) as Latchkey_WireReply)
                #expect(plain.number == general.number && plain.more == general.more)
                #expect(plain.returns == general.returns && plain.many == general.many)
                #expect(Self.words(plain, tail) == Self.words(general, tail), "\(bytes.prefix(200))")
            }
        }
        #expect(accepted > 1000)
    }

    private static let failures: [KeychainError] = [
        KeychainError(.itemNotFound, reason: .nothingMatches), KeychainError(.duplicateItem, reason: .duplicate),
        KeychainError(.interactionNotAllowed, reason: .locked(class: "ak"), underlying: ""),
        KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: "")),
        KeychainError(.param, reason: .malformed(key: "kSecAttrLabel"), underlying: "ä\u{0}日本"),
        KeychainError(
            .dataTooLarge, reason: .tooLarge(what: "the value", limit: 64 << 20, size: 64 << 20 + 1),
            underlying: String(repeating: "long ", count: 100)),
        KeychainError(Status(rawValue: .max), reason: .duplicate), KeychainError(Status(rawValue: .min), reason: .busy),
    ]

    private static func message(_ error: KeychainError, number: UInt64) -> [UInt8] {
        var message = Latchkey_WireReply()
        message.number = number
        message.failure = Latchkey_Failure(error)
        return message.wireBytes
    }

    @Test func aFailureIsWrittenAsTheGeneralEncoderWritesIt() {
        for error in Self.failures {
            for number in [0, 1, 300, .max] as [UInt64] {
                #expect(EncodedMessage.failure(error, number: number).header == Self.message(error, number: number))
                #expect(FailureFields(plain: Self.message(error, number: number))?.error == error)
            }
        }
    }

    @Test func whateverFailureIsReadWithoutTheGeneralDecoderItReadsAlike() throws {
        var random = Random()
        var accepted = 0
        for error in Self.failures {
            let whole = Self.message(error, number: 9)
            for _ in 0..<1_000 {
                let bytes = Self.mutated(whole, &random)
                guard let plain = FailureFields(plain: bytes) else { continue }
                accepted += 1
                let general: Latchkey_WireReply = try decodeMessage(bytes)
                #expect(general.hasFailure && plain.number == general.number)
                #expect(plain.error == general.failure.keychainError, "\(bytes)")
            }
        }
        #expect(accepted > 500)
    }

    /// The rows in the general encoder's words; nil where a row is impossible.
    private static func words(_ fields: ReplyFields, _ tail: [UInt8]) -> [UInt8]? {
        do throws(AnswerFault) {
            var rows: [AnswerRow] = []
            for row in fields.rows { rows.append(try row.answerRow(SecretBytes(copying: tail))) }
            let values = rows.flatMap { $0.value?.bytes.insecureArray() ?? [0] }
            return message(rows, returns: fields.returns).wireBytes + values
        } catch {
            return nil
        }
    }
}
