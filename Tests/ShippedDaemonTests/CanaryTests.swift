import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Nothing that was stored lies readable in any file of the daemon or the enclave.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: ShippedDaemon.isWithinReach, "the programs are not where this user can run them"))
struct CanaryTests {
    private let canaries = Canaries()

    @Test func theSearchFindsEveryFormThatATestWrites() throws {
        let folder = try TemporaryDirectory("canary")
        let forms = canaries.forms
        for (name, bytes) in forms {
            let surrounded = Data(Random.bytes(1000)) + bytes + Data(Random.bytes(1000))
            try surrounded.write(to: URL(fileURLWithPath: folder.path("found")))
            #expect(try Canaries.found(forms, in: folder.path).contains { $0.hasPrefix("\(name) ") }, "\(name)")
        }
        for start in 0..<3 {
            let text = Data(Array(repeating: 0x41, count: start) + canaries.marker).base64EncodedData()
            try text.write(to: URL(fileURLWithPath: folder.path("found")))
            #expect(try !Canaries.found(forms, in: folder.path).isEmpty, "base64 at \(start)")
        }
    }

    @Test func nothingStoredIsReadableInAnyFile() throws {
        let daemon = try ShippedDaemon()
        let canaries = canaries
        for itemClass in ItemClass.stored {
            let settable = Schema.of(itemClass).attributes.filter(Canaries.isSettable)
            #expect(settable.count > 8)
            for round in 0..<6 {
                let item = canaries.item(itemClass, round, settable)
                _ = try daemon.client.perform(
                    KeychainRequest(.add, query: QueryDictionary(item + [("v_Data", .secret)]), value: canaries.value()))
                if round > 0 {
                    // The same item by a long value, which travels in memory of its own.
                    try change(daemon, itemClass, item, canaries, long: round == 1)
                }
                if round.isMultiple(of: 3) {
                    _ = try daemon.client.perform(KeychainRequest(.delete, query: selection(itemClass, item)))
                }
            }
            let everything = try daemon.client.perform(
                KeychainRequest(
                    .copy,
                    query: QueryDictionary([
                        ("class", .string(itemClass.rawValue)), ("m_Limit", .string("m_LimitAll")),
                        ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
                    ])))
            #expect(everything.rows.count == 4)
            let stored = try #require(everything.rows.first?.attributes)
            for attribute in settable where Canaries.isKept(attribute) {
                #expect(stored[attribute.code].map(canaries.isIn) == true, "\(itemClass) \(attribute.code) is no canary")
            }
            provokeFailures(daemon, itemClass, canaries)
        }
        // As it is while it runs: the write-ahead log and the shared memory are there.
        #expect(try Canaries.found(canaries.forms, in: daemon.folder.path) == [])
        try daemon.end()
        #expect(try Canaries.found(canaries.forms, in: daemon.folder.path) == [])
        let files = try Canaries.files(in: daemon.folder.path)
        #expect(files.contains { $0.hasSuffix("/keychain.db") && FileManager.default.fileSize($0) > 50_000 })
        #expect(files.contains { $0.contains("/enclave/") })
    }

    private func change(
        _ daemon: ShippedDaemon, _ itemClass: ItemClass, _ item: [(String, RawValue)], _ canaries: Canaries, long: Bool
    ) throws {
        let label = [("labl", RawValue.string(canaries.text("changed label"))), ("v_Data", .secret)]
        _ = try daemon.client.perform(
            KeychainRequest(
                .update, query: selection(itemClass, item), changes: QueryDictionary(label),
                value: canaries.value(repeating: long ? 10_000 : 2)))
    }

    /// One item by its alias, which is its own.
    private func selection(_ itemClass: ItemClass, _ item: [(String, RawValue)]) -> QueryDictionary {
        QueryDictionary([("class", .string(itemClass.rawValue))] + item.filter { $0.0 == "alis" })
    }

    /// What is refused must not be logged with what it carried.
    private func provokeFailures(_ daemon: ShippedDaemon, _ itemClass: ItemClass, _ canaries: Canaries) {
        let text = RawValue.string(canaries.text("refused"))
        let named = ("class", RawValue.string(itemClass.rawValue))
        for entry in [("labl", text), ("agrp", text), ("tkid", text), ("cdat", text), ("z" + canaries.text("key"), text)] {
            #expect(throws: KeychainError.self) {
                try daemon.client.perform(
                    KeychainRequest(.copy, query: QueryDictionary([named, entry, ("r_Data", .bool(true))])))
            }
        }
        for entry in [("agrp", text), ("tkid", text), ("cdat", text), ("z" + canaries.text("key"), text)] {
            #expect(throws: KeychainError.self) {
                try daemon.client.perform(
                    KeychainRequest(
                        .add, query: QueryDictionary([named, entry, ("v_Data", .secret)]), value: canaries.value()))
            }
        }
    }
}

/// Strings and numbers that nothing else can contain. All texts carry the same
/// marker, so that a search for that one finds each of them.
private struct Canaries: Sendable {
    /// 16 letters, as long as the shortest kind of attribute.
    let marker: [UInt8]
    /// Numbers above 2^62, so that every form of them is long.
    private let number = Int64(truncatingIfNeeded: bits(Random.bytes(8)) | 1 << 62) & .max
    private let date = Double(Int64(truncatingIfNeeded: bits(Random.bytes(8))) >> 30) / 1024 + 0.123

    init() {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz".utf8)
        marker = Random.bytes(16).map { letters[Int($0) % letters.count] }
    }

    func text(_ name: String) -> String { String(decoding: marker, as: UTF8.self) + name }

    func value(repeating times: Int = 1) -> SharedSecret {
        SharedSecret(SecretBytes(copying: (0..<times).flatMap { Array(text("value \($0)").utf8) }))
    }

    func isIn(_ value: AttributeValue) -> Bool {
        switch value {
        case .string(let text): Array(text.utf8).starts(with: marker)
        // Lookup attributes have a length before their first name.
        case .data(let bytes): bytes.starts(with: marker) || bytes.dropFirst(4).starts(with: marker)
        case .integer(let number): number == self.number
        case .date(let seconds): seconds == date
        case .real: false
        }
    }

    /// Whether what the caller sets is stored and given back as it was.
    static func isKept(_ attribute: SchemaAttribute) -> Bool {
        let ownedByTheEngine: Set<String> = ["cdat", "mdat", "musr", "sha1"]
        return attribute.traits.contains(.returned) && attribute.kind != .ignored
            && !ownedByTheEngine.contains(attribute.code.description)
    }

    /// Whether a caller without entitlements sets it to what they like.
    static func isSettable(_ attribute: SchemaAttribute) -> Bool {
        let closed: Set<String> = [
            // The group, the class of protection, sync and tombstone flags have values of their own.
            "agrp", "pdmn", "sync", "tomb",
            // A token is refused; `provokeFailures` tries.
            "tkid",
        ]
        return attribute.entitlement == nil && !attribute.traits.contains(.forbidden)
            && attribute.kind != .accessControl && !closed.contains(attribute.code.description)
    }

    func item(_ itemClass: ItemClass, _ round: Int, _ settable: [SchemaAttribute]) -> [(String, RawValue)] {
        [("class", .string(itemClass.rawValue))]
            + settable.map { ($0.code.description, raw($0, "\(itemClass.rawValue) \($0.code) \(round)")) }
    }

    private func raw(_ attribute: SchemaAttribute, _ name: String) -> RawValue {
        switch attribute.kind {
        case .blob, .string, .ignored: .string(text(name))
        case .data: .data(Array(text(name).utf8))
        case .number: .integer(number)
        case .date: .date(date)
        case .sha1: .data(marker + marker[..<4])
        case .uuid: .data(marker)
        case .lookup:
            .data(LookupAttributes([.init(name: text(name), value: text("value of " + name))])?.encoded ?? [])
        case .access, .accessControl: .null
        }
    }

    // MARK: Searching

    /// The marker and the numbers in every form in which they could lie in a file.
    var forms: [(String, Data)] {
        let text = marker
        let lower = text.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        var forms: [(String, Data)] = [
            ("plain", Data(text)), ("hex", Data(lower.utf8)), ("HEX", Data(lower.uppercased().utf8)),
            ("UTF-16LE", Data(text.flatMap { [$0, 0] })), ("UTF-16BE", Data(text.flatMap { [0, $0] })),
            ("decimal", Data("\(number)".utf8)), ("varint", Data(Self.varint(UInt64(number)))),
            ("zigzag", Data(Self.varint(UInt64(number) << 1))),
        ]
        for skipped in 0..<3 {
            // What does not depend on the bytes before and after.
            let whole = text.dropFirst((3 - skipped) % 3)
            forms.append(("base64-\(skipped)", Data(whole.prefix(whole.count / 3 * 3)).base64EncodedData()))
        }
        for (name, bits) in [("number", UInt64(number)), ("date", date.bitPattern)] {
            let bytes = AttributeValue.bigEndian(bits)
            forms.append(("\(name) BE", Data(bytes)))
            forms.append(("\(name) LE", Data(bytes.reversed())))
        }
        return forms
    }

    private static func varint(_ number: UInt64) -> [UInt8] {
        var rest = number
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }.filter {
            let kind = try FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType
            return kind == .typeRegular
        }
    }

    /// "form file" for everything that lies there; names count as well.
    static func found(_ forms: [(String, Data)], in folder: String) throws -> [String] {
        try files(in: folder).flatMap { path in
            let content = try Data(contentsOf: URL(fileURLWithPath: path)) + Data(path.utf8)
            return forms.filter { content.range(of: $0.1) != nil }.map { "\($0.0) \(path)" }
        }
    }
}

private func bits(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

extension FileManager {
    fileprivate func fileSize(_ path: String) -> Int {
        ((try? attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }
}
