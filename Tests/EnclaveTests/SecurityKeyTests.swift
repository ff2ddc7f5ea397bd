import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// The root key bound to a FIDO2 security key: the real enclave and the real libfido2, with
/// security keys of software.
@Suite(.enabled(if: SoftwareTPM.isInstalled && SoftwareSecurityKey.isInstalled, "no swtpm, or no python3-cbor2"))
struct SecurityKeyTests {
    private let folder: TemporaryDirectory
    private let key: SoftwareSecurityKey
    private let hands: any HardwareDoor
    private let scene: HardwareScene

    init() throws {
        folder = try TemporaryDirectory("keys")
        key = try SoftwareSecurityKey(in: folder.path(""))
        hands = HardwareScene.hands("security-key-hands", folder.path(""))
        scene = try HardwareScene(hands)
    }

    private func add(pin: String? = nil) throws {
        _ = try scene.door().addProtector(.plugged, pin: pin.map { .text($0) }, passcode: nil)
    }

    /// Bound to the key alone.
    private func bind() throws -> MadeKey {
        let made = try MadeKey(in: scene.opened())
        try add()
        try scene.remove("software-file")
        return made
    }

    private var trials: [ProtectorState.Trial] {
        get throws { try scene.door().testProtectors(pretendingGone: nil).map(\.trial) }
    }

    /// What an opening says that fails, and that it changed nothing.
    private func refusal() throws -> String {
        let files = try scene.home.contents()
        let refusal = try #require(scene.refusal())
        #expect(refusal.status == .notAvailable && refusal.reason == .keybagUnreadable)
        #expect(try scene.home.contents() == files)
        return refusal.underlying ?? ""
    }

    @Test func theKeyOpensWhatTheFileOpenedBefore() throws {
        let before = try MadeKey(in: scene.opened())
        try add()
        #expect(try scene.kinds == ["software-file", "fido2"])
        #expect(try scene.door().protectors().map(\.product) == ["", "Test Key 0"])
        #expect(try trials == [.opens, .opens])
        try scene.remove("software-file")
        #expect(try scene.kinds == ["fido2"])
        let after = try MadeKey(in: scene.opened())
        try scene.startAgain()
        let again = try scene.open()
        for made in [before, after] { #expect(try made.opens(in: again)) }
        #expect(try again.describe().protectors == ["fido2"])
        #expect(try trials == [.opens])
        expectRefusal(.protectorRefused(why: "it is the last one that opens without a person")) {
            try scene.remove("fido2")
        }
    }

    /// Each opens nothing, says why, and loses nothing.
    @Test(arguments: [
        ("refuse", "Test Key 0 at /dev/hidraw0 refused"), ("hang-info", "gives no answer"),
        ("vanish", "was pulled, or broke off"), ("garbage", "does not do it (FIDO_ERR_"), ("verify", "takes its PIN"),
        ("other", "no protector opens the root key"), ("u2f", "knows U2F alone"),
    ])
    func aKeyThatDoesNotDoItIsAClearError(mode: String, why: String) throws {
        let made = try bind()
        try scene.startAgain()
        try key.behave(mode)
        let begun = SystemClock().monotonic
        let said = try refusal()
        #expect(said.contains(why), "\(said)")
        #expect(SystemClock().monotonic - begun < .seconds(15))
        try key.behave("")
        if mode == "vanish" {
            key.pull()
            try key.plug()
        }
        // What another protector opens is not touched by it: the key itself, mended.
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
    }

    @Test func withoutTheKeyNothingOpensAndNothingIsLost() throws {
        let made = try bind()
        key.pull()
        try scene.startAgain()
        #expect(try refusal().contains("no security key is plugged in"))
        let stranger = try SoftwareSecurityKey(in: folder.path(""), number: 1)
        #expect(try refusal().contains("no security key that is plugged in is the one"))
        // Nobody is made to touch a key that is not it.
        try stranger.behave("no-touch")
        try key.plug()
        #expect(try made.opens(in: scene.open()))
    }

    /// The daemon hears within its patience that a touch is missing; the key goes on
    /// blinking, and what the touch brings opens at the next call.
    @Test func aTouchThatComesLateOpensTheNextTime() throws {
        let made = try bind()
        try scene.startAgain()
        try key.behave("no-touch")
        #expect(try refusal().contains("touch the security key (Test Key 0) while it blinks, and try again"))
        #expect(try refusal().contains("touch the security key (Test Key 0)"))
        try key.behave("")
        #expect(try made.opens(in: scene.open()))
    }

    /// What needs nobody comes first: nobody is asked for a touch then.
    @Test func theTPMAndTheFileAreAskedBeforeAPerson() throws {
        let made = try MadeKey(in: scene.opened())
        try add()
        try key.behave("no-touch")
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
        try key.behave("")
        try scene.addTPM()
        try scene.remove("software-file")
        try key.behave("hang")
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
    }

    @Test func theRecoveryCodeBringsEverythingBack() throws {
        let made = try MadeKey(in: scene.opened())
        try add()
        let code = try scene.makeCode()
        try scene.remove("software-file", code: code)
        #expect(try scene.kinds == ["fido2", "recovery-code"])
        try key.reset()
        try scene.startAgain()
        #expect(try refusal().contains("no security key that is plugged in is the one"))
        try scene.door().unlock(with: .recoveryCode(code))
        #expect(try made.opens(in: scene.open()))
        #expect(try trials.last == .needsPerson)
        _ = try scene.door().resealProtector(try scene.name("fido2"), passcode: nil)
        #expect(try trials == [.opens, .needsPerson])
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
    }

    /// What is bound to two keys opens with either.
    @Test func aSecondKeyOpensWhereTheFirstIsLost() throws {
        let made = try MadeKey(in: scene.opened())
        try add()
        let second = try SoftwareSecurityKey(in: folder.path(""), number: 1)
        #expect(
            throws: KeychainError(
                .notAvailable,
                reason: .deviceFailed(
                    why: "several security keys are plugged in: /dev/hidraw0 (Test Key 0), /dev/hidraw1 (Test Key 1); "
                        + "say which with --at"))
        ) { try add() }
        _ = try scene.door().addProtector(try #require(FIDO2Address(path: "/dev/hidraw1")), pin: nil, passcode: nil)
        try scene.remove("software-file")
        for lost in [key, second] {
            lost.pull()
            try scene.startAgain()
            #expect(try made.opens(in: scene.open()))
            try lost.plug()
        }
        expectRefusal(
            .protectorRefused(
                why: "it is bound to \(DeviceWork.mostDevices) devices already, which is all there may be")
        ) { try add() }
    }

    // MARK: Adding

    @Test(arguments: [
        ("no-secret", "makes no secrets (it has no hmac-secret)"), ("u2f", "knows U2F alone"),
        ("verify", "takes its PIN or a finger for everything (alwaysUv)"), ("refuse", "refused"),
        ("pin", "`latchkey protector add fido2 --key-pin`"), ("vanish", "was pulled, or broke off"),
        ("garbage", "does not do it (FIDO_ERR_"),
        ("constant", "the security key makes the same secret of whatever it is given"),
    ])
    func whatCouldNotOpenIsNotAdded(mode: String, why: String) throws {
        let before = try scene.home.contents()
        try key.behave(mode)
        let refusal = #expect(throws: KeychainError.self) { try add() }
        guard case .deviceFailed(let said) = refusal?.reason else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(said.contains(why), "\(said)")
        #expect(try scene.home.contents() == before)
        #expect(try scene.kinds == ["software-file"])
    }

    @Test func thePINIsTakenWhereTheKeyWantsItAndNeverAtAStart() throws {
        let made = try MadeKey(in: scene.opened())
        try key.behave("pin")
        let wrong = #expect(throws: KeychainError.self) { try add(pin: "4321") }
        #expect(
            wrong?.reason
                == .deviceFailed(why: "that is not the PIN of Test Key 0 at /dev/hidraw0; 7 tries are left"))
        try add(pin: "1234")
        try scene.remove("software-file")
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
    }

    // MARK: Before it is the only one

    /// Whatever replaces the root key asks the key for the old secret as well.
    @Test(arguments: ["other", "refuse", "constant", "vanish"])
    func nothingIsBoundToAKeyThatDoesNotSayTheSame(mode: String) throws {
        let made = try MadeKey(in: scene.opened())
        try add()
        let code = try scene.makeCode()
        let before = try scene.home.contents()
        try key.behave(mode)
        let refusal = #expect(throws: KeychainError.self) { try scene.remove("software-file", code: code) }
        guard case .protectorRefused(let why) = refusal?.reason else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(why.contains("the security key does not work"))
        #expect(throws: KeychainError.self) { try scene.door().removeRecoveryCode(passcode: nil) }
        #expect(try scene.home.contents() == before)
        #expect(try made.opens(in: scene.opened()))
        // The one that does not work can go.
        try scene.remove("fido2", code: code)
        #expect(try scene.kinds == ["software-file", "recovery-code"])
        try scene.startAgain()
        #expect(try made.opens(in: scene.open()))
    }

    @Test func aTestSaysWhatAKeyWouldDo() throws {
        try add()
        for (mode, why) in [("other", "makes another secret than before"), ("refuse", "refused")] {
            try key.behave(mode)
            guard case .failed(let said) = try trials.last else {
                Issue.record("\(mode) opens")
                continue
            }
            #expect(said.contains(why), "\(said)")
        }
        key.pull()
        #expect(try trials == [.opens, .failed("no security key is plugged in")])
        #expect(
            try scene.door().testProtectors(pretendingGone: scene.name("fido2")).map(\.trial) == [.opens, .none])
    }

    /// A crash while the root key was replaced: each of the two is wrapped for another salt.
    @Test func whatWasCopiedBeforeDoesNotOpenWhatComesAfter() throws {
        let made = try bind()
        let old = try scene.home.contents()
        try scene.addTPM()
        try scene.remove("tpm2")
        let new = try scene.home.contents()
        // The protectors of then, which the key still opens, beside the keybag of now.
        for copy in 0..<2 { try scene.home.write("protectors.\(copy)", try #require(old["protectors.\(copy)"])) }
        try scene.startAgain()
        #expect(scene.refusal() != nil)
        for copy in 0..<2 { try scene.home.write("protectors.\(copy)", try #require(new["protectors.\(copy)"])) }
        #expect(try made.opens(in: scene.open()))
    }
}
