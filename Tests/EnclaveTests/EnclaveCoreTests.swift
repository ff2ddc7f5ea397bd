import KeychainCrypto
import KeychainModel
import KeychainPlatform
import Testing

@testable import Enclave

/// Keys of rows and of metadata: what opens them, and what does not.
@Suite struct EnclaveCoreTests {
    private static let keyed = ProtectionClass.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }

    private static let unconstrained = AccessControl(unconstrained: .whenUnlocked).encoded

    private static let senseless: [[UInt8]] = [
        [0xFF], [1], Array(unconstrained.dropLast()), unconstrained + [0], [UInt8](repeating: 7, count: 100_000),
    ]

    @Test(arguments: keyed)
    func aClassWithAKeyMakesAndOpensRowAndMetadataKeys(named: ProtectionClass) throws {
        let enclave = try InProcessEnclave.ephemeral()
        let row = try MadeKey(in: enclave, .row(named))
        #expect(row.secret.count == 32)
        #expect(row.wrapped.box.count == 60)
        #expect(try row.opens(in: enclave))
        let metadata = enclave.makeMetadataKey(for: named)
        let wrapped = try #require(metadata.wrapped)
        #expect(enclave.openMetadataKey(wrapped, of: named).secret == metadata.secret)
        #expect(metadata.secret != row.secret)
    }

    @Test func everyKeyIsAnother() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let row = RowBinding.row()
        let keys = enclave.makeRowKeys(for: Array(repeating: row, count: 100)).compactMap(\.secret)
        #expect(Set(keys).count == 100)
    }

    @Test func withoutAPasscodeTheClassThatNeedsOneHasNoKey() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let named = ProtectionClass.whenPasscodeSetThisDeviceOnly
        let wrapped = WrappedKey(generation: 1, box: [UInt8](repeating: 0, count: 60))
        #expect(enclave.makeRowKeys(for: [.row(named)]).map(\.fate) == [.noClassKey])
        #expect(enclave.openRowKeys([(.row(named), wrapped)]).map(\.fate) == [.noClassKey])
        #expect(enclave.makeMetadataKey(for: named).fate == .noClassKey)
        #expect(enclave.openMetadataKey(wrapped, of: named).fate == .noClassKey)
    }

    @Test func aRowKeyOpensWithNothingButWhatItWasMadeWith() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let made = try MadeKey(in: enclave, .row(accessControl: Self.unconstrained))
        let row = made.binding
        func opened(_ binding: RowBinding, _ wrapped: WrappedKey? = nil) -> Fate {
            enclave.openRowKeys([(binding, wrapped ?? made.wrapped)])[0].fate
        }
        func bound(
            uuid: [UInt8]? = nil, _ named: ProtectionClass? = nil, accessControl: [UInt8]? = nil
        ) -> RowBinding {
            RowBinding(
                uuid: uuid ?? row.uuid, protectionClass: named ?? row.protectionClass,
                accessControl: accessControl ?? row.accessControl)
        }
        #expect(opened(row) == .key)
        for index in row.uuid.indices {
            var uuid = row.uuid
            uuid[index] ^= 1
            #expect(opened(bound(uuid: uuid)) == .damaged)
        }
        #expect(opened(bound(uuid: [])) == .damaged)
        #expect(opened(bound(uuid: row.uuid + [0])) == .damaged)
        for named in Self.keyed where named != row.protectionClass { #expect(opened(bound(named)) == .damaged) }
        #expect(opened(bound(accessControl: [])) == .damaged)
        let other = AccessControl(unconstrained: .always).encoded
        #expect(opened(bound(accessControl: other)) == .damaged)
        for generation in [0, 2, UInt32.max] {
            // Not damage: a keybag that never had this generation is not this row's.
            #expect(opened(row, WrappedKey(generation: generation, box: made.wrapped.box)) == .noClassKey)
        }
    }

    @Test func everyByteOfABoxMatters() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let made = try MadeKey(in: enclave)
        let box = made.wrapped.box
        var boxes = box.indices.map { index in
            var bytes = box
            bytes[index] ^= 0x40
            return bytes
        }
        boxes += (0..<box.count).map { Array(box[..<$0]) } + [box + [0]]
        let rows = boxes.map { (made.binding, WrappedKey(generation: 1, box: $0)) }
        #expect(enclave.openRowKeys(rows).allSatisfy { $0.fate == .damaged })
    }

    @Test func aKeyOfAnotherStoreIsDamaged() throws {
        let made = try MadeKey(in: InProcessEnclave.ephemeral())
        #expect(try made.opens(in: InProcessEnclave.ephemeral()) == false)
    }

    /// The store's name is bound even where the keys are the same.
    @Test func theStoreIsBound() throws {
        let root = RootKey.random()
        let body = KeybagBody.new(for: .random(), root: root)
        let made = WrapBinding.rowKey(store: body.store, .row(uuid: [1]), generation: 1)
        let other = WrapBinding.rowKey(store: .random(), .row(uuid: [1]), generation: 1)
        #expect(made.bytes != other.bytes)
        #expect(throws: KeybagError.unreadable(.malformed)) {
            _ = try Keybag(body.with(store: .random()), generation: 1, root: root.copy())
        }
    }

    @Test func aMetadataKeyIsBoundToItsClassAndGeneration() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let wrapped = try #require(enclave.makeMetadataKey(for: .whenUnlocked).wrapped)
        for named in Self.keyed where named != .whenUnlocked {
            #expect(enclave.openMetadataKey(wrapped, of: named).fate == .damaged)
        }
        for generation in [0, 2, UInt32.max] {
            let other = WrappedKey(generation: generation, box: wrapped.box)
            #expect(enclave.openMetadataKey(other, of: .whenUnlocked).fate == .noClassKey)
        }
    }

    @Test func aMetadataKeyIsNoRowKey() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let metadata = try #require(enclave.makeMetadataKey(for: .whenUnlocked).wrapped)
        let row = try MadeKey(in: enclave)
        #expect(enclave.openRowKeys([(.row(uuid: []), metadata)])[0].fate == .damaged)
        #expect(enclave.openMetadataKey(row.wrapped, of: .whenUnlocked).fate == .damaged)
    }

    @Test(arguments: senseless)
    func whatDoesNotDecodeIsNeitherMadeNorOpened(accessControl: [UInt8]) throws {
        let enclave = try InProcessEnclave.ephemeral()
        let row = RowBinding.row(accessControl: accessControl)
        #expect(enclave.makeRowKeys(for: [row]).map(\.fate) == [.needsAuthentication])
        let wrapped = WrappedKey(generation: 1, box: [UInt8](repeating: 0, count: 60))
        #expect(enclave.openRowKeys([(row, wrapped)]).map(\.fate) == [.needsAuthentication])
    }

    @Test func aBatchAnswersRowByRow() throws {
        let enclave = try InProcessEnclave.ephemeral()
        let made = try MadeKey(in: enclave)
        let broken = WrappedKey(generation: 1, box: [])
        let rows: [(RowBinding, WrappedKey)] = [
            (made.binding, made.wrapped), (made.binding, broken),
            (.row(.whenPasscodeSetThisDeviceOnly), broken), (.row(accessControl: [0]), made.wrapped),
            (made.binding, made.wrapped),
        ]
        let outcomes = enclave.openRowKeys(rows)
        #expect(outcomes.map(\.fate) == [.key, .damaged, .noClassKey, .needsAuthentication, .key])
        #expect(outcomes[4].secret == made.secret)
        #expect(enclave.openRowKeys([]).isEmpty)
        #expect(enclave.makeRowKeys(for: []).isEmpty)
    }

    @Test func manyThreadsMayUseOne() async throws {
        let enclave = try InProcessEnclave.ephemeral()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<50).allSatisfy { _ in try MadeKey(in: enclave).opens(in: enclave) }
                }
            }
            for try await good in group { #expect(good) }
        }
    }
}

extension AccessControlFlags {
    fileprivate static let watchOrBiometry: AccessControlFlags = [.companion, .biometryAny, .or]
}
