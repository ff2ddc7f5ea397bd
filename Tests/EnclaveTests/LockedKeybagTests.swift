import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

@testable import Enclave

/// A keybag of which no slot opens by itself, and one with two generations.
@Suite struct LockedKeybagTests {
    private func core(_ change: (KeybagBody) -> KeybagBody) throws -> EnclaveCore {
        let root = RootKey.random()
        let body = change(KeybagBody.new(for: .random(), root: root))
        return try EnclaveCore.opened(body, root)
    }

    private func lockedCore() throws -> EnclaveCore {
        try core { body in
            body.with(
                slots: body.slots.map {
                    .init(kind: .unknown("quantum"), identifier: $0.identifier, wrappedBagKey: $0.wrappedBagKey)
                })
        }
    }

    @Test func aSlotOfAnUnknownKindOpensNothing() throws {
        let core = try lockedCore()
        let described = core.describe(process: 1, at: .zero)
        #expect(described.state.openClasses == [.always, .alwaysThisDeviceOnly])
        #expect(described.state.lock == .beforeFirstUnlock)
        #expect(described.slots == ["quantum"])
        #expect(!described.state.hasPasscode)
    }

    @Test(arguments: [
        ProtectionClass.whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
    ])
    func lockedKeybagRefusesWhatHangsOnTheBagKey(named: ProtectionClass) throws {
        var core = try lockedCore()
        let wrapped = WrappedKey(generation: 1, box: [])
        #expect(core.makeRowKeys(for: [.row(named)], at: .zero).map(\.fate) == [.locked])
        #expect(core.openRowKeys([(.row(named), wrapped)], at: .zero).map(\.fate) == [.locked])
        #expect(core.openRowKeys([(.row(named, accessControl: [0]), wrapped)], at: .zero).map(\.fate) == [.locked])
        #expect(core.makeMetadataKey(for: named).fate == .locked)
        #expect(core.openMetadataKey(wrapped, of: named).fate == .locked)
    }

    @Test func lockedKeybagStillHasIndexKeyAndAlwaysClasses() throws {
        var core = try lockedCore()
        #expect(core.indexKey.bytes.count == 32)
        let row = RowBinding.row(.always)
        let made = core.makeRowKeys(for: [row], at: .zero)[0]
        #expect(core.openRowKeys([(row, try #require(made.wrapped))], at: .zero)[0].secret == made.secret)
        #expect(core.makeRowKeys(for: [.row(.whenPasscodeSetThisDeviceOnly)], at: .zero).map(\.fate) == [.noClassKey])
    }

    @Test func theWrongSecretDoesNotUnlock() throws {
        let root = RootKey.random()
        let body = KeybagBody.new(for: .random(), root: root)
        #expect(throws: KeybagError.unreadable(.slotRefuses)) {
            var keybag = try Keybag(body, generation: 1, root: root.copy())
            try keybag.unlock(with: SlotSecret(kind: .open, bytes: SecretBytes(count: 1)), effacement: nil)
        }
        #expect(throws: KeybagError.unreadable(.slotRefuses)) {
            var keybag = try Keybag(body, generation: 1, root: root.copy())
            try keybag.unlock(with: SlotSecret(kind: .passcode, bytes: SecretBytes(count: 0)), effacement: nil)
        }
    }

    @Test func newKeysTakeTheNewestGenerationAndOldOnesStillOpen() throws {
        let root = RootKey.random()
        let old = KeybagBody.new(for: .random(), root: root)
        var core = try EnclaveCore.opened(old, root.copy())
        let row = RowBinding.row(.always)
        let made = core.makeRowKeys(for: [row], at: .zero)[0]
        let next = WrappedClassKey(
            protectionClass: .always, generation: 2, parent: .root,
            box: root.wrappingKey.seal(
                SecretBytes.random(count: 32),
                bound: WrapBinding.classKey(store: old.store, .always, generation: 2, under: .root)))
        var newer = try EnclaveCore.opened(old.with(classKeys: [next] + old.classKeys), root.copy())
        #expect(newer.openRowKeys([(row, try #require(made.wrapped))], at: .zero)[0].secret == made.secret)
        #expect(newer.makeRowKeys(for: [row], at: .zero)[0].wrapped?.generation == 2)
        #expect(newer.makeMetadataKey(for: .always).wrapped?.generation == 2)
        #expect(newer.makeMetadataKey(for: .alwaysThisDeviceOnly).wrapped?.generation == 1)
    }
}
