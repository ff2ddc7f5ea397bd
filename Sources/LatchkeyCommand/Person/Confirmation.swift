/// A person agrees to what cannot be undone, by typing a word; elsewhere an option
/// says so.
struct Confirmation {
    let console: any Console
    /// --yes was given.
    let isGiven: Bool

    /// - Parameters:
    ///   - loss: what is lost, as a sentence without its full stop.
    ///   - word: what is to be typed.
    func require(_ loss: String, word: String) throws(CommandFailure) {
        if isGiven { return }
        guard console.inputIsTerminal else {
            throw CommandFailure(
                .usage, "\(loss), and nobody can be asked; nothing was changed", "Add --yes to do it.")
        }
        guard console.promptForLine("\(loss). Type \(word) to go on: ") == word else {
            throw CommandFailure(.usage, "nothing was changed", "Type \(word), or add --yes.")
        }
    }
}
