import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// The names that a person is shown of a constrained item, on the real engine: bound
/// to its key from format 3 of a row on.
@Suite struct PromptNameTests {
    /// A keychain with the passcode "1234" and a person who agrees to everything.
    private final class Keychain: PersonAsker {
        let enclave: InProcessEnclave
        let engine: KeychainEngine
        private let asked = Mutex<[PersonQuestion]>([])

        init(_ path: String) throws {
            let made = Mutex<InProcessEnclave?>(nil)
            let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
            engine = try KeychainEngine.open(dataDirectory: path, clock: ManualClock()) {
                expected throws(KeychainError) in
                let enclave = try InProcessEnclave(dataDirectory: path, expecting: expected, passcodeCost: cost)
                made.withLock { $0 = enclave }
                return enclave
            }
            enclave = try #require(made.withLock { $0 })
        }

        static let passcode = "1234"
        private static var credential: SharedSecret { SharedSecret(SecretBytes(copying: Array(passcode.utf8))) }

        func setPasscode() throws { try enclave.setPasscode(Self.credential) }
        func unlock() throws { try enclave.unlock(with: .passcode(Self.credential)) }

        func ask(
            _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
        ) throws(KeychainError) {
            if let shown = enclave.question(question) { asked.withLock { $0.append(shown) } }
            try enclave.agree(to: question, with: .passcode(Self.credential))
        }

        /// What was shown since the last time.
        func takeShown() -> [PersonQuestion] {
            asked.withLock { asked in
                defer { asked = [] }; return asked
            }
        }

        @discardableResult
        func call(
            _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)],
            changes: [(String, RawValue)] = [], value: String? = nil
        ) throws -> KeychainAnswer {
            var entitlements = Entitlements()
            entitlements.keychainAccessGroups = ["group.a"]
            let request = KeychainRequest(
                operation, query: QueryDictionary([("class", .string("genp")), ("svce", .string("service"))] + query),
                changes: QueryDictionary(changes),
                value: value.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) })
            let context = CallContext()
            defer { engine.end(context) }
            let authorization = Authorization(entitlements).within(context)
            while true {
                do throws(KeychainError) { return try engine.answer(request, for: authorization) } catch {
                    guard error == KeychainEngine.personNeeded else { throw error }
                    let program = CallingProgram(name: "test", strength: .user, process: 1)
                    try engine.askPerson(for: context, by: self, program)
                }
            }
        }

        func value(_ account: String) throws -> String? {
            try call(.copy, [("acct", .string(account)), ("r_Data", .bool(true))]).rows.first?.value.map {
                String(decoding: $0.bytes.insecureArray(), as: UTF8.self)
            }
        }

        func add(_ account: String, label: String?) throws {
            let access = try #require(AccessControl(protection: "ak", flags: [.devicePasscode]))
            try call(
                .add,
                [("acct", .string(account)), ("accc", .accessControl(access)), ("v_Data", .secret)]
                    + (label.map { [("labl", .string($0))] } ?? []), value: "value of \(account)")
        }

        func update(_ account: String, _ changes: [(String, RawValue)], value: String? = nil) throws {
            try call(.update, [("acct", .string(account))], changes: changes, value: value)
        }
    }

    @Test func thePromptNamesTheItemAsItWasStoredAndAsItIsRenamed() throws {
        let folder = try TemporaryDirectory()
        let keychain = try Keychain(folder.path)
        try keychain.setPasscode()
        try keychain.add("a", label: "Bank")
        try keychain.add("b", label: nil)
        #expect(try keychain.value("a") == "value of a" && keychain.value("b") == "value of b")
        let names = keychain.takeShown()
        #expect(
            names.flatMap(\.items) == [
                ShownItem(label: "Bank", group: "group.a"), ShownItem(label: "service", group: "group.a"),
            ])
        #expect(names.allSatisfy { $0.itemsAreBound })

        // A new name is bound anew, an attribute that is no name is not.
        try keychain.update("a", [("labl", .string("Savings"))])
        #expect(keychain.takeShown().flatMap(\.items).map(\.label) == ["Bank"])
        #expect(try keychain.value("a") == "value of a")
        try keychain.update("a", [("icmt", .string("a comment"))])
        #expect(try keychain.value("a") == "value of a")
        try keychain.update("a", [("acct", .string("c"))])
        #expect(try keychain.value("c") == "value of a")
        try keychain.update("c", [("v_Data", .secret)], value: "another")
        #expect(try keychain.value("c") == "another")
        let later = keychain.takeShown()
        #expect(later.allSatisfy { $0.itemsAreBound && $0.items.map(\.label) == ["Savings"] } && later.count >= 7)
        #expect(try keychain.engine.doctor(.verify).isIntact == true)
    }

    /// Two ways to write a letter are two names: the row key is bound to bytes.
    @Test func aNameThatLooksTheSameIsBoundAnew() throws {
        let folder = try TemporaryDirectory()
        let keychain = try Keychain(folder.path)
        try keychain.setPasscode()
        try keychain.add("a", label: "Caf\u{E9}")
        try keychain.update("a", [("labl", .string("Cafe\u{301}"))])
        #expect(try keychain.value("a") == "value of a")
        #expect(keychain.takeShown().last?.items.map { Array($0.label.utf8) } == [Array("Cafe\u{301}".utf8)])
        #expect(try keychain.engine.doctor(.verify).isIntact == true)
    }

    /// What is bound comes before what the daemon says.
    @Test func boundNamesAreShownFirst() throws {
        let folder = try MigrationTests().fixture("format-4")
        let keychain = try Keychain(folder.path)
        try keychain.unlock()
        try keychain.add("new", label: "New")
        let all: [(String, RawValue)] = [
            ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
        ]
        #expect(try keychain.call(.copy, all).rows.count == 5)
        let shown = keychain.takeShown()
        #expect(shown.map { $0.items.map(\.label) } == [["New", "Label of constrained"]])
        #expect(shown.map(\.itemsAreBound) == [false])
    }

    /// Longer names than a prompt shows are bound as far as they are shown.
    @Test func aLongNameIsBoundAsFarAsItIsShown() throws {
        let folder = try TemporaryDirectory()
        let keychain = try Keychain(folder.path)
        try keychain.setPasscode()
        let long = String(repeating: "é", count: 30_000)
        try keychain.add("a", label: long)
        #expect(try keychain.value("a") == "value of a")
        #expect(keychain.takeShown().first?.items.first?.label.unicodeScalars.count == ShownItem.longest)
    }

    /// A row of format 2 opens as ever, under the daemon's word, until it is changed.
    @Test func anOlderRowHasTheDaemonsWordUntilItIsChanged() throws {
        let folder = try MigrationTests().fixture("format-4")
        let version = { try EngineUnderTest.number("PRAGMA user_version", in: folder.path + "/keychain.db") }
        #expect(try version() == 4)
        for round in 0..<2 {
            let keychain = try Keychain(folder.path)
            #expect(throws: KeychainError.self) { try keychain.value("constrained") }
            #expect(try keychain.value("always") == "value of always")
            try keychain.unlock()
            for account in ["plain", "constrained", "lasting"] {
                #expect(try keychain.value(account) == "value of \(account)")
            }
            #expect(keychain.takeShown().map(\.itemsAreBound) == [round == 1])
            try keychain.update("constrained", [("icmt", .string("round \(round)"))])
            #expect(try keychain.value("constrained") == "value of constrained")
            let shown = try #require(keychain.takeShown().last)
            #expect(shown.itemsAreBound && shown.items.map(\.label) == ["Label of constrained"])
            #expect(try keychain.engine.doctor(.verify).isIntact == true)
            try keychain.engine.close()
            #expect(try version() == StoreSchema.format)
        }
    }
}
