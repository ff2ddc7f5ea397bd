/// Options whose value may be left out (`--generate`, `--generate=words`). The
/// parser would take the next word for it, so what is meant is filled in before.
///
/// Only a value behind an equals sign counts, as with `ls --color`.
enum OptionalValue {
    private static let usual = [
        "set": ["--generate": "apple"], "get": ["--clip": "\(ClipboardTime.usualSeconds)"],
    ]

    static func contains(_ option: String) -> Bool { usual.values.contains { $0[option] != nil } }

    static func filled(_ arguments: [String]) -> [String] {
        guard let verb = verb(of: arguments), let options = usual[verb] else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { word in options[word].map { "\(word)=\($0)" } ?? word } + arguments[end...]
    }

    /// Refuses a value that stands behind such an option without an equals sign: it would be
    /// the name of a service or an account. It is not repeated: it may be somebody's PIN.
    static func misplaced(in arguments: [String]) -> CommandFailure? {
        guard let verb = verb(of: arguments), let options = usual[verb] else { return nil }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        for (word, next) in zip(arguments[..<end], arguments[..<end].dropFirst())
        where options[word] != nil && isValue(next) {
            return CommandFailure(
                .usage, "\(word) has its value behind an equals sign; nothing was done",
                "Write \(word)=VALUE or, where it is a name, put it before the option.")
        }
        return nil
    }

    private static func isValue(_ word: String) -> Bool {
        let isNumber = !word.isEmpty && word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return ["apple", "words"].contains(word) || isNumber
    }

    /// The first word that is neither --data-dir nor its value.
    private static func verb(of arguments: [String]) -> String? {
        var words = arguments[...]
        while let word = words.popFirst() {
            if word == "--data-dir" { words = words.dropFirst() } else if !word.hasPrefix("-") { return word }
        }
        return nil
    }
}
