internal import KeychainMessages
package import KeychainPlatform

/// What the enclave asks of `latchkey-bus`. The first request says what its process is
/// for.
package enum BusRequest: Hashable, Sendable {
    /// Answered once, by ``BusWord/reader(_:)`` or a failure.
    case describeReader
    /// Fingers are looked at, one after the other, until the enclave closes the socket.
    case verifyFinger
    /// Sleep and locked screens are told until then.
    case followLogins
    /// After ``BusWord/sleeping``: the machine may sleep now.
    case letSleep
}

/// What `latchkey-bus` says.
package enum BusWord: Hashable, Sendable {
    /// The last word, in the words of the bus or of who is on it.
    case failed(String)
    /// nil: there is none.
    case reader(FingerReader?)
    /// A finger is waited for from now on.
    case ready(FingerReader)
    case touched(Touch)
    /// - Parameter delaysSleep: whether sleep waits for ``BusRequest/letSleep``.
    case following(delaysSleep: Bool)
    case sleeping
    /// The screen of a session of the user was locked.
    case screenLocked

    package enum Touch: Hashable, Sendable {
        case match
        case noMatch
        /// To be done again: too short, not in the middle.
        case unreadable
    }
}

/// A fingerprint reader, as fprintd describes it.
package struct FingerReader: Hashable, Sendable {
    /// How many fingers of the user it knows.
    package var fingers: Int
    /// Whether a finger is drawn over it, not put on it.
    package var isSwiped: Bool

    package init(fingers: Int, isSwiped: Bool) {
        self.fingers = fingers
        self.isSwiped = isSwiped
    }
}

/// How both travel, on a socket pair. Nothing has a tail.
package enum BusProtocol {
    /// Where the D-Bus specification has the system bus ("Well-known Message Bus
    /// Instances"). The variable that names another is not looked at: whoever sets it
    /// would answer for a finger.
    package static let systemBus = "/run/dbus/system_bus_socket"
    /// The descriptor under which `latchkey-bus` finds its end.
    package static let descriptor: Int32 = 3
    /// What finding somebody on the bus, with what they answer, may take before the
    /// process ends itself. fprintd is started within a second.
    package static let longestPreparation: Duration = .seconds(15)
    /// Of a failure's text, in Unicode scalars.
    private static let longestText = 200

    package static func encode(_ request: BusRequest) -> [UInt8] {
        var message = Latchkey_BusRequest()
        switch request {
        case .describeReader: message.describeReader = true
        case .verifyFinger: message.verifyFinger = true
        case .followLogins: message.followLogins = true
        case .letSleep: message.letSleep = true
        }
        return message.wireBytes
    }

    /// nil for anything that ``encode(_:)`` does not write.
    package static func decodeRequest(header: [UInt8], tail: borrowing SecretBytes) -> BusRequest? {
        guard tail.count == 0, let message = decoded(Latchkey_BusRequest.self, header) else { return nil }
        switch message.request {
        case .describeReader(true): return .describeReader
        case .verifyFinger(true): return .verifyFinger
        case .followLogins(true): return .followLogins
        case .letSleep(true): return .letSleep
        case .describeReader, .verifyFinger, .followLogins, .letSleep, nil: return nil
        }
    }

    package static func encode(_ word: BusWord) -> [UInt8] {
        var message = Latchkey_BusWord()
        switch word {
        case .failed(let text):
            message.failure = String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestText)))
        case .reader(let reader): message.reader = Latchkey_BusWord.FingerReader(reader)
        case .ready(let reader): message.ready = Latchkey_BusWord.FingerReader(reader)
        case .touched(.match): message.touch = .match
        case .touched(.noMatch): message.touch = .noMatch
        case .touched(.unreadable): message.touch = .unreadable
        case .following(let delaysSleep): message.following.delaysSleep = delaysSleep
        case .sleeping: message.sleeping = true
        case .screenLocked: message.screenLocked = true
        }
        return message.wireBytes
    }

    /// nil for anything that ``encode(_:)`` does not write.
    package static func decodeWord(header: [UInt8], tail: borrowing SecretBytes) -> BusWord? {
        guard tail.count == 0, let message = decoded(Latchkey_BusWord.self, header) else { return nil }
        switch message.word {
        case .failure(let text): return text.unicodeScalars.count <= longestText ? .failed(text) : nil
        case .reader(let reader):
            guard reader.isThere else { return reader == Latchkey_BusWord.FingerReader() ? .reader(nil) : nil }
            return FingerReader(reader).map { .reader($0) }
        case .ready(let reader): return reader.isThere ? FingerReader(reader).map { .ready($0) } : nil
        case .touch(.match): return .touched(.match)
        case .touch(.noMatch): return .touched(.noMatch)
        case .touch(.unreadable): return .touched(.unreadable)
        case .following(let following): return .following(delaysSleep: following.delaysSleep)
        case .sleeping(true): return .sleeping
        case .screenLocked(true): return .screenLocked
        case .touch, .sleeping, .screenLocked, nil: return nil
        }
    }
}

extension FingerReader {
    /// Of a person's ten fingers; more is nonsense.
    private static let mostFingers = 100

    fileprivate init?(_ message: Latchkey_BusWord.FingerReader) {
        guard message.fingers <= Self.mostFingers else { return nil }
        self.init(fingers: Int(message.fingers), isSwiped: message.swiped)
    }
}

extension Latchkey_BusWord.FingerReader {
    fileprivate init(_ reader: FingerReader?) {
        self.init()
        guard let reader else { return }
        isThere = true
        fingers = UInt32(clamping: reader.fingers)
        swiped = reader.isSwiped
    }
}
