package import KeychainPlatform
package import KeychainProtocol

/// What `latchkey-bus` does: one thing for the enclave, on the system bus, until the
/// enclave lets go of the socket.
///
/// It is the only process of ours that loads libsystemd. Nothing secret reaches it; what
/// it says decides whether a finger was the right one, and whether the keychain locks.
package struct BusHands {
    private let enclave: MessageChannel
    private let bus: BusConnection

    /// How long a person may take before the process ends itself: longer than any
    /// question waits.
    private static let longestTouch: Duration = .seconds(150)
    /// For a reader that somebody else has; fprintd does not tell when it is free.
    private static let patienceWithOthers: Duration = .seconds(3)
    private static let pause: Duration = .milliseconds(50)

    private init(_ enclave: MessageChannel, _ bus: BusConnection) {
        self.enclave = enclave
        self.bus = bus
    }

    /// Serves the end that the enclave started this process with.
    ///
    /// - Parameters:
    ///   - socket: to the bus, or why there is none.
    ///   - trusted: the user that fprintd and logind run as.
    /// - Throws: where the enclave's socket is broken.
    package static func serve(
        _ socket: Result<Descriptor, BusFailure>, trusting trusted: UInt32
    ) throws(FrameError) {
        guard let descriptor = Descriptor.inherited(BusProtocol.descriptor) else { throw .closed }
        ProcessAlarm.end(after: BusProtocol.longestPreparation)
        let enclave: MessageChannel
        do throws(SystemCallError) { enclave = try MessageChannel(PacketSocket(owning: descriptor)) } catch {
            throw .system(error)
        }
        guard let request = try next(on: enclave) else { return }
        do throws(BusFailure) {
            let hands = BusHands(enclave, try BusConnection(on: try socket.get(), trusting: trusted))
            try hands.perform(request)
        } catch {
            try say(.failed(error.description), on: enclave)
        }
    }

    private func perform(_ request: BusRequest) throws(BusFailure) {
        switch request {
        case .describeReader: say(.reader(try FingerDevice(on: bus)?.reader))
        case .verifyFinger: try verify()
        case .followLogins: try follow()
        case .letSleep: throw BusFailure("nothing is followed")
        }
    }

    // MARK: A finger

    private func verify() throws(BusFailure) {
        guard let device = try FingerDevice(on: bus) else { return say(.reader(nil)) }
        guard try claim(device) else { return }
        try device.begin()
        ProcessAlarm.end(after: Self.longestTouch)
        say(.ready(device.reader))
        while true {
            while let signal = try bus.nextSignal() {
                guard let touch = try device.touch(by: signal) else { continue }
                say(.touched(touch))
                if touch == .match { return device.release() }
            }
            // Whatever the enclave has to say to this means that it is over.
            if try isHeardFromEnclave() { return device.release() }
        }
    }

    /// Whoever had the reader until now, our last question for one, may be giving it back.
    ///
    /// - Returns: false where the enclave has gone meanwhile.
    private func claim(_ device: FingerDevice) throws(BusFailure) -> Bool {
        let patience = Deadline(after: Self.patienceWithOthers, on: SystemClock())
        while try !device.claim() {
            guard !patience.hasPassed else { throw BusFailure("another program has the reader") }
            let next = Deadline(after: Self.pause, on: SystemClock())
            do throws(SystemCallError) {
                guard try waitForAny(of: [enclave.socket.descriptor], until: next) == nil else { return false }
            } catch { throw BusFailure("\(error)") }
        }
        return true
    }

    // MARK: Sleep and locked screens

    private func follow() throws(BusFailure) {
        let logins = try Logins(on: bus)
        var sleepDelay = logins.delaySleep()
        say(.following(delaysSleep: sleepDelay != nil))
        // For as long as there is an enclave.
        ProcessAlarm.cancel()
        var isSleeping = false
        while true {
            while let signal = try bus.nextSignal() {
                switch try logins.meaning(of: signal) {
                case .sleeping:
                    isSleeping = true
                    say(.sleeping)
                case .awake:
                    isSleeping = false
                    // Another night, another delay, also where the last one was not given back.
                    sleepDelay = logins.delaySleep() ?? sleepDelay
                    say(.following(delaysSleep: sleepDelay != nil))
                case .screenLocked: say(.screenLocked)
                case nil: continue
                }
            }
            guard try isHeardFromEnclave() else { continue }
            guard let request = try requestOfEnclave(), request == .letSleep else { return }
            // Later it would take the next night's.
            if isSleeping { sleepDelay = nil }
        }
    }

    // MARK: The enclave

    /// Waits until the bus or the enclave has something.
    private func isHeardFromEnclave() throws(BusFailure) -> Bool {
        do throws(SystemCallError) {
            return try waitForAny(of: [enclave.socket.descriptor, bus.descriptor]) == 0
        } catch { throw BusFailure("\(error)") }
    }

    private func requestOfEnclave() throws(BusFailure) -> BusRequest? {
        do throws(FrameError) { return try Self.next(on: enclave) } catch { throw BusFailure("\(error)") }
    }

    /// Nobody is there to be told that the enclave has gone: the next look ends this.
    private func say(_ word: BusWord) {
        do throws(FrameError) { try Self.say(word, on: enclave) } catch { enclave.socket.shutDown() }
    }

    private static func say(_ word: BusWord, on enclave: MessageChannel) throws(FrameError) {
        try enclave.send(
            BusProtocol.encode(word), SecretBytes(count: 0),
            until: Deadline(after: BusProtocol.longestPreparation, on: SystemClock()))
    }

    /// nil: the enclave has gone.
    private static func next(on enclave: MessageChannel) throws(FrameError) -> BusRequest? {
        let deadline = Deadline(after: BusProtocol.longestPreparation, on: SystemClock())
        guard let frame = try enclave.receive(until: deadline) else { return nil }
        guard let request = BusProtocol.decodeRequest(header: frame.header, tail: frame.tail) else {
            throw .malformed
        }
        return request
    }
}
