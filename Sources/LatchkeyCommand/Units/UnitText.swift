/// How words stand in unit files: systemd.unit(5), systemd.service(5).
enum UnitText {
    /// systemd.unit(5), "Specifiers".
    static func literal(_ path: String) -> String { path.replacing("%", with: "%%") }

    /// systemd.service(5), "Command lines".
    static func quoted(_ word: String) -> String {
        "\"" + word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Variables are looked for in every word but that of the program.
    static func argument(_ word: String) -> String { quoted(word).replacing("$", with: "$$") }

    static func canHold(_ path: String) -> Bool { path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// systemd takes no program with some others in its path (basic/string-util.c,
    /// string_is_safe).
    static func canHold(program path: String) -> Bool { canHold(path) && !path.contains { "\"'\\".contains($0) } }
}
