internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Security hardware whose questions to a security key outlive an opening.
///
/// An opening has to answer within the daemon's patience, and a person needs longer to
/// find the key. So the key goes on waiting for its touch on a thread of its own; the
/// opening fails meanwhile, saying so, and the next one takes what the touch brought.
final class PatientHardware: HardwareDoor {
    private let door: any HardwareDoor
    private let clock: any KeychainClock
    private let questions = Mutex<[SealedByFIDO2: Question]>([:])

    /// How long a key blinks for an opening.
    static let touchPatience: Duration = .seconds(15)
    /// How long what a touch brought may be taken: an opening that was cut short by a
    /// second device goes on with it.
    static let life: Duration = .seconds(30)

    init(_ door: any HardwareDoor, clock: any KeychainClock) {
        self.door = door
        self.clock = clock
    }

    func ask(_ request: HardwareRequest, patience: Duration) throws(HardwareError) -> HardwareAnswer {
        // With another salt it is no opening: whoever asks waits as long as the key does.
        guard case .secrets(let sealed, next: nil, _) = request else {
            return try door.ask(request, patience: patience)
        }
        let question: Question
        do throws(SystemCallError) { question = try current(sealed) } catch { throw .failed("\(error)") }
        guard let answer = question.answer(within: patience) else {
            throw .untouched(product: sealed.credential.product)
        }
        return try answer.get()
    }

    /// The one that is under way or was answered a moment ago, or a new one.
    private func current(_ sealed: SealedByFIDO2) throws(SystemCallError) -> Question {
        let now = clock.sinceBoot
        let known = questions.withLock { questions in
            questions = questions.filter { $0.value.isWorthwhile(at: now) }
            return questions[sealed]
        }
        if let known { return known }
        let question = try Question()
        let (door, clock) = (door, clock)
        try BackgroundThread.start {
            question.set(Self.answer(to: sealed, from: door), at: clock.sinceBoot)
        }
        questions.withLock { $0[sealed] = question }
        return question
    }

    private static func answer(
        to sealed: SealedByFIDO2, from door: any HardwareDoor
    ) -> Result<HardwareAnswer, HardwareError> {
        let request = HardwareRequest.secrets(sealed, next: nil, patience: touchPatience - HardwareProtocol.grace)
        do throws(HardwareError) { return .success(try door.ask(request, patience: touchPatience)) } catch {
            return .failure(error)
        }
    }

    private final class Question: Sendable {
        private struct Answer {
            let result: Result<HardwareAnswer, HardwareError>
            let moment: Duration
        }

        private let state = Mutex<Answer?>(nil)
        /// Readable from the answer on.
        private let answered: EventSignal

        init() throws(SystemCallError) { answered = try EventSignal() }

        func set(_ result: Result<HardwareAnswer, HardwareError>, at moment: Duration) {
            state.withLock { $0 = Answer(result: result, moment: moment) }
            answered.signal()
        }

        /// nil: not yet.
        func answer(within patience: Duration) -> Result<HardwareAnswer, HardwareError>? {
            do throws(SystemCallError) {
                _ = try wait(
                    for: answered.descriptor.raw, to: .receive, until: Deadline(after: patience, on: SystemClock()))
            } catch { return .failure(.failed("\(error)")) }
            return state.withLock { $0?.result }
        }

        /// Under way, or a secret that is fresh. What failed is asked again.
        func isWorthwhile(at now: Duration) -> Bool {
            state.withLock { answer in
                guard let answer else { return true }
                guard case .success(.secrets) = answer.result else { return false }
                return now - answer.moment < PatientHardware.life
            }
        }
    }
}
