internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import KeychainTestSupport
internal import Synchronization

extension FuzzTarget {
    /// Up to eight calls of one caller on a real engine, one after the other.
    static let engine = FuzzTarget("engine", largestInput: 1024, weight: 40, seeds: { EngineSeeds.all }) {
        bytes throws(Finding) in
        try EngineUnderFuzz.shared.perform(bytes)
    }
}

/// A real engine on a real store, emptied before each input.
private final class EngineUnderFuzz: Sendable {
    static let shared: EngineUnderFuzz = {
        do { return try EngineUnderFuzz() } catch { preconditionFailure("no engine: \(error)") }
    }()

    private let engine: KeychainEngine
    private let turn = Mutex(())

    private init() throws {
        let path = Scratch.path("engine")
        engine = try KeychainEngine.open(dataDirectory: path, clock: ManualClock()) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: path, expecting: expected)
        }
    }

    func perform(_ bytes: [UInt8]) throws(Finding) {
        let finding = turn.withLock { _ -> Finding? in
            do throws(Finding) {
                try performInTurn(bytes)
                return nil
            } catch { return error }
        }
        if let finding { throw finding }
    }

    private func performInTurn(_ bytes: [UInt8]) throws(Finding) {
        try empty()
        var source = ByteSource(bytes)
        let caller = source.entitlements()
        for _ in 0..<8 where !source.isAtEnd {
            let request = source.request()
            try check(request, answer(request, caller), caller)
        }
        try claim(damaged(caller) == 0, "a call damaged a row")
    }

    private func answer(_ request: KeychainRequest, _ caller: Entitlements) -> Result<KeychainAnswer, KeychainError> {
        Result { () throws(KeychainError) in try engine.answer(request, for: Authorization(caller)) }
    }

    private func check(
        _ request: KeychainRequest, _ outcome: Result<KeychainAnswer, KeychainError>, _ caller: Entitlements
    ) throws(Finding) {
        switch outcome {
        case .failure(let error):
            let isOurFault = error.status == .internalComponent || error.status == .notAvailable
            try claim(!isOurFault, "a caller's bytes made \(error)")
        case .success(let answer):
            for row in answer.rows { try check(row, caller) }
            if request.operation == .copy, let row = answer.rows.first { try checkReference(row, caller) }
            try AnswerProperty.survivesItsEncoding(
                KeychainAnswer(
                    returns: answer.returns, many: answer.many, rows: answer.rows))
        }
    }

    /// Nothing of a group that is not the caller's comes out.
    private func check(_ row: AnswerRow, _ caller: Entitlements) throws(Finding) {
        guard let group = row.attributes[.accessGroup]?.string else { return }
        let own = caller.keychainAccessGroups + caller.nameableGroups
        try claim(own.contains(group), "a row of the group \(group)")
    }

    /// A persistent reference finds the same row again.
    private func checkReference(_ row: AnswerRow, _ caller: Entitlements) throws(Finding) {
        let query = QueryDictionary([
            ("v_PersistentRef", .data(row.persistentReference)), ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
        ])
        guard case .success(let answer) = answer(KeychainRequest(.copy, query: query), caller) else { return }
        let found = try claimed(answer.rows.first, "a reference that finds nothing")
        try claim(found.persistentReference == row.persistentReference, "the row of another reference")
        if row.value != nil { try claim(Sameness.of(found.value, row.value), "another value") }
    }

    private func empty() throws(Finding) {
        var purger = Entitlements()
        purger.flags = ["com.apple.private.uninstall.deletion"]
        purger.keychainAccessGroups = ["group.a"]
        let groups = ["group.a", "group.b", "latchkey", "com.apple.token"]
        if case .failure(let error) = answer(KeychainRequest(.deleteGroups(groups)), purger) {
            throw Finding("the store cannot be emptied: \(error)")
        }
    }

    private func damaged(_ caller: Entitlements) -> Int {
        guard case .success(let answer) = answer(KeychainRequest(.status), caller) else { return -1 }
        return answer.status?.damaged ?? -1
    }
}

extension ByteSource {
    /// Half of the calls are about one item, so that they meet.
    fileprivate mutating func request() -> KeychainRequest {
        let kind = byte()
        let isAboutOne = kind & 0x80 != 0
        var query = isAboutOne ? Self.oneItem : QueryDictionary()
        for entry in dictionary().entries where !query.entries.contains(where: { $0.key == entry.key }) {
            query.entries.append(entry)
        }
        switch kind % 5 {
        case 0, 1: return KeychainRequest(.add, query: query, value: value(of: query))
        case 2: return KeychainRequest(.copy, query: query)
        case 3:
            let changes = dictionary()
            return KeychainRequest(.update, query: query, changes: changes, value: value(of: changes))
        default: return KeychainRequest(.delete, query: query)
        }
    }

    private static let oneItem = QueryDictionary([
        ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("account")),
    ])

    private mutating func value(of carrier: QueryDictionary) -> SharedSecret? {
        guard carrier["v_Data"] == .secret else { return nil }
        return SharedSecret(SecretBytes(copying: data()))
    }
}

/// An item added, then what the corpus does with one.
private enum EngineSeeds {
    static let all: [[UInt8]] = stride(from: 0, to: ConformanceSeeds.calls.count, by: 16).map { start in
        var sink = ByteSink()
        sink.byte(0)
        sink.byte(130)
        sink.dictionary(QueryDictionary([("v_Data", .secret)]))
        sink.text("value")
        for call in ConformanceSeeds.calls[start..<min(start + 4, ConformanceSeeds.calls.count)] {
            // 130, 132, 133, 129 are one item's add, copy, update, delete: the number modulo 5.
            sink.byte(["add": 130, "copy": 132, "update": 133, "delete": 129][call.name] ?? 132)
            sink.dictionary(call.query)
            if call.name == "update" { sink.dictionary(call.changes) }
            if call.query["v_Data"] == .secret || call.changes["v_Data"] == .secret { sink.text("other") }
        }
        return sink.bytes
    }
}
