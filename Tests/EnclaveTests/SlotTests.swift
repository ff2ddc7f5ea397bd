import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What opens the keychain without a person, on a software TPM and with the real
/// latchkey-hardware.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct SlotTests {
    private static let passcode = SharedSecret.text("1234")
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    /// A keychain with a passcode, and keys of three sorts in it.
    private struct Keys {
        let scene: HardwareScene
        let open: MadeKey
        let afterFirst: MadeKey
        let person: MadeKey

        init() throws {
            scene = try HardwareScene()
            let daemon = try scene.opened()
            try scene.door().setPasscode(passcode)
            open = try MadeKey(in: daemon)
            afterFirst = try MadeKey(in: daemon, .row(.afterFirstUnlock))
            person = try MadeKey(in: daemon, .row(akpu))
        }

        @discardableResult
        func addTPM() throws -> [SlotState] {
            try scene.door().addSlot(of: try #require(TPMAddress(scene.tpm.address)), passcode: passcode)
        }

        func addCredential() throws -> SharedSecret { try scene.door().addCredentialSlot(passcode: passcode) }

        func name(_ kind: String) throws -> [UInt8] {
            try #require(try scene.door().slots().first { $0.kind == kind }).identifier
        }

        /// The next start of the enclave, and what opens in it.
        func startAgain() throws -> any EnclaveConnection {
            try scene.startAgain()
            return try scene.open()
        }

        /// Everything but what takes a person.
        func expectOpenWithoutPerson(
            in daemon: any EnclaveConnection, _ location: SourceLocation = #_sourceLocation
        ) throws {
            #expect(try daemon.describe().state.lock == .unlocked, sourceLocation: location)
            #expect(try open.opens(in: daemon), sourceLocation: location)
            #expect(try afterFirst.opens(in: daemon), sourceLocation: location)
            #expect(try isClosed(person, in: daemon), sourceLocation: location)
        }

        func isClosed(_ key: MadeKey, in daemon: any EnclaveConnection) throws -> Bool {
            guard case .locked? = try daemon.openRowKeys([(key.binding, key.wrapped)]).first else { return false }
            return true
        }
    }

    @Test func theTPMOpensAtTheStartWhatTakesNoPerson() throws {
        let keys = try Keys()
        #expect(try keys.addTPM().map(\.kind) == ["passcode", "tpm2"])
        // The passcode that was given for it opened everything.
        #expect(try keys.person.opens(in: keys.scene.opened()))

        let daemon = try keys.startAgain()
        try keys.expectOpenWithoutPerson(in: daemon)
        let described = try daemon.describe()
        #expect(described.state.opensByItself && described.startRefusal == nil)
        #expect(!described.state.openClasses.contains(Self.akpu))
        try keys.scene.door().unlock(with: .passcode(Self.passcode))
        #expect(try keys.person.opens(in: daemon))

        // A lock holds until the next start.
        try keys.scene.door().lock()
        #expect(try keys.isClosed(keys.open, in: daemon) && keys.isClosed(keys.person, in: daemon))
        try keys.expectOpenWithoutPerson(in: try keys.startAgain())
    }

    /// Nobody agreed to anything when a TPM opened it.
    @Test func aSlotIsNoPerson() throws {
        let keys = try Keys()
        try keys.addTPM()
        let credential = try keys.addCredential()
        let daemon = try keys.startAgain()
        let session = try daemon.openSession()
        #expect(try daemon.isMet(.policy(.deviceOwner), in: session) == false)
        let door = try keys.scene.door()
        for typed in [credential, .text("words words")] {
            expectRefusal(.authenticationFailed) { try door.unlock(with: .passcode(typed)) }
            expectRefusal(.authenticationFailed) { try door.removePasscode(with: .passcode(typed)) }
        }
    }

    @Test func withoutItsTPMAPersonOpensEverything() throws {
        let keys = try Keys()
        try keys.addTPM()
        for (change, words) in [
            (keys.scene.tpm.stop, "there is no such TPM"),
            ({ try keys.scene.tpm.start() }, nil),
            (keys.scene.tpm.clear, "the TPM was cleared, or it is another one"),
        ] as [(() throws -> Void, String?)] {
            try change()
            let daemon = try keys.startAgain()
            let described = try daemon.describe()
            guard let words else {
                #expect(described.startRefusal == nil)
                try keys.expectOpenWithoutPerson(in: daemon)
                continue
            }
            #expect(described.state.lock == .beforeFirstUnlock && described.state.opensByItself)
            #expect(described.startRefusal?.contains(words) == true, "\(described.startRefusal ?? "")")
            try keys.scene.door().unlock(with: .passcode(Self.passcode))
            #expect(try keys.open.opens(in: daemon) && keys.person.opens(in: daemon))
        }
        // Taken away and sealed anew it opens again.
        _ = try keys.scene.door().removeSlot(try keys.name("tpm2"), passcode: Self.passcode, code: nil)
        try keys.addTPM()
        try keys.expectOpenWithoutPerson(in: try keys.startAgain())
    }

    @Test func aCredentialOpensWhatTakesNoPerson() throws {
        let keys = try Keys()
        let credential = try keys.addCredential()
        let daemon = try keys.startAgain()
        #expect(try daemon.describe().state.lock == .beforeFirstUnlock)
        let text = String(decoding: credential.bytes.insecureArray(), as: UTF8.self)
        let other = text.dropLast() + (text.hasSuffix("0") ? "1" : "0")
        for wrong in ["1234", String(text.dropLast()), text + "0", String(other)] {
            expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(bySlot: .text(wrong)) }
        }
        // A service with an old credential keeps nobody waiting.
        #expect(try daemon.describe().state.failedAttempts == 0)
        try keys.scene.door().unlock(bySlot: .text(text + "\n"))
        try keys.expectOpenWithoutPerson(in: daemon)

        // What a person opened stays open.
        try keys.scene.door().unlock(with: .passcode(Self.passcode))
        try keys.scene.door().unlock(bySlot: credential)
        #expect(try keys.person.opens(in: daemon))
    }

    /// Slots go on opening whatever else is changed.
    @Test(arguments: ChangeBesideSlot.allCases)
    func theyOutliveEveryChange(_ change: ChangeBesideSlot) throws {
        let keys = try Keys()
        let scene = keys.scene
        try keys.addTPM()
        let credential = try keys.addCredential()
        try change.make(in: scene, Self.passcode)
        if change == .anotherSlot {
            let second = try keys.addCredential()
            let name = try #require(try scene.door().slots().last { $0.kind == "credential" }).identifier
            _ = try scene.door().removeSlot(name, passcode: Self.passcode, code: nil)
            expectRefusal(.authenticationFailed) { try scene.door().unlock(bySlot: second) }
        }
        let daemon = try keys.startAgain()
        #expect(try daemon.describe().startRefusal == nil)
        #expect(try keys.open.opens(in: daemon) && keys.afterFirst.opens(in: daemon))
        try scene.door().lock()
        try scene.door().unlock(bySlot: credential)
        #expect(try keys.open.opens(in: daemon))
        try scene.door().unlock(with: .passcode(change.passcodeAfter(Self.passcode)))
        #expect(try keys.person.opens(in: daemon) == (change != .reset))
    }

    /// What is stored after a slot was removed is out of its reach, also for whoever has
    /// the files from before and the secret.
    @Test func whatIsRemovedOpensNothingNew() throws {
        let keys = try Keys()
        let credential = try keys.addCredential()
        let before = try keys.scene.home.contents()
        let code = try keys.scene.makeCode(Self.passcode)
        let door = try keys.scene.door()
        let name = try keys.name("credential")
        expectRefusal(.protectorRefused(why: "the recovery code is needed as well")) {
            _ = try door.removeSlot(name, passcode: Self.passcode, code: nil)
        }
        expectRefusal(.authenticationFailed) {
            _ = try door.removeSlot(name, passcode: .text("4321"), code: code)
        }
        let left = try door.removeSlot(name, passcode: Self.passcode, code: code)
        #expect(left.map(\.kind) == ["passcode", "recovery"])
        let after = try MadeKey(in: try keys.scene.opened())
        expectRefusal(.authenticationFailed) { try door.unlock(bySlot: credential) }
        #expect(try keys.scene.opened().describe().state.opensByItself == false)
        try door.unlock(with: .recoveryCode(code))
        #expect(try keys.person.opens(in: keys.scene.opened()))

        for file in ["keybag.0", "keybag.1"] { try keys.scene.home.write(file, try #require(before[file])) }
        let thief = try keys.startAgain()
        try keys.scene.door().unlock(bySlot: credential)
        #expect(try keys.open.opens(in: thief))
        #expect(try !after.opens(in: thief))
    }

    @Test func withThePasscodeTheyGo() throws {
        let keys = try Keys()
        try keys.addTPM()
        let credential = try keys.addCredential()
        try keys.scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try keys.scene.door().slots().map(\.kind) == ["open"])
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(bySlot: credential) }
        try keys.scene.door().setPasscode(Self.passcode)
        let daemon = try keys.startAgain()
        #expect(try daemon.describe().state.lock == .beforeFirstUnlock)
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(bySlot: credential) }
    }

    @Test func whatCannotBeIsRefusedAndChangesNothing() throws {
        let keys = try Keys()
        try keys.addTPM()
        let before = try keys.scene.home.contents()
        let door = try keys.scene.door()
        let address = try #require(TPMAddress(keys.scene.tpm.address))
        expectRefusal(.protectorRefused(why: "a TPM opens it already; remove that first")) {
            _ = try door.addSlot(of: address, passcode: Self.passcode)
        }
        expectRefusal(.authenticationFailed) { _ = try door.addCredentialSlot(passcode: .text("4321")) }
        expectRefusal(.protectorRefused(why: "there is none of that name")) {
            _ = try door.removeSlot([UInt8](repeating: 7, count: 16), passcode: Self.passcode, code: nil)
        }
        let passcodes = try keys.name("passcode")
        expectRefusal(.protectorRefused(why: "it takes a person: `latchkey passcode`, `recovery`")) {
            _ = try door.removeSlot(passcodes, passcode: Self.passcode, code: nil)
        }
        let after = try keys.scene.home.contents()
        for file in EnclaveHome.keyFiles { #expect(after[file] == before[file]) }
        let open = try HardwareScene()
        _ = try open.opened()
        expectRefusal(.passcodeNotSet) { _ = try open.door().addCredentialSlot(passcode: Self.passcode) }
    }

    /// Nor does the secret of one slot, with the files from before, open what the others
    /// open afterwards.
    @Test func aRemovedSlotTellsNothingOfTheOthers() throws {
        let keys = try Keys()
        let credential = try keys.addCredential()
        let other = try keys.addCredential()
        let before = try keys.scene.home.contents()
        let name = try keys.name("credential")
        _ = try keys.scene.door().removeSlot(name, passcode: Self.passcode, code: nil)
        let bytes = (try #require(before["keybag.0"]), try keys.scene.home.read("keybag.0"))
        let old = try #require(AuthenticatedFile.parse(.keybag, bytes.0))
        let new = try #require(AuthenticatedFile.parse(.keybag, bytes.1))
        let stays = try #require(try keys.scene.door().slots().last).identifier
        func slot(_ file: AuthenticatedFile.Unverified) throws -> KeybagBody.Slot {
            try #require(KeybagBody(parsing: file.uncheckedBody)?.slots.first { $0.identifier == stays })
        }
        // All that an old bag key could open of it is as public as it was.
        #expect(try slot(old).publicKey == slot(new).publicKey)
        #expect(try slot(old).wrappedBagKey != slot(new).wrappedBagKey)
        let daemon = try keys.startAgain()
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(bySlot: credential) }
        try keys.scene.door().unlock(bySlot: other)
        try keys.expectOpenWithoutPerson(in: daemon)
    }

    /// As after a restore, which brings none back: what took a person is lost, nothing else.
    @Test(arguments: ["code", "passcode", "slot", "removal", "protector"])
    func withoutTheEffacementSecretNothingElseIsLost(_ change: String) throws {
        let keys = try Keys()
        let scene = keys.scene
        try keys.addTPM()
        let credential = try keys.addCredential()
        var code = change == "code" ? nil : try scene.makeCode(Self.passcode)
        var passcode = Self.passcode
        try scene.home.remove("effacement")
        _ = try keys.startAgain()
        switch change {
        case "code": code = try scene.makeCode(passcode)
        case "passcode":
            passcode = .text("5678")
            try scene.door().changePasscode(from: Self.passcode, to: passcode)
        case "slot": _ = try keys.addCredential()
        case "removal":
            _ = try scene.door().removeSlot(try keys.name("tpm2"), passcode: passcode, code: code)
        default:
            try scene.addTPM(passcode)
            try scene.remove("software-file", passcode: passcode, code: code)
        }
        let daemon = try keys.startAgain()
        if change == "removal" { try scene.door().unlock(bySlot: credential) }
        #expect(try keys.open.opens(in: daemon) && keys.afterFirst.opens(in: daemon))
        for credential in [PersonCredential.passcode(passcode), .recoveryCode(try #require(code))] {
            try scene.door().lock()
            try scene.door().unlock(with: credential)
            #expect(try keys.open.opens(in: daemon))
            #expect(try !keys.person.opens(in: daemon))
            let again = try MadeKey(in: daemon, .row(Self.akpu))
            #expect(try again.opens(in: daemon))
        }
    }

    @Test func thereIsAlwaysRoomForAPersonsSlots() throws {
        let keys = try Keys()
        var last: SharedSecret?
        for _ in 0..<(KeybagBody.mostSlots - 3) { last = try keys.addCredential() }
        expectRefusal(.protectorRefused(why: "there are as many as there may be; remove one")) {
            _ = try keys.addCredential()
        }
        _ = try keys.scene.makeCode(Self.passcode)
        _ = try keys.scene.door().addLoginSlot(.text("login words"), passcode: Self.passcode)
        #expect(try keys.scene.door().slots().count == KeybagBody.mostSlots)
        let daemon = try keys.startAgain()
        try keys.scene.door().unlock(bySlot: try #require(last))
        try keys.expectOpenWithoutPerson(in: daemon)
    }

    /// The passcode was right, and nothing comes of it: the lock stays as it was.
    @Test func aDeviceThatFailsOpensNothing() throws {
        let keys = try Keys()
        try keys.scene.door().lock()
        keys.scene.tpm.stop()
        let before = try keys.scene.opened().describe().state
        #expect(throws: KeychainError.self) { try keys.addTPM() }
        #expect(try keys.scene.opened().describe().state == before)
    }

    /// A program that knows no such slots writes them without their public key: they open
    /// until the next bag key, and the keybag stays whole.
    @Test func aSlotWithoutItsPublicKeyGoesWithTheNextBagKey() throws {
        let keys = try Keys()
        let credential = try keys.addCredential()
        let bytes = try keys.scene.home.encodeKeybag(generation: 1000) { body in
            var body = body
            for index in body.slots.indices { body.slots[index].publicKey = [] }
            return body
        }
        for copy in 0..<2 { try keys.scene.home.write("keybag.\(copy)", bytes) }
        _ = try keys.startAgain()
        try keys.scene.door().unlock(bySlot: credential)
        try keys.scene.door().unlock(with: .passcode(Self.passcode))
        try keys.scene.addTPM(Self.passcode)
        try keys.scene.remove("software-file", passcode: Self.passcode)
        #expect(try keys.scene.door().slots().map(\.kind) == ["passcode"])
        let daemon = try keys.startAgain()
        try keys.scene.door().unlock(with: .passcode(Self.passcode))
        #expect(try keys.person.opens(in: daemon))
    }
}
