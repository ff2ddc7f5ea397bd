internal import ArgumentParser

/// Whether a person asked for help, and of which command.
enum HelpRequest {
    private static let words: Set = ["-h", "--help", "-help", "--help-hidden", "--version"]
    /// What the parser answers by itself, with a text and success.
    private static let own: Set = ["--generate-completion-script", "--experimental-dump-help"]

    /// - Throws: where nobody asked for help, or for that of a command that there is not.
    static func check(_ arguments: [String]) throws(CommandFailure) {
        if let unknown = unknownCommand(in: arguments) { throw .noCommand(unknown) }
        guard isOne(arguments) else { throw .nameWithHyphen }
    }

    private static func isOne(_ arguments: [String]) -> Bool {
        verbs(arguments).first == "help" || options(arguments).contains { word in
            words.contains(word) || own.contains { word.hasPrefix($0) }
        }
    }

    /// What `latchkey help …` names that is no command.
    private static func unknownCommand(in arguments: [String]) -> String? {
        let names = verbs(arguments)
        guard names.first == "help" else { return nil }
        var commands = Latchkey.configuration.subcommands
        for name in names.dropFirst() {
            guard let command = commands.first(where: { $0._commandName == name }) else { return name }
            commands = command.configuration.subcommands
        }
        return nil
    }

    /// The first word, where it is no command.
    static func unknownVerb(in arguments: [String]) -> String? {
        guard let verb = verbs(arguments).first, verb != "help" else { return nil }
        return Latchkey.configuration.subcommands.contains { $0._commandName == verb } ? nil : verb
    }

    /// The command that is meant most likely: what differs from it by one letter that is
    /// missing, added, another or at its neighbour's place.
    static func likely(_ verb: String) -> String? {
        let names = Latchkey.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        return names.first { isNear(Array(verb), Array($0)) }
    }

    private static func isNear(_ one: [Character], _ other: [Character]) -> Bool {
        let same = zip(one, other).prefix { $0 == $1 }.count
        let (left, right) = (one[same...], other[same...])
        return left.dropFirst().elementsEqual(right) || left.elementsEqual(right.dropFirst())
            || left.dropFirst().elementsEqual(right.dropFirst())
            || (left.count >= 2 && right.count >= 2 && left.prefix(2).reversed().elementsEqual(right.prefix(2))
                && left.dropFirst(2).elementsEqual(right.dropFirst(2)))
    }

    private static func options(_ arguments: [String]) -> ArraySlice<String> {
        arguments[..<(arguments.firstIndex(of: "--") ?? arguments.endIndex)]
    }

    /// The words that are no options, without the value of --data-dir.
    private static func verbs(_ arguments: [String]) -> [String] {
        var found: [String] = []
        var words = options(arguments)
        while let word = words.popFirst() {
            if word == "--data-dir" { words = words.dropFirst() } else if !word.hasPrefix("-") { found.append(word) }
        }
        return found
    }
}

extension CommandFailure {
    static let nameWithHyphen = CommandFailure(
        .usage, "a word with a hyphen before it is an option, and this one is none",
        "Where it is a name, put -- before it: latchkey get -- -NAME")

    static func noCommand(_ name: String) -> CommandFailure {
        let advice = HelpRequest.likely(name).map { "Do you mean \($0)? " } ?? ""
        return CommandFailure(
            .usage, "there is no command \u{201c}\(PrintableText.escaped(name))\u{201d}",
            "\(advice)`latchkey --help` lists them.")
    }
}
