import KeychainCrypto
import KeychainModel
import KeychainPlatform
import Testing

@testable import Enclave

/// Files of a newer program: told from damage, refused, left alone.
@Suite struct NewerFilesTests {
    /// The file with another version in its head, authenticated as its owner
    /// would, or not.
    private func newer(_ home: EnclaveHome, _ name: String, authentic: Bool = true) throws -> [UInt8] {
        var bytes = try home.read(name)
        bytes[11] = 7
        guard authentic else { return bytes }
        if name.hasPrefix("software") {
            return bytes.dropLast(32) + KeyDerivation.digest(Array(bytes.dropLast(32)))
        }
        let kind: AuthenticatedFile.Kind = name.hasPrefix("keybag") ? .keybag : .protectors
        return try home.withProtectors { protectors in
            Array(bytes.dropLast(32))
                + KeyDerivation.authenticationCode(
                    Array(bytes.dropLast(32)), key: protectors.root.authenticationKey(of: kind))
        }
    }

    /// Also one whose authenticity only the newer program could tell.
    @Test(arguments: ["software-secret", "protectors", "keybag"], [true, false])
    func aNewerFileIsRefusedUntouched(file: String, authentic: Bool) throws {
        guard authentic || file != "software-secret" else { return }
        let home = try EnclaveHome.made()
        var bytes = try newer(home, "\(file).0", authentic: authentic)
        if !authentic { bytes[bytes.count - 1] ^= 1 }
        for copy in 0..<2 { try home.write("\(file).\(copy)", bytes) }
        let before = try home.contents()
        #expect(home.refusal() == .storeNewer(version: 7))
        #expect(try home.contents() == before)
    }

    @Test(arguments: ["protectors.0", "protectors.1", "keybag.0", "keybag.1"])
    func oneAuthenticNewerCopyIsEnoughToRefuse(file: String) throws {
        let home = try EnclaveHome.made()
        try home.write(file, try newer(home, file))
        let before = try home.contents()
        #expect(home.refusal() == .storeNewer(version: 7))
        #expect(try home.contents() == before)
    }

    @Test(arguments: ["protectors.0", "keybag.1"])
    func aVersionThatNobodyAuthenticatedIsDamage(file: String) throws {
        let home = try EnclaveHome.made()
        let before = try home.contents()
        try home.write(file, try newer(home, file, authentic: false))
        _ = try home.open()
        #expect(try home.contents() == before)
    }

    /// Nothing but the version differs from what was written: no program wrote that.
    @Test(arguments: ["protectors", "keybag"], 8..<12)
    func aVersionThatChangedInBothCopiesIsPutRight(file: String, offset: Int) throws {
        let home = try EnclaveHome.made()
        let before = try home.contents()
        for copy in 0..<2 {
            var bytes = try home.read("\(file).\(copy)")
            bytes[offset] ^= 0x40
            try home.write("\(file).\(copy)", bytes)
        }
        _ = try home.open()
        #expect(try home.contents() == before)
    }

    @Test func anUnknownProtectorOpensNothing() throws {
        let home = try EnclaveHome.made()
        let bytes = try home.withProtectors { protectors in
            let known = protectors.body.protectors[0]
            let body = ProtectorsBody(
                store: protectors.body.store,
                protectors: [
                    .init(
                        kind: .unknown("quantum"), identifier: known.identifier, wrappedRoot: known.wrappedRoot)
                ])
            return AuthenticatedFile.encode(.protectors, generation: 2, body: body.encoded, root: protectors.root)
        }
        for copy in 0..<2 { try home.write("protectors.\(copy)", bytes) }
        #expect(home.refusal() == .keybagUnreadable)
    }

    @Test func anAuthenticKeybagThatMakesNoSenseIsRefused() throws {
        let home = try EnclaveHome.made()
        let changes: [(KeybagBody) -> [UInt8]] = [
            { body in Array(body.encoded.dropLast()) },
            { body in body.with(classKeys: Array(body.classKeys.dropFirst())).encoded },
            { body in body.with(classKeys: body.classKeys + [body.classKeys[0]]).encoded },
            { body in body.with(classKeys: body.classKeys.swappingBoxes).encoded },
            { body in body.with(store: .random()).encoded },
            { _ in [] },
        ]
        let file = try #require(AuthenticatedFile.parse(.keybag, try home.read("keybag.0")))
        let body = try #require(KeybagBody(parsing: file.uncheckedBody))
        for (index, change) in changes.enumerated() {
            let bytes = try home.withProtectors { protectors in
                AuthenticatedFile.encode(.keybag, generation: 9, body: change(body), root: protectors.root)
            }
            try home.write("keybag.0", bytes)
            let before = try home.contents()
            #expect([.keybagUnreadable, .storeMismatch].contains(home.refusal()), "\(index)")
            #expect(try home.contents() == before)
        }
    }
}

extension KeybagBody {
    func with(
        store: StoreID? = nil, slots: [Slot]? = nil, classKeys: [WrappedClassKey]? = nil
    ) -> KeybagBody {
        KeybagBody(
            store: store ?? self.store, slots: slots ?? self.slots, classKeys: classKeys ?? self.classKeys,
            wrappedIndexKey: wrappedIndexKey)
    }
}

extension [WrappedClassKey] {
    /// The first two of one parent with each other's boxes.
    fileprivate var swappingBoxes: [WrappedClassKey] {
        let under = filter { $0.parent == .bag }
        let (a, b) = (under[0], under[1])
        return map { key in
            guard key == a || key == b else { return key }
            return WrappedClassKey(
                protectionClass: key.protectionClass, generation: key.generation, parent: key.parent,
                box: key == a ? b.box : a.box)
        }
    }
}
