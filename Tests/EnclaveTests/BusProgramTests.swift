import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// `latchkey-bus` with a real fprintd, or one that is played where it has to fail.
struct TestBus: SystemBusDoor {
    /// What `bus-probe` takes.
    let place: String

    init(_ bus: PrivateBus) { place = bus.path }
    init(place: String) { self.place = place }

    func open() throws(SystemCallError) -> PacketSocket {
        let (ours, theirs) = try PacketSocket.pair()
        try DaemonStarter.start(
            "\(ProcessEnvironment.executableDirectory ?? ".")/bus-probe", arguments: [],
            environment: ["PROBE_BUS=\(place)"], keeping: theirs.descriptor)
        return ours
    }

    static let isThere = ConditionTrait.enabled(
        if: PrivateBus.isInstalled, "dbus, fprintd, python3-dbus or python3-gi is missing, or this user has no name")
}

@Suite(TestBus.isThere) struct BusProgramTests {
    private let bus: PrivateBus
    private var soon: Deadline { MessageChannel.soon }

    init() throws { bus = try PrivateBus() }

    private func ask(_ request: BusRequest, at place: String? = nil) throws -> MessageChannel {
        let channel = try MessageChannel(try TestBus(place: place ?? bus.path).open())
        try say(request, on: channel)
        return channel
    }

    private func say(_ request: BusRequest, on channel: MessageChannel) throws {
        try channel.send(BusProtocol.encode(request), SecretBytes(count: 0), until: soon)
    }

    /// nil: the program has ended.
    private func word(on channel: MessageChannel) throws -> BusWord? {
        guard let frame = try channel.receive(until: soon) else { return nil }
        let word = BusProtocol.decodeWord(header: frame.header, tail: frame.tail)
        let known: BusWord = try #require(word)
        return known
    }

    private func failure(on channel: MessageChannel) throws -> String {
        guard case .failed(let why)? = try word(on: channel) else { return "no failure" }
        return why
    }

    // MARK: The reader

    @Test func aReaderIsDescribedWithItsFingers() throws {
        #expect(try word(on: try ask(.describeReader)) == .reader(FingerReader(fingers: 0, isSwiped: true)))
        #expect(try bus.tell("enroll right") == "enroll-completed")
        let channel = try ask(.describeReader)
        #expect(try word(on: channel) == .reader(FingerReader(fingers: 1, isSwiped: true)))
        #expect(try word(on: channel) == nil)
    }

    @Test func fingersAreLookedAtUntilOneIsRight() throws {
        try bus.tell("enroll right")
        let channel = try ask(.verifyFinger)
        #expect(try word(on: channel) == .ready(FingerReader(fingers: 1, isSwiped: true)))
        try bus.tell("reader SCAN wrong")
        #expect(try word(on: channel) == .touched(.noMatch))
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("reader RETRY 1")
        #expect(try word(on: channel) == .touched(.unreadable))
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("reader SCAN right")
        #expect(try word(on: channel) == .touched(.match))
        #expect(try word(on: channel) == nil)
        // It was given back.
        #expect(try word(on: try ask(.verifyFinger)) == .ready(FingerReader(fingers: 1, isSwiped: true)))
    }

    @Test func whoLetsGoOfTheSocketFreesTheReader() throws {
        try bus.tell("enroll right")
        var channel: MessageChannel? = try ask(.verifyFinger)
        #expect(try word(on: try #require(channel)) == .ready(FingerReader(fingers: 1, isSwiped: true)))
        channel = nil
        let next = try ask(.verifyFinger)
        // Once fprintd has noticed; until then it is somebody else's.
        #expect(try word(on: next) == .ready(FingerReader(fingers: 1, isSwiped: true)))
    }

    @Test func whatNobodyEnrolledIsNotVerified() throws {
        #expect(try failure(on: try ask(.verifyFinger)).contains("NoEnrolledPrints"))
    }

    @Test func aReaderThatFailsIsToldInItsWords() throws {
        try bus.tell("enroll right")
        let channel = try ask(.verifyFinger)
        _ = try word(on: channel)
        try bus.tell("reader ERROR 0")
        #expect(try failure(on: channel) == "the reader failed")
    }

    @Test func aReaderThatVanishesEndsIt() throws {
        try bus.tell("play-reader vanishes")
        let channel = try ask(.verifyFinger)
        #expect(try bus.line() == "started")
        _ = try word(on: channel)
        try bus.tell("status verify-disconnected done")
        #expect(try failure(on: channel) == "the reader is gone")
    }

    @Test func anFprintdThatDiesEndsIt() throws {
        try bus.tell("play-reader dies")
        let channel = try ask(.verifyFinger)
        #expect(try bus.line() == "started")
        _ = try word(on: channel)
        try bus.tell("leave net.reactivated.Fprint")
        #expect(try failure(on: channel) == "fprintd has ended")
    }

    @Test func aReaderOfSomebodyElseIsNotOurs() throws {
        try bus.tell("play-reader busy")
        #expect(try failure(on: try ask(.verifyFinger)) == "another program has the reader")
    }

    @Test func whoSaysMatchUnderAnotherNameIsNotHeard() throws {
        try bus.tell("play-reader lies")
        let channel = try ask(.verifyFinger)
        #expect(try bus.line() == "started")
        _ = try word(on: channel)
        try bus.tell("stranger verify-match")
        // The next word is the true reader's.
        try bus.tell("status verify-no-match done")
        #expect(try word(on: channel) == .touched(.noMatch))
    }

    // MARK: Who is there

    @Test func anFprintdOfAnotherUserIsRefused() throws {
        let other = ProcessEnvironment.effectiveUserID + 1
        let why = try failure(on: try ask(.describeReader, at: "as:\(other):\(bus.path)"))
        #expect(why.contains("answered for by user \(ProcessEnvironment.effectiveUserID)"))
        try bus.tell("play-logind")
        #expect(try failure(on: try ask(.followLogins, at: "as:\(other):\(bus.path)")).contains("answered for by user"))
    }

    @Test func withoutABusThatIsSaid() throws {
        #expect(try failure(on: try ask(.describeReader, at: bus.path + "-none")).contains("there is no system bus"))
    }

    @Test func withoutLogindThatIsSaid() throws {
        #expect(try failure(on: try ask(.followLogins)) == "there is no logind on the system bus")
    }

    @Test func anFprintdThatHangsIsGivenUp() throws {
        try bus.tell("play-reader hangs")
        #expect(try failure(on: try ask(.describeReader)).contains("fprintd"))
    }

    // MARK: logind

    @Test func sleepWaitsUntilItIsLet() throws {
        try bus.tell("play-logind")
        let channel = try ask(.followLogins)
        #expect(try word(on: channel) == .following(delaysSleep: true))
        #expect(try bus.tell("inhibitors") == "sleep delay")
        try bus.tell("sleep begins")
        #expect(try word(on: channel) == .sleeping)
        #expect(try bus.tell("inhibitors") == "sleep delay")
        try say(.letSleep, on: channel)
        #expect(try bus.tell("await-release") == "released")
        try bus.tell("sleep ends")
        try bus.tell("lock ours")
        // Taken anew before anything else was heard.
        #expect(try word(on: channel) == .following(delaysSleep: true))
        #expect(try word(on: channel) == .screenLocked)
        #expect(try bus.tell("inhibitors") == "sleep delay")
    }

    /// The machine did not wait for us, and is awake again before it is let sleep.
    @Test func anEarlyMorningKeepsTheNextNightsDelay() throws {
        try bus.tell("play-logind")
        let channel = try ask(.followLogins)
        _ = try word(on: channel)
        try bus.tell("sleep begins")
        try bus.tell("sleep ends")
        #expect(try word(on: channel) == .sleeping)
        #expect(try word(on: channel) == .following(delaysSleep: true))
        #expect(try bus.tell("await-release") == "released")
        try bus.tell("sleep begins")
        #expect(try word(on: channel) == .sleeping)
        #expect(try bus.tell("inhibitors") == "sleep delay")
        try say(.letSleep, on: channel)
        #expect(try bus.tell("await-release") == "released")
    }

    @Test func lockedScreensOfTheUserAlone() throws {
        try bus.tell("play-logind")
        let channel = try ask(.followLogins)
        _ = try word(on: channel)
        for command in ["lock others", "hint others on", "hint ours off"] { try bus.tell(command) }
        try bus.tell("hint ours on")
        #expect(try word(on: channel) == .screenLocked)
        try bus.tell("lock ours")
        #expect(try word(on: channel) == .screenLocked)
        try bus.tell("sleep begins")
        #expect(try word(on: channel) == .sleeping)
    }

    @Test func aLogindThatEndsIsTold() throws {
        try bus.tell("play-logind")
        let channel = try ask(.followLogins)
        _ = try word(on: channel)
        try bus.tell("leave org.freedesktop.login1")
        #expect(try failure(on: channel) == "logind has ended")
    }

    @Test func aBusThatEndsIsTold() throws {
        try bus.tell("play-logind")
        let channel = try ask(.followLogins)
        _ = try word(on: channel)
        bus.stop()
        #expect(try failure(on: channel).contains("the bus"))
    }
}
