internal import ArgumentParser

/// One of the words after `latchkey`.
protocol Verb: ParsableCommand {
    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus
}

/// Options that every verb but `temp` takes, before or after its name.
struct StoreOptions: ParsableArguments {
    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp("Use the store in this folder instead of the user's own.", valueName: "dir"))
    var dataDirectory: String?

    mutating func validate() throws {
        if dataDirectory?.isEmpty == true { throw ValidationError("--data-dir needs the path of a folder.") }
    }
}
