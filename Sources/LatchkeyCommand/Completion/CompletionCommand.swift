internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct CompletionCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Write the script that completes commands, options, services and accounts in a shell.",
        discussion: """
            Services and accounts come from the running daemon; where none runs none is started, and \
            only commands and options are completed. No secret is read.

            EXAMPLES
              source <(latchkey completion bash)              # in ~/.bashrc
              latchkey completion zsh > ~/.zfunc/_latchkey    # a folder of $fpath
              latchkey completion fish > ~/.config/fish/completions/latchkey.fish
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let script =
            switch shell {
            case .bash: CompletionScript.bash
            case .zsh: CompletionScript.zsh
            case .fish: CompletionScript.fish
            }
        try printing { () throws(SystemCallError) in try surroundings.console.write(script) }
        return .done
    }
}

/// What the scripts call with the words before the cursor: writes a candidate a
/// line. Never starts a daemon, never waits long, never fails.
struct CompleteCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "__complete", shouldDisplay: false)
    private static let patience = Duration.seconds(1)

    @Argument(parsing: .postTerminator) var words: [String] = []

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let line = CompletionLine(words, verbs: VerbWords.all)
        var found: [String] = []
        switch line.wanted {
        case .words(let words): found = words
        case .services: found = names(nil, line, surroundings).map(\.service)
        case .accounts(let service): found = names(service, line, surroundings).map(\.account)
        case .nothing: break
        }
        // A name that would move a cursor or end a line is not for a command line.
        let shown = Set(found).filter {
            $0.hasPrefix(line.current) && !$0.isEmpty && PrintableText.escaped($0) == $0
                && !(line.wanted.isOfItems && line.takesOptions && $0.hasPrefix("-"))
        }
        let text = shown.sorted().map { "\($0)\n" }.joined()
        try printing { () throws(SystemCallError) in try surroundings.console.write(text) }
        return .done
    }

    private func names(
        _ service: String?, _ line: CompletionLine, _ surroundings: Surroundings
    ) -> [StoredItem] {
        do throws(CommandFailure) {
            let keychain = try CommandKeychain.open(in: surroundings) {
                surroundings.runningKeychain(line.dataDirectory, patience: Self.patience)
            }
            return try keychain.list(service: service).items
        } catch {
            // Whoever presses Tab is not told of a keychain that does not answer.
            return []
        }
    }
}

/// A command's name and options, as its help lists them.
struct VerbWords: Sendable {
    let name: String
    let options: [String]
    /// Those that are followed by a value.
    let valued: Set<String>
    /// What may follow its name, each with options of its own.
    let verbs: [VerbWords]

    init(name: String, help: String, verbs: [VerbWords] = []) {
        self.name = name
        self.verbs = verbs
        var options: [String] = []
        var valued: Set<String> = []
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            let words = line.split(separator: " ").map { $0.filter { $0 != "," } }
            for (index, word) in words.enumerated() where word.hasPrefix("--") {
                options.append(word)
                if index + 1 < words.count, words[index + 1].hasPrefix("<") { valued.insert(word) }
                break
            }
        }
        self.options = options
        self.valued = valued
    }

    static var all: [VerbWords] { below(Latchkey.self) }

    private static func below(_ command: any ParsableCommand.Type) -> [VerbWords] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { verb in
            VerbWords(
                name: verb.configuration.commandName ?? "", help: Latchkey.helpMessage(for: verb, columns: 200),
                verbs: below(verb))
        }
    }
}

/// The words on a command line up to the cursor, and what may stand there.
struct CompletionLine: Sendable {
    enum Wanted: Sendable, Hashable {
        case words([String])
        case services
        case accounts(of: String)
        case nothing

        var isOfItems: Bool {
            switch self {
            case .services, .accounts: true
            case .words, .nothing: false
            }
        }
    }

    let current: String
    let wanted: Wanted
    let dataDirectory: String?
    /// Whether a word with a hyphen in front is an option: no -- came before it.
    let takesOptions: Bool

    private static let rootOptions = ["--data-dir", "--help", "--version"]
    private static let takingNames: [String: Int] = [
        "set": 2, "get": 2, "info": 2, "edit": 2, "rm": 2, "list": 1, "note": 1,
    ]

    init(_ words: [String], verbs: [VerbWords]) {
        current = words.last ?? ""
        var verb: VerbWords?
        var names: [String] = []
        var waiting: String?
        var dataDirectory: String?
        var isOver = false
        var isElsewhere = false
        for word in words.dropLast() {
            if let option = waiting {
                if option == "--data-dir" { dataDirectory = word }
                waiting = nil
            } else if isOver {
                names.append(word)
            } else if word == "--" {
                isOver = true
            } else if word.hasPrefix("-") {
                if Self.isElsewhere(word, verb?.name) { isElsewhere = true }
                if word.hasPrefix("--data-dir=") { dataDirectory = String(word.dropFirst("--data-dir=".count)) }
                if word == "--data-dir" || verb?.valued.contains(word) == true && !OptionalValue.contains(word) {
                    waiting = word
                }
            } else if verb == nil {
                verb = verbs.first { $0.name == word } ?? VerbWords(name: word, help: "")
            } else if names.isEmpty, let inner = verb?.verbs.first(where: { $0.name == word }) {
                verb = inner
            } else {
                names.append(word)
            }
        }
        self.dataDirectory = dataDirectory
        takesOptions = !isOver
        let wanted: Wanted =
            if waiting != nil { .nothing } else if isOver { Self.items(verb, names) } else {
                Self.wanted(current, verb, names, verbs)
            }
        self.wanted = isElsewhere && wanted.isOfItems ? .nothing : wanted
    }

    /// Whether names are those of other programs' items, for which nobody is asked
    /// while a word is typed.
    private static func isElsewhere(_ word: String, _ verb: String?) -> Bool {
        word == "--group" || word.hasPrefix("--group=") || word == "--all-groups" || word == "--all" && verb != "rm"
    }

    private static func wanted(
        _ current: String, _ verb: VerbWords?, _ names: [String], _ verbs: [VerbWords]
    ) -> Wanted {
        guard let verb else {
            return .words(current.hasPrefix("-") ? rootOptions : verbs.map(\.name) + ["help"])
        }
        if current.hasPrefix("-") { return .words(verb.options) }
        if !verb.verbs.isEmpty { return names.isEmpty ? .words(verb.verbs.map(\.name)) : .nothing }
        switch (verb.name, names.count) {
        case ("completion", 0): return .words(CompletionCommand.Shell.allCases.map(\.rawValue))
        case ("help", 0): return .words(verbs.map(\.name))
        default: return items(verb, names)
        }
    }

    private static func items(_ verb: VerbWords?, _ names: [String]) -> Wanted {
        switch (verb.flatMap { takingNames[$0.name] } ?? 0, names.count) {
        case (1..., 0): .services
        case (2..., 1): .accounts(of: names[0])
        default: .nothing
        }
    }
}
