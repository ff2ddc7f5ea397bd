package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol

/// Asks for the passcode on behalf of a program that found the keychain locked. The
/// enclave's own questions are for items of a keychain that is open.
///
/// What is typed opens the keychain for every program, as `latchkey unlock` does.
package final class UnlockQuestion: QuestionDoor {
    private let door: any PersonDoor
    private let caller: Int32
    private let places: PromptPlaces

    /// - Parameter caller: the process that wants it open; its word is not taken, but any
    ///   program of the user can have another ask.
    package init(_ door: any PersonDoor, for caller: Int32, in places: PromptPlaces = PromptPlaces()) {
        (self.door, self.caller, self.places) = (door, caller, places)
    }

    package func state() throws(KeychainError) -> DeviceState { try door.state() }

    /// nil once everything is open that a passcode opens.
    package func question() throws(KeychainError) -> PersonQuestion? {
        let state = try door.state()
        guard !state.isOpenForPrograms, state.hasPasscode else { return nil }
        // Looked at now: whoever asks holds the process by then (``PromptProcess``).
        let program = CallerFolder.program(of: caller, in: places)
        return PersonQuestion(
            purpose: .unlock, program: program ?? "", programStrength: program == nil ? .none : .user,
            programProcess: caller)
    }

    package func agree(with credential: PersonCredential) throws(KeychainError) { try door.unlock(with: credential) }

    /// It stays locked.
    package func decline(_ reason: Reason) {}
}
