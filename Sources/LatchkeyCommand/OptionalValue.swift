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

    /// The first word that is neither --data-dir nor its value.
    private static func verb(of arguments: [String]) -> String? {
        var words = arguments[...]
        while let word = words.popFirst() {
            if word == "--data-dir" { words = words.dropFirst() } else if !word.hasPrefix("-") { return word }
        }
        return nil
    }
}
