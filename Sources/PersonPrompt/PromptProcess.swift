package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What `latchkey-prompt` does: ask, on behalf of one process, what the enclave's
/// door would have a person be asked; then end.
package struct PromptProcess {
    private let door: any QuestionDoor
    private let watch: (any QuestionWatch)?
    private let caller: Int32
    private let record: Descriptor?
    private let places: PromptPlaces
    private let clock: any KeychainClock

    /// - Parameters:
    ///   - watch: of the same question, on a connection of its own; nil: nothing but what
    ///     is typed answers it.
    ///   - caller: the process that is waiting for the answer.
    ///   - record: its `/proc/PID/stat`, open.
    package init(
        door: any QuestionDoor, watch: (any QuestionWatch)? = nil, caller: Int32, record: Descriptor? = nil,
        places: PromptPlaces = PromptPlaces(),
        clock: any KeychainClock
    ) {
        self.record = record
        self.door = door
        self.watch = watch
        self.caller = caller
        self.places = places
        self.clock = clock
    }

    /// - Parameter end: readable once somebody wants this to end.
    /// - Throws: what the door throws, and `errSecNotAvailable` where the system
    ///   gives no descriptors.
    package func run(endedBy end: Descriptor) throws(KeychainError) -> ConversationOutcome {
        let conversation = PersonConversation(with: door, watch: watch, on: clock)
        let ways: PromptWays
        do throws(NobodyToAsk) {
            // The handle comes first: what is read then is of this process or of none.
            let handle = try Self.handle(of: caller)
            let place = try CallerPlace(of: caller, in: places, record: record)
            guard handle.isAlive else { throw NobodyToAsk("the program that asked has ended") }
            ways = try PromptWays(
                from: place, in: places, calledOffBy: [end, handle.end, watch?.descriptor].compactMap { $0 })
        } catch {
            return try conversation.hold(nobody: error)
        }
        return try conversation.hold(on: ways.screens)
    }

    private static func handle(of process: Int32) throws(NobodyToAsk) -> ProcessHandle {
        do throws(SystemCallError) { return try ProcessHandle.open(process) } catch {
            throw NobodyToAsk("the program that asked has ended")
        }
    }

    /// What this process does to itself before it holds a passcode, and what tells
    /// it to end (SIGTERM, SIGINT, SIGHUP).
    package static func prepare() throws(KeychainError) -> EventSignal {
        do throws(SystemCallError) {
            try Hardening.apply()
            Hardening.ignoreBrokenPipes()
            let end = try EventSignal()
            try TerminationSignals.notify(end)
            return end
        } catch {
            throw KeychainError(
                .notAvailable, reason: .internalFault(what: "the prompt cannot start"), underlying: "\(error)")
        }
    }
}
