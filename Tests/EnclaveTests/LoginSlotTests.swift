import KeychainCrypto
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// The login password as a slot, with a software TPM where the root key moves.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed"))
struct LoginSlotTests {
    private static let passcode = SharedSecret.text("1234")
    private static let login = SharedSecret.text("login words")
    private static let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly

    /// A keychain with a passcode, a login password and two keys, one of which takes a person.
    private struct Keys {
        let scene: HardwareScene
        let open: MadeKey
        let person: MadeKey

        init(withLogin: Bool = true) throws {
            scene = try HardwareScene()
            let daemon = try scene.opened()
            try scene.door().setPasscode(passcode)
            open = try MadeKey(in: daemon)
            person = try MadeKey(in: daemon, .row(akpu))
            if withLogin { try add(login) }
        }

        @discardableResult
        func add(_ password: SharedSecret) throws -> [SlotState] {
            try scene.door().addLoginSlot(password, passcode: passcode)
        }

        func name(_ kind: String) throws -> [UInt8] {
            try #require(try scene.door().slots().first { $0.kind == kind }).identifier
        }

        func startAgain() throws -> any EnclaveConnection {
            try scene.startAgain()
            return try scene.open()
        }

        func body() throws -> KeybagBody {
            let file = try #require(AuthenticatedFile.parse(.keybag, try scene.home.read("keybag.0")))
            return try #require(KeybagBody(parsing: file.uncheckedBody))
        }

        func isClosed(_ key: MadeKey, in daemon: any EnclaveConnection) throws -> Bool {
            guard case .locked? = try daemon.openRowKeys([(key.binding, key.wrapped)]).first else { return false }
            return true
        }
    }

    @Test func itOpensEverythingThatThePasscodeOpens() throws {
        let keys = try Keys()
        #expect(try keys.scene.door().slots().map(\.kind) == ["passcode", "login"])
        let daemon = try keys.startAgain()
        let before = try daemon.describe().state
        // It waits for a person.
        #expect(before.lock == .beforeFirstUnlock && !before.opensByItself)
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(byLogin: .text("login word")) }
        #expect(try keys.isClosed(keys.open, in: daemon))
        try keys.scene.door().unlock(byLogin: Self.login)
        #expect(try keys.open.opens(in: daemon) && keys.person.opens(in: daemon))
        #expect(try daemon.describe().state.openClasses == Set(ProtectionClass.allCases))
        try keys.scene.door().lock()
        #expect(try keys.isClosed(keys.open, in: daemon) && keys.isClosed(keys.person, in: daemon))
    }

    /// It is no passcode: what it may do is to open, and to be changed.
    @Test func itChangesNothingElse() throws {
        let keys = try Keys()
        let code = try keys.scene.makeCode(Self.passcode)
        let before = try keys.scene.home.contents()
        let door = try keys.scene.door()
        let (passcode, login) = (try keys.name("passcode"), try keys.name("login"))
        let calls: [() throws -> Void] = [
            { try door.unlock(with: .passcode(Self.login)) },
            { try door.changePasscode(from: Self.login, to: .text("5678")) },
            { try door.removePasscode(with: .passcode(Self.login)) },
            { _ = try door.makeRecoveryCode(passcode: Self.login) },
            { try door.removeRecoveryCode(passcode: Self.login) },
        ]
        // The same words count once, so nobody has to wait.
        for call in calls { expectRefusal(.authenticationFailed) { try call() } }
        expectRefusal(.authenticationFailed) { _ = try door.addCredentialSlot(passcode: Self.login) }
        expectRefusal(.authenticationFailed) { _ = try door.addLoginSlot(.text("other"), passcode: Self.login) }
        expectRefusal(.authenticationFailed) { _ = try door.removeSlot(login, passcode: Self.login, code: code) }
        expectRefusal(.protectorRefused(why: "it takes a person: `latchkey passcode`, `recovery`")) {
            _ = try door.removeSlot(passcode, passcode: Self.passcode, code: code)
        }
        // Nor the other way round.
        expectRefusal(.authenticationFailed) { try door.unlock(byLogin: Self.passcode) }
        expectRefusal(.authenticationFailed) { try door.changeLogin(from: Self.passcode, to: .text("5678")) }
        let after = try keys.scene.home.contents()
        for file in EnclaveHome.keyFiles { #expect(after[file] == before[file]) }
    }

    /// On the wire it goes with nothing but the two operations that take it.
    @Test func noOtherOperationTakesIt() {
        for operation in Latchkey_PersonRequest.Operation.allCases {
            for new in [nil, SharedSecret.text("5678")] {
                var message = PersonMessage(operation, new: new)
                message.login = Self.login
                switch (operation, PersonCall(message), new) {
                case (.unlock, .change(.unlockByLogin), nil), (.changeLogin, .change(.changeLogin), .some): continue
                case (_, let call, _): #expect(call == nil, "\(operation)")
                }
            }
        }
    }

    /// Attempts with it and with the passcode are one count.
    @Test func attemptsCountAsThoseWithThePasscode() throws {
        let clock = ManualClock()
        let home = try EnclaveHome()
        let enclave = try home.cheap(clock: clock)
        try enclave.setPasscode(Self.passcode)
        try enclave.addLoginSlot(Self.login, passcode: Self.passcode)
        expectRefusal(.authenticationFailed) { try enclave.unlock(byLogin: .text("wrong")) }
        for number in 1...2 {
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("wrong \(number)"))) }
        }
        // A login with the password of before, again and again, counts once.
        for _ in 0..<3 { expectRefusal(.authenticationFailed) { try enclave.unlock(byLogin: .text("of before")) } }
        #expect(enclave.state().failedAttempts == 4)
        expectRefusal(.authenticationFailed) { try enclave.changeLogin(from: .text("wrong too"), to: .text("5678")) }
        let late: [() throws -> Void] = [
            { try enclave.unlock(byLogin: Self.login) }, { try enclave.unlock(with: .passcode(Self.passcode)) },
            { try enclave.changeLogin(from: Self.login, to: .text("5678")) },
        ]
        for call in late { expectRefusal(.attemptsDelayed(seconds: 60)) { try call() } }
        clock.advance(by: .seconds(60))
        // It opens, and who has it alone has no more tries at the passcode than before.
        for _ in 0..<2 {
            try enclave.unlock(byLogin: Self.login)
            #expect(enclave.state().failedAttempts == 2)
        }
        try enclave.unlock(with: .passcode(Self.passcode))
        #expect(enclave.state().failedAttempts == 0)
    }

    /// Typos that lie weeks apart shut nobody out, also those of a change.
    @Test func theRightOneTakesBackWhatWasMistyped() throws {
        let clock = ManualClock()
        let home = try EnclaveHome()
        let enclave = try home.cheap(clock: clock)
        try enclave.setPasscode(Self.passcode)
        try enclave.addLoginSlot(Self.login, passcode: Self.passcode)
        for number in 1...20 {
            expectRefusal(.authenticationFailed) { try enclave.unlock(byLogin: .text("typo \(number)")) }
            #expect(enclave.state().failedAttempts == 1)
            try enclave.unlock(byLogin: Self.login)
            #expect(enclave.state().failedAttempts == 0)
            try enclave.lock()
        }
        expectRefusal(.authenticationFailed) { try enclave.changeLogin(from: .text("typo"), to: .text("5678")) }
        try enclave.changeLogin(from: Self.login, to: .text("5678"))
        #expect(enclave.state().failedAttempts == 0)
    }

    /// A guess as the login password, and then the same as the passcode, is two attempts: the right
    /// login password takes back the first alone.
    @Test func theRightOneBuysNoTriesAtThePasscode() throws {
        let home = try EnclaveHome()
        let enclave = try home.cheap()
        try enclave.setPasscode(Self.passcode)
        try enclave.addLoginSlot(Self.login, passcode: Self.passcode)
        for number in 1...5 {
            let guess = SharedSecret.text("guess \(number)")
            expectRefusal(.authenticationFailed) { try enclave.unlock(byLogin: guess) }
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(guess)) }
            #expect(enclave.state().failedAttempts == number + 1)
            if number < 4 {
                try enclave.unlock(byLogin: Self.login)
                #expect(enclave.state().failedAttempts == number)
            } else {
                break
            }
        }
        expectRefusal(.attemptsDelayed(seconds: 60)) { try enclave.unlock(with: .passcode(Self.passcode)) }
    }

    /// The file says what was taken back, and what was not.
    @Test func whatWasTakenBackIsSoForTheNextProcess() throws {
        let home = try EnclaveHome()
        func inNewProcess(_ body: (InProcessEnclave) throws -> Void) throws { try body(try home.cheap()) }
        try inNewProcess { enclave in
            try enclave.setPasscode(Self.passcode)
            try enclave.addLoginSlot(Self.login, passcode: Self.passcode)
            expectRefusal(.authenticationFailed) { try enclave.unlock(with: .passcode(.text("wrong"))) }
            expectRefusal(.authenticationFailed) { try enclave.unlock(byLogin: .text("typo")) }
            try enclave.unlock(byLogin: Self.login)
            expectRefusal(.authenticationFailed) { try enclave.changeLogin(from: .text("typo"), to: Self.login) }
        }
        try inNewProcess { enclave in
            #expect(enclave.state().failedAttempts == 2)
            // Of what a process before counted nobody knows what it was.
            try enclave.unlock(byLogin: Self.login)
            #expect(enclave.state().failedAttempts == 2)
        }
    }

    /// A new bag key, a new person key and a new root key are wrapped for it without its
    /// password.
    @Test(arguments: ChangeBesideSlot.allCases)
    func itOutlivesEveryChange(_ change: ChangeBesideSlot) throws {
        let keys = try Keys()
        let scene = keys.scene
        let before = try keys.body()
        try change.make(in: scene, Self.passcode)
        if change == .anotherSlot {
            _ = try scene.door().addCredentialSlot(passcode: Self.passcode)
            _ = try scene.door().removeSlot(try keys.name("credential"), passcode: Self.passcode, code: nil)
        }
        let after = try keys.body()
        #expect(after.slot(.login)?.identifier == before.slot(.login)?.identifier)
        // All but the change of the passcode puts new keys below the slots.
        let isRolled = after.generations[.whenUnlocked] != before.generations[.whenUnlocked]
        #expect(isRolled == (change != .passcode))
        let daemon = try keys.startAgain()
        try scene.door().unlock(byLogin: Self.login)
        #expect(try keys.open.opens(in: daemon))
        #expect(try keys.person.opens(in: daemon) == (change != .reset))
        let fresh = try MadeKey(in: daemon, .row(Self.akpu))
        try scene.door().lock()
        try scene.door().unlock(with: .passcode(change.passcodeAfter(Self.passcode)))
        #expect(try fresh.opens(in: daemon))
    }

    @Test func anotherLoginPasswordRewrapsOneSlotAndOpensNothing() throws {
        let keys = try Keys()
        let daemon = try keys.startAgain()
        let before = try keys.body()
        let next = SharedSecret.text("next words")
        expectRefusal(.authenticationFailed) { try keys.scene.door().changeLogin(from: next, to: Self.login) }
        #expect(try keys.body() == before)
        try keys.scene.door().changeLogin(from: Self.login, to: next)
        #expect(try daemon.describe().state.lock == .beforeFirstUnlock)
        #expect(try keys.isClosed(keys.open, in: daemon))
        let after = try keys.body()
        #expect(after.slots.map(\.kind) == [.passcode, .login] && after.slots[0] == before.slots[0])
        #expect(after.classKeys == before.classKeys && after.effacement == before.effacement)
        #expect(after.slots[1].identifier != before.slots[1].identifier)
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(byLogin: Self.login) }
        try keys.scene.door().unlock(byLogin: next)
        #expect(try keys.open.opens(in: daemon) && keys.person.opens(in: daemon))
        // Also while it is open, and what is open stays so.
        try keys.scene.door().changeLogin(from: next, to: Self.login)
        #expect(try keys.person.opens(in: daemon))
        let again = try keys.startAgain()
        try keys.scene.door().unlock(byLogin: Self.login)
        #expect(try keys.person.opens(in: again))
    }

    /// Whoever knows the passcode needs no old login password.
    @Test func oneThatIsAddedTakesThePlaceOfTheOneBefore() throws {
        let keys = try Keys()
        #expect(try keys.add(.text("reset by root")).map(\.kind) == ["passcode", "login"])
        let daemon = try keys.startAgain()
        expectRefusal(.authenticationFailed) { try keys.scene.door().unlock(byLogin: Self.login) }
        try keys.scene.door().unlock(byLogin: .text("reset by root"))
        #expect(try keys.person.opens(in: daemon))
    }

    @Test func whatIsRemovedOpensNothingNew() throws {
        let keys = try Keys()
        let before = try keys.scene.home.contents()
        let left = try keys.scene.door().removeSlot(try keys.name("login"), passcode: Self.passcode, code: nil)
        #expect(left.map(\.kind) == ["passcode"])
        let after = try MadeKey(in: try keys.scene.opened())
        expectRefusal(.protectorRefused(why: "no login password opens it")) {
            try keys.scene.door().unlock(byLogin: Self.login)
        }
        for file in ["keybag.0", "keybag.1"] { try keys.scene.home.write(file, try #require(before[file])) }
        let thief = try keys.startAgain()
        try keys.scene.door().unlock(byLogin: Self.login)
        #expect(try keys.open.opens(in: thief))
        #expect(try !after.opens(in: thief))
    }

    @Test func withThePasscodeItGoes() throws {
        let keys = try Keys()
        try keys.scene.door().removePasscode(with: .passcode(Self.passcode))
        #expect(try keys.scene.door().slots().map(\.kind) == ["open"])
        try keys.scene.door().setPasscode(Self.passcode)
        _ = try keys.startAgain()
        expectRefusal(.protectorRefused(why: "no login password opens it")) {
            try keys.scene.door().unlock(byLogin: Self.login)
        }
    }

    @Test func whatCannotBeIsRefusedAndChangesNothing() throws {
        let keys = try Keys(withLogin: false)
        let before = try keys.scene.home.contents()
        let door = try keys.scene.door()
        expectRefusal(.passcodeRefused(why: "it has fewer than 4 characters")) { try keys.add(.text("abc")) }
        expectRefusal(.authenticationFailed) { _ = try door.addLoginSlot(Self.login, passcode: .text("4321")) }
        expectRefusal(.protectorRefused(why: "no login password opens it")) {
            try door.changeLogin(from: Self.login, to: .text("5678"))
        }
        let after = try keys.scene.home.contents()
        for file in EnclaveHome.keyFiles { #expect(after[file] == before[file]) }
        let open = try HardwareScene()
        _ = try open.opened()
        expectRefusal(.passcodeNotSet) { _ = try open.door().addLoginSlot(Self.login, passcode: Self.passcode) }
        expectRefusal(.passcodeNotSet) { try open.door().unlock(byLogin: Self.login) }
    }

    /// As a program finds and leaves it that does not know such slots: as it is with a
    /// change of the passcode, gone with the next bag key.
    @Test func aProgramThatDoesNotKnowItKeepsOrDropsItWhole() throws {
        let keys = try Keys()
        let known = try #require(try keys.body().slot(.login))
        let unknown = KeybagBody.Slot(
            kind: .unknown("of tomorrow"), identifier: known.identifier, wrappedBagKey: known.wrappedBagKey,
            wrappedPersonKey: known.wrappedPersonKey, parameters: known.parameters)
        let bytes = try keys.scene.home.encodeKeybag(generation: 1000) { body in
            var body = body
            body.slots = body.slots.map { $0.kind == .login ? unknown : $0 }
            return body
        }
        for copy in 0..<2 { try keys.scene.home.write("keybag.\(copy)", bytes) }
        _ = try keys.startAgain()
        try keys.scene.door().changePasscode(from: Self.passcode, to: .text("5678"))
        #expect(try keys.body().slots.contains(unknown))
        _ = try keys.scene.door().addCredentialSlot(passcode: .text("5678"))
        _ = try keys.scene.door().removeSlot(try keys.name("credential"), passcode: .text("5678"), code: nil)
        #expect(try keys.body().slots.map(\.kind) == [.passcode])
    }

    /// Nothing in the files tells a guess of the login password without the root key: the
    /// public key, which a guess makes, is in none of them.
    @Test func thePublicKeyIsInNoFile() throws {
        let keys = try Keys()
        let slot = try #require(try keys.body().slot(.login))
        let derivation = try #require(LoginParameters(encoded: slot.parameters)).derivation
        let secret = SlotSecret(
            kind: .login,
            bytes: try PassphraseKey.derive(from: Self.login.bytes, salt: derivation.salt, cost: derivation.cost))
        let publicKey = AutomaticSlot.publicKey(of: secret)
        #expect(slot.publicKey.isEmpty)
        let files = try keys.scene.home.contents()
        for (name, bytes) in files {
            #expect(!bytes.indices.contains { bytes[$0...].starts(with: publicKey) }, "\(name)")
        }
        // With the root key it is found: the search looks for the right bytes.
        try keys.scene.home.withProtectors { protectors in
            let place = try LoginSlot.place(of: slot, root: protectors.root, store: try keys.body().store)
            #expect(place.publicKey == publicKey)
            #expect(throws: KeybagError.unreadable(.malformed)) {
                _ = try LoginSlot.place(of: slot, root: .random(), store: try keys.body().store)
            }
        }
    }

    /// A restore brings no effacement secret: what took a person is lost, nothing else.
    @Test func withoutTheEffacementSecretItOpensTheRest() throws {
        let keys = try Keys()
        try keys.scene.home.remove("effacement")
        let daemon = try keys.startAgain()
        try keys.scene.door().unlock(byLogin: Self.login)
        #expect(try keys.open.opens(in: daemon) && !keys.person.opens(in: daemon))
        _ = try keys.add(.text("next words"))
        let again = try keys.startAgain()
        try keys.scene.door().unlock(byLogin: .text("next words"))
        let fresh = try MadeKey(in: again, .row(Self.akpu))
        #expect(try fresh.opens(in: again))
    }

    /// What a program without the keys can see of it.
    @Test func theFilesNameIt() throws {
        let keys = try Keys(withLogin: false)
        let data = keys.scene.home.dataDirectory
        #expect(!KeybagOutline.names(slot: "login", inData: data))
        #expect(!KeybagOutline.names(slot: "login", inData: data + "/none"))
        try keys.add(Self.login)
        #expect(KeybagOutline.names(slot: "login", inData: data))
        // What cannot be read is left to whoever opens it.
        for copy in 0..<2 { try keys.scene.home.write("keybag.\(copy)", [1, 2, 3]) }
        #expect(KeybagOutline.names(slot: "login", inData: data))
        #expect(KeybagOutline.kinds(in: Array("LKKEYBAG".utf8) + [UInt8](repeating: 255, count: 40)) == nil)
    }
}
