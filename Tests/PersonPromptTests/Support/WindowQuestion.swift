import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Synchronization

/// A question with long words of others in it, which a program puts to a person in a
/// window.
enum WindowQuestion {
    /// What the protocol has to escape is in it, and a letter that is no ASCII.
    static let passcode = "pässword%41 +"

    static let question = PersonQuestion(
        purpose: .useItem, items: [ShownItem(label: "bank", group: "latchkey")], itemCount: 1, itemsAreBound: true,
        program: "/usr/bin/" + String(repeating: "WM", count: 40), programStrength: .user, programProcess: 42,
        reason: String(repeating: "W", count: 99) + " " + String(repeating: "M m", count: 30))

    /// - Parameters:
    ///   - programs: pinentries, in order.
    ///   - environment: of the process that is asked for.
    ///   - ended: readable once somebody wants the prompt to end.
    ///   - person: what somebody does meanwhile.
    static func ask(
        _ programs: [String], with environment: [String: String], in places: PromptPlaces = PromptPlaces(),
        on clock: any KeychainClock = SystemClock(), endedBy ended: EventSignal? = nil,
        _ person: @escaping @Sendable () -> Void
    ) throws -> (ConversationOutcome, FakeDoor.Record) {
        var places = places
        places.graphicalPrograms = programs
        places.passwordQuestions = "/nowhere"
        let caller = try Caller(on: nil, environment)
        let door = FakeDoor(question, passcode: passcode)
        let end = try ended ?? EventSignal()
        let process = PromptProcess(door: door, caller: caller.processID, places: places, clock: clock)
        Waiting.meanwhile(person)
        let outcome = try withExtendedLifetime(caller) { try process.run(endedBy: end.descriptor) }
        return (outcome, door.record)
    }

    static func nobodyWasAsked(_ outcome: ConversationOutcome) -> Bool {
        guard case .declined(.nobodyToAsk) = outcome else { return false }
        return true
    }

    // MARK: Lines

    /// Those that hold others' words.
    static func foreignLines(_ width: LineWidth) -> [String] {
        QuestionText(question, repertoire: .unicode, width: width).description
            .split(separator: "\n").map(String.init).filter { $0.contains("| ") }
    }

    /// How high a window is that shows a text, by whoever measures it.
    static func height(
        _ program: String, of description: String, with environment: [String: String],
        in places: PromptPlaces = PromptPlaces(), _ measure: @escaping @Sendable () throws -> Int?
    ) throws -> Int? {
        let values = environment.map { Array("\($0.key)=\($0.value)".utf8) }
        guard let session = GraphicalSession(SessionVariables(values), in: places) else { return nil }
        let end = try EventSignal()
        let screen = Pinentry(.graphical(program, on: session), calledOffBy: [end.descriptor])
        let measured = Mutex<Int?>(nil)
        Waiting.meanwhile {
            let height = try? measure()
            measured.withLock { $0 = height }
            end.signal()
        }
        do throws(PromptFailure) {
            _ = try screen.ask(
                PromptForm(description: description), until: Deadline(after: .seconds(120), on: SystemClock()))
            return nil
        } catch {
            return error == .calledOff ? measured.withLock { $0 } : nil
        }
    }
}
