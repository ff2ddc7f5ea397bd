import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A daemon that has been taken over speaks the enclave's protocol as it likes: it
/// does not get the key of a row that a person has to agree to. Each test ends with
/// the truth, which does open.
@Suite struct LyingDaemonTests {
    /// Who agreed knew a passcode that may be another person's secret by now.
    @Test func anAgreementEndsWithThePasscodeThatItWasMadeWith() throws {
        let scene = try HonestScene()
        let session = try scene.daemon.openSession()
        for change in [HonestScene.passcode, nil] {
            let name = try #require(try scene.ask(.policy(.deviceOwner), in: session))
            try scene.door(name).agree(with: .passcode(.text(HonestScene.passcode)))
            #expect(try scene.daemon.outcome(of: name) == .agreed)
            #expect(try scene.daemon.isMet(.policy(.deviceOwner), in: session))
            let passcode = PersonCredential.passcode(.text(HonestScene.passcode))
            if let change {
                try scene.door().changePasscode(from: .text(HonestScene.passcode), to: .text(change))
            } else {
                try scene.door().removePasscode(with: passcode)
                try scene.door().setPasscode(.text(HonestScene.passcode))
            }
            #expect(try !scene.daemon.isMet(.policy(.deviceOwner), in: session))
        }
    }

    // MARK: About a row

    @Test func strippingTheConstraintOpensNothing() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let agreed = try scene.session(agreeingTo: [key])
        for stripped in [[], AccessControl(unconstrained: .whenUnlocked).encoded, HonestScene.encoding([])] {
            let lie = key.binding.with(accessControl: stripped)
            #expect(try scene.fate(lie, key.wrapped) == .damaged)
            #expect(try scene.fate(lie, key.wrapped, in: agreed) == .damaged)
        }
        #expect(try scene.fate(key) == .needsAuthentication)
        try scene.expectHonestyOpens(key)
    }

    private static let weaker: [AccessControlFlags] = [
        .userPresence, [.devicePasscode, .or, .biometryAny], [.devicePasscode, .privateKeyUsage], .biometryAny,
        .applicationPassword, [.devicePasscode, .applicationPassword],
    ]

    @Test(arguments: weaker)
    func swappingTheConstraintForAnotherOpensNothing(flags: AccessControlFlags) throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let lie = key.binding.with(accessControl: HonestScene.encoding(flags))
        #expect(try scene.fate(lie, key.wrapped) == .damaged)
        let session = try scene.daemon.openSession()
        expectRefusal(.authenticationFailed) {
            _ = try scene.ask(.rows([(lie, key.wrapped)], operation: "od"), in: session)
        }
        #expect(try scene.daemon.rewrapRowKeys([(lie, key.wrapped)]) == [.damaged])
        #expect(try scene.daemon.permit("odel", on: [(lie, key.wrapped)], in: nil) == [.damaged])
        try scene.expectHonestyOpens(key)
    }

    @Test func whatDoesNotDecodeOpensNothing() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        for bytes in [[0], [1], Array(HonestScene.constrained.dropLast()), HonestScene.constrained + [0]] {
            let lie = key.binding.with(accessControl: bytes)
            #expect(try scene.fate(lie, key.wrapped) == .needsAuthentication)
            #expect(try scene.daemon.makeRowKeys(for: [lie]).map(\.fate) == [.needsAuthentication])
        }
        try scene.expectHonestyOpens(key)
    }

    // MARK: About what is shown

    @Test func anotherNameOpensNothing() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let lies = [
            nil, ShownItem(label: "harmless", group: "group.a"), ShownItem(label: "mail", group: "group.b"),
            ShownItem(label: "mailgroup", group: ".a"), ShownItem(label: "", group: ""),
        ]
        for shown in lies {
            let lie = key.binding.with(shown: shown)
            #expect(try scene.fate(lie, key.wrapped) == .damaged)
            let session = try scene.daemon.openSession()
            expectRefusal(.authenticationFailed) {
                _ = try scene.ask(.rows([(lie, key.wrapped)], operation: "od"), in: session)
            }
            #expect(try scene.daemon.rewrapRowKeys([(lie, key.wrapped)]) == [.damaged])
        }
        try scene.expectHonestyOpens(key)
    }

    /// The daemon's words about the item go nowhere: what is shown is what was stored.
    @Test func thePromptNamesWhatTheEnclaveOpened() throws {
        let scene = try HonestScene()
        let keys = try (0..<5).map { number in
            let shown = ShownItem(label: "item \(number)", group: "group.a")
            return try MadeKey(
                in: scene.daemon, .row(.whenUnlocked, accessControl: HonestScene.constrained, shown: shown))
        }
        var words = PersonQuestion(purpose: .agree, items: [ShownItem(label: "harmless", group: "x")], itemCount: 1)
        words.program = "/usr/bin/program"
        func shown(_ subject: AuthenticationCase.Subject) throws -> PersonQuestion {
            let session = try scene.daemon.openSession()
            let name = try #require(try scene.daemon.ask(AuthenticationCase(subject, question: words), in: session))
            return try #require(try scene.door(name).question())
        }
        let several = try shown(.rows(keys.map { ($0.binding, $0.wrapped) }, operation: "od"))
        #expect(several.purpose == .useItem && several.itemCount == 5 && several.itemsAreBound)
        #expect(several.items.map(\.label) == ["item 0", "item 1", "item 2"])
        #expect(several.program == "/usr/bin/program")
        // The same row again and again is one.
        let often = [keys[1], keys[1], keys[1], keys[4]].map { ($0.binding, $0.wrapped) }
        let two = try shown(.rows(often, operation: "od"))
        #expect(two.items.map(\.label) == ["item 1", "item 4"] && two.itemCount == 2)
        // No item is named where none is asked for, and nothing else is asked in its place.
        words.itemsAreBound = true
        for purpose in [PersonQuestion.Purpose.useItem, .unlock] {
            words.purpose = purpose
            let policy = try shown(.policy(.deviceOwner))
            #expect(policy.purpose == .agree && policy.items.isEmpty && policy.itemCount == 0)
            #expect(!policy.itemsAreBound)
        }
    }

    /// A constrained row that a person could be told nothing of is not made.
    @Test func noRowIsMadeWithoutAName() throws {
        let scene = try HonestScene()
        let nameless = RowBinding.row(accessControl: HonestScene.constrained).with(shown: nil)
        #expect(try scene.daemon.makeRowKeys(for: [nameless]).map(\.fate) == [.needsAuthentication])
    }

    // MARK: About other rows and classes

    @Test func swappingClassTagsOpensNothing() throws {
        let scene = try HonestScene()
        let akpu = ProtectionClass.whenPasscodeSetThisDeviceOnly
        for stored in [ProtectionClass.whenUnlocked, akpu] {
            let key = try scene.key(stored)
            let agreed = try scene.session(agreeingTo: [key])
            for named in ProtectionClass.allCases where named != stored {
                for generation in 1...key.wrapped.generation {
                    let wrapped = WrappedKey(generation: generation, box: key.wrapped.box)
                    let fate = try scene.fate(key.binding.with(named), wrapped, in: agreed)
                    #expect(fate == .damaged || fate == .noClassKey)
                }
            }
            try scene.expectHonestyOpens(key)
        }
    }

    @Test func swappingWrappedKeysBetweenRowsOpensNothing() throws {
        let scene = try HonestScene()
        let (key, other) = (try scene.key(), try scene.key())
        let free = try MadeKey(in: scene.daemon)
        let agreed = try scene.session(agreeingTo: [key, other])
        #expect(try scene.fate(key.binding, other.wrapped, in: agreed) == .damaged)
        #expect(try scene.fate(other.binding, key.wrapped, in: agreed) == .damaged)
        #expect(try scene.fate(free.binding, key.wrapped, in: agreed) == .damaged)
        #expect(try scene.fate(key.binding.with(uuid: free.binding.uuid), key.wrapped, in: agreed) == .damaged)
        let older = WrappedKey(generation: key.wrapped.generation - 1, box: key.wrapped.box)
        #expect(try scene.fate(key.binding, older, in: agreed) == .damaged)
        // As a metadata key, which nobody has to agree to.
        let metadata = try scene.daemon.openMetadataKey(key.wrapped, of: .whenUnlocked)
        #expect(metadata.fate == .damaged)
        #expect(try free.opens(in: scene.daemon))
        try scene.expectHonestyOpens(key)
    }

    @Test func rewrappingKeepsTheBinding() throws {
        let scene = try HonestScene()
        let (key, other) = (try scene.key(), try scene.key())
        for lie in [
            key.binding.with(accessControl: []), key.binding.with(uuid: other.binding.uuid),
            key.binding.with(.afterFirstUnlock), key.binding.with(.always),
        ] {
            #expect(try scene.daemon.rewrapRowKeys([(lie, key.wrapped)])[0].isWrapped == false)
        }
        let outcome = try scene.daemon.rewrapRowKeys([(key.binding, key.wrapped)])[0]
        guard case .wrapped(let rewrapped) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(try scene.fate(key.binding.with(accessControl: []), rewrapped) == .damaged)
        #expect(try scene.fate(key.binding, rewrapped) == .needsAuthentication)
        let agreed = try scene.session(agreeingTo: [key])
        let opened = try scene.daemon.openRowKeys([(key.binding, rewrapped)], in: agreed)
        #expect(opened.map(\.secret) == [key.secret])
    }

    @Test func askingAboutOneRowWithTheKeyOfAnotherIsRefused() throws {
        let scene = try HonestScene()
        let (key, other) = (try scene.key(), try scene.key())
        let session = try scene.daemon.openSession()
        expectRefusal(.authenticationFailed) {
            _ = try scene.ask(.rows([(key.binding, other.wrapped)], operation: "od"), in: session)
        }
        // An unconstrained row beside it does not help.
        let free = try MadeKey(in: scene.daemon)
        #expect(try scene.ask(about: [free], in: session) == nil)
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        try scene.expectHonestyOpens(key)
    }

    @Test func anAgreementAboutOneRowOpensNoOther() throws {
        let scene = try HonestScene()
        let (asked, other) = (try scene.key(), try scene.key())
        let agreed = try scene.session(agreeingTo: [asked])
        #expect(try scene.fate(other, in: agreed) == .needsAuthentication)
        #expect(
            try scene.daemon.permit("od", on: [(other.binding, other.wrapped)], in: agreed) == [.needsAuthentication])
        #expect(try scene.fate(asked, in: agreed) == .key)
        try scene.expectHonestyOpens(other)
    }

    /// Asking as if a row were to be deleted, which needs nobody, and then reading it.
    @Test func whatIsAskedForOneOperationIsNotMetForAnother() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let session = try scene.daemon.openSession()
        for operation in ["odel", "oe"] {
            #expect(try scene.ask(.rows([(key.binding, key.wrapped)], operation: operation), in: session) == nil)
        }
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        try scene.expectHonestyOpens(key)
    }

    // MARK: About a session

    @Test func anAgreementCountsInItsSessionAlone() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let agreed = try scene.session(agreeingTo: [key])
        let others: [AuthenticationSessionID?] = [nil, try scene.daemon.openSession(), .random()]
        for other in others { #expect(try scene.fate(key, in: other) == .needsAuthentication) }
        #expect(try scene.fate(key, in: agreed) == .key)
    }

    @Test func aClosedSessionOpensNothing() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let agreed = try scene.session(agreeingTo: [key])
        #expect(try scene.fate(key, in: agreed) == .key)
        let pending = try scene.daemon.openSession()
        let name = try #require(try scene.ask(about: [key], in: pending))
        for session in [agreed, pending] { try scene.daemon.closeSession(session) }
        #expect(try scene.fate(key, in: agreed) == .needsAuthentication)
        expectRefusal(.contextInvalid) { _ = try scene.ask(about: [key], in: agreed) }
        // What was asked in it is not asked any more.
        #expect(try scene.door(name).question() == nil)
        expectRefusal(.notAllowedHere(key: "an answer")) {
            try scene.door(name).agree(with: .passcode(.text(HonestScene.passcode)))
        }
        #expect(try scene.fate(key, in: pending) == .needsAuthentication)
        try scene.expectHonestyOpens(key)
    }

    @Test func aLockEndsWhatWasAgreedTo() throws {
        let scene = try HonestScene()
        let (key, lasting) = (try scene.key(), try scene.key(.afterFirstUnlock))
        let agreed = try scene.session(agreeingTo: [key, lasting])
        let name = try #require(try scene.ask(.policy(.deviceOwner), in: try scene.daemon.openSession()))
        try scene.door().lock()
        #expect(try scene.fate(key, in: agreed) == .locked)
        #expect(try scene.fate(lasting, in: agreed) == .needsAuthentication)
        #expect(try scene.daemon.outcome(of: name) == .refused(.userCanceled))
        expectRefusal(.locked(class: "ak")) { _ = try scene.ask(about: [lasting], in: agreed) }
        try scene.unlock()
        #expect(try scene.fate(key, in: agreed) == .needsAuthentication)
        #expect(try scene.fate(lasting, in: agreed) == .needsAuthentication)
        try scene.agree(to: [key], in: agreed)
        #expect(try scene.fate(key, in: agreed) == .key)
    }

    /// Whether the machine is awake or asleep meanwhile.
    @Test(arguments: [false, true])
    func anAgreementIsOverAfterItsTime(asleep: Bool) throws {
        let scene = try HonestScene()
        let pass = { (time: Duration) in asleep ? scene.clock.sleep(for: time) : scene.clock.advance(by: time) }
        let key = try scene.key()
        let agreed = try scene.session(agreeingTo: [key])
        pass(AuthenticationBook.rowsLife - .seconds(1))
        #expect(try scene.fate(key, in: agreed) == .key)
        pass(.seconds(1))
        #expect(try scene.fate(key, in: agreed) == .needsAuthentication)

        let context = try scene.daemon.openSession()
        let name = try #require(try scene.ask(.policy(.deviceOwner), in: context))
        try scene.door(name).agree(with: .passcode(.text(HonestScene.passcode)))
        pass(AuthenticationBook.contextLife - .seconds(1))
        #expect(try scene.fate(key, in: context) == .key)
        pass(.seconds(1))
        #expect(try scene.fate(key, in: context) == .needsAuthentication)
        pass(AuthenticationBook.sessionLife)
        expectRefusal(.contextInvalid) { _ = try scene.ask(about: [key], in: context) }
    }

    // MARK: About a question

    @Test func theNameOfAnAnsweredQuestionIsGoodForNothing() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let session = try scene.daemon.openSession()
        let name = try #require(try scene.ask(about: [key], in: session))
        let door = try scene.door(name)
        try door.agree(with: .passcode(.text(HonestScene.passcode)))
        scene.clock.advance(by: AuthenticationBook.rowsLife)
        for _ in 0..<2 {
            expectRefusal(.notAllowedHere(key: "an answer")) {
                try door.agree(with: .passcode(.text(HonestScene.passcode)))
            }
            _ = try scene.daemon.outcome(of: name)
        }
        #expect(try scene.daemon.outcome(of: name) == .refused(.contextInvalid))
        #expect(try scene.fate(key, in: session) == .needsAuthentication)

        let declined = try #require(try scene.ask(about: [key], in: session))
        try scene.door(declined).decline(.userCanceled)
        expectRefusal(.notAllowedHere(key: "an answer")) {
            try scene.door(declined).agree(with: .passcode(.text(HonestScene.passcode)))
        }
        #expect(try scene.daemon.outcome(of: declined) == .refused(.userCanceled))
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        try scene.expectHonestyOpens(key)
    }

    @Test func permitWithoutAgreementIsNone() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let rows = [(binding: key.binding, wrapped: key.wrapped)]
        let empty = try scene.daemon.openSession()
        for session in [nil, empty] {
            #expect(try scene.daemon.permit("od", on: rows, in: session) == [.needsAuthentication])
        }
        // Permission for what needs nobody gives no key.
        #expect(try scene.daemon.permit("odel", on: rows, in: empty) == [.wrapped(key.wrapped)])
        #expect(try scene.fate(key, in: empty) == .needsAuthentication)
        let agreed = try scene.session(agreeingTo: [key])
        #expect(try scene.daemon.permit("od", on: rows, in: agreed) == [.wrapped(key.wrapped)])
    }

    /// The daemon may open the person's door as well: it does not know the passcode.
    @Test func answeringForThePersonNeedsThePasscode() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let session = try scene.daemon.openSession()
        let name = try #require(try scene.ask(about: [key], in: session))
        let door = try scene.door(name)
        for guess in 0..<5 {
            expectRefusal(.authenticationFailed) { try door.agree(with: .passcode(.text("guess \(guess)"))) }
            // The same again is no further attempt, and no success.
            #expect(try door.state().failedAttempts == guess + 1)
        }
        expectRefusal(.attemptsDelayed(seconds: 60)) {
            try door.agree(with: .passcode(.text(HonestScene.passcode)))
        }
        expectRefusal(.authenticationFailed) { try door.agree(with: .recoveryCode(.text("0000"))) }
        #expect(try scene.daemon.outcome(of: name) == nil)
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        scene.clock.advance(by: .seconds(60))
        #expect(try scene.daemon.outcome(of: name) == .refused(.promptTimedOut))
        for unknown in [[], [1], Random.bytes(16)] as [[UInt8]] {
            expectRefusal(.notAllowedHere(key: "an answer")) {
                try scene.door(unknown).agree(with: .passcode(.text(HonestScene.passcode)))
            }
        }
        try scene.agree(to: [key], in: session)
        #expect(try scene.fate(key, in: session) == .key)
    }

    @Test func moreSessionsAndQuestionsThanFitAreRefusedAndNobodyElseIsHurt() throws {
        let scene = try HonestScene()
        let key = try scene.key()
        let agreed = try scene.session(agreeingTo: [key])
        let others = try (1..<AuthenticationBook.mostSessions).map { _ in try scene.daemon.openSession() }
        expectRefusal(.busy) { _ = try scene.daemon.openSession() }
        let names = try (0..<AuthenticationBook.mostQuestions).map { _ in
            try #require(try scene.ask(.policy(.deviceOwner), in: others[0]))
        }
        #expect(Set(names).count == names.count)
        expectRefusal(.nobodyToAsk(why: "too many questions wait")) {
            _ = try scene.ask(.policy(.deviceOwner), in: others[1])
        }
        #expect(try scene.fate(key, in: agreed) == .key)
        try scene.daemon.closeSession(others[0])
        #expect(try scene.ask(.policy(.deviceOwner), in: try scene.daemon.openSession()) != nil)
    }

    /// A daemon that ended before it heard what became of its questions.
    @Test func questionsThatNobodyAsksAfterDoNotStandInTheWayForEver() throws {
        let scene = try HonestScene()
        let session = try scene.daemon.openSession()
        for _ in 0..<AuthenticationBook.mostQuestions {
            _ = try #require(try scene.ask(.policy(.deviceOwner), in: session))
        }
        scene.clock.advance(by: .seconds(60))
        #expect(try scene.ask(.policy(.deviceOwner), in: session) != nil)
    }

    // MARK: Beside the protocol

    @Test func anApplicationPasswordIsThatOfItsSession() throws {
        let scene = try HonestScene()
        let right = try scene.daemon.openSession()
        let wrong = try scene.daemon.openSession()
        let none = try scene.daemon.openSession()
        let binding = RowBinding.row(accessControl: HonestScene.encoding([.applicationPassword]))
        for session in [nil, none] {
            let made = try scene.daemon.makeRowKeys(for: [binding], in: session)
            #expect(made.map(\.fate) == [.wrongApplicationPassword])
        }
        try scene.daemon.setApplicationKey(SharedSecret(.random(count: 32)), in: right)
        try scene.daemon.setApplicationKey(SharedSecret(.random(count: 32)), in: wrong)
        let made = try #require(try scene.daemon.makeRowKeys(for: [binding], in: right).first)
        let wrapped = try #require(made.wrapped)
        for session in [nil, none, wrong, .random()] as [AuthenticationSessionID?] {
            #expect(try scene.fate(binding, wrapped, in: session) == .wrongApplicationPassword)
        }
        // As a row that asks for none: also what lies within is not given out.
        for stripped in [[], HonestScene.encoding([]), HonestScene.constrained] {
            #expect(try scene.fate(binding.with(accessControl: stripped), wrapped, in: right) == .damaged)
        }
        #expect(try scene.daemon.openRowKeys([(binding, wrapped)], in: right).map(\.secret) == [made.secret])
        try scene.daemon.setApplicationKey(nil, in: right)
        #expect(try scene.fate(binding, wrapped, in: right) == .wrongApplicationPassword)
    }

    @Test func bringingBackTheOldKeybagBringsNothingBack() throws {
        let scene = try HonestScene()
        let key = try MadeKey(in: scene.daemon)
        let lost = try MadeKey(in: scene.daemon, .row(.whenPasscodeSetThisDeviceOnly))
        #expect(try lost.opens(in: scene.daemon))
        let old = try scene.server.home.contents()
        try scene.door().removePasscode(with: .passcode(.text(HonestScene.passcode)))
        for name in ["keybag.0", "keybag.1"] { try scene.server.home.write(name, try #require(old[name])) }
        // The enclave that runs goes on.
        #expect(try scene.fate(lost) == .effaced)
        #expect(try key.opens(in: scene.daemon))
        #expect(try scene.door().state().hasPasscode == false)
        // What it writes next is the newest again.
        try scene.door().setPasscode(.text("5678"))
        #expect(try scene.fate(lost) == .effaced)
        #expect(try key.opens(in: scene.daemon))
    }
}

extension RewrapOutcome {
    fileprivate var isWrapped: Bool { if case .wrapped = self { true } else { false } }
}
