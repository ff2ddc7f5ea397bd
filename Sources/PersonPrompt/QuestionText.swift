internal import KeychainModel
package import KeychainProtocol

/// A question in words, so that whoever reads it can tell whose word each part is.
///
/// The frame is ours: a column of names, a bar, and behind the bar, in quotation
/// marks, what somebody else chose. Lines are broken here, so that each of them
/// begins with our column; behind the bar nothing can look like a line of ours.
package struct QuestionText: Sendable {
    package let question: PersonQuestion
    package let repertoire: ForeignText.Repertoire
    /// Of a line in the place where it is shown.
    package let width: LineWidth

    package static let longestReason = 200

    /// Leaves room for "SETDESC " in a line of Assuan.
    private static let mostBytes = AssuanReader.longestLine - 8
    private static let nameWidth = 9

    package init(_ question: PersonQuestion, repertoire: ForeignText.Repertoire, width: LineWidth) {
        self.question = question
        self.repertoire = repertoire
        self.width = width
    }

    package func form(error: String? = nil) -> PromptForm {
        // Where nothing is typed there is nothing to confirm.
        let okay = question.finger == .alone ? "Cancel" : question.purpose == .unlock ? "Unlock" : "Allow"
        return PromptForm(description: description, error: error, okay: okay)
    }

    package var description: String {
        let facts = [heading] + items
        let who =
            question.program.isEmpty
            ? [] : fact("Program", question.program, 100, 160) + ownFact("Process", "\(question.programProcess)")
        let worth = named + (question.program.isEmpty ? [] : [Self.worth(of: question.programStrength)]) + finger
        guard !question.reason.isEmpty else { return Self.text(facts + who + worth) }
        // Its own words get what is left: they never push ours out.
        var bytes = Self.mostBytes
        while true {
            let words = fact("It says", question.reason, Self.longestReason, bytes)
            let text = Self.text(facts + who + words + worth + [Self.warning])
            let excess = AssuanCommand.byteCount(text) - Self.mostBytes
            if excess <= 0 || bytes == 0 { return text }
            bytes = max(0, min(bytes, words.reduce(0) { $0 + $1.utf8.count }) - excess)
        }
    }

    private static func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

    private static let warning = "What it says was not checked by anybody."

    /// What there is to do beside typing.
    private var finger: [String] {
        switch question.finger {
        case .none: []
        case .orPasscode: ["Type the passcode, or touch the fingerprint reader."]
        case .alone: ["Touch the fingerprint reader."]
        case .andPasscode: ["Type the passcode, and touch the fingerprint reader."]
        }
    }

    private var heading: String {
        switch question.purpose {
        case .unlock: question.program.isEmpty ? "Open your keychain?" : "A program needs your keychain open."
        case .useItem where question.itemCount > 1:
            "A program wants to use \(question.itemCount) items of your keychain."
        case .useItem: "A program wants to use an item of your keychain."
        case .agree: "A program wants you to agree to what it says."
        case .deputy:
            "A program wants to see and change the items of\nEVERY program, for 5 minutes in its terminal."
        case .deputyOnce: "A program wants to see and change the items of\nEVERY program, this once."
        }
    }

    /// What the daemon's word about the program is worth.
    private static func worth(of strength: IdentityStrength) -> String {
        switch strength {
        case .none: "The program hides: the keychain cannot tell which it is."
        case .user: "So says the keychain; another program of yours could pose as it."
        case .program: "The system vouches that it is this program."
        }
    }

    /// The items by name, as many as there is room for, and the groups that they are in.
    private var items: [String] {
        let shown = question.items
        guard shown.count > 1 else {
            return shown.flatMap { name("Item", $0.label, 72, 150) + fact("Group", $0.group, 60, 100) }
        }
        let more = question.itemCount - shown.count
        let groups = shown.map(\.group).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return list("Item", shown.map(\.label)) + (more > 0 ? ownFact("", "and \(more) more") : [])
            + list("Group", groups)
    }

    private func list(_ name: String, _ words: [String]) -> [String] {
        words.enumerated().flatMap { self.name($0.offset == 0 ? name : "", $0.element, 36, 50) }
    }

    /// A name of others, or our word that there is none.
    private func name(_ name: String, _ words: String, _ characters: Int, _ bytes: Int) -> [String] {
        words.isEmpty ? ownFact(name, "(without a name)") : fact(name, words, characters, bytes)
    }

    /// Whose word the names of the items are, where they are not what was stored.
    private var named: [String] {
        question.items.isEmpty || question.itemsAreBound ? [] : ["The item was stored before names were checked."]
    }

    // MARK: Facts

    private func ownFact(_ name: String, _ text: String) -> [String] { [Self.column(name) + text] }

    private static func column(_ name: String) -> String {
        name + String(repeating: " ", count: nameWidth - name.count) + "| "
    }

    /// Words of others behind a name of ours.
    private func fact(_ name: String, _ words: String, _ characters: Int, _ bytes: Int) -> [String] {
        guard !words.isEmpty else { return [] }
        let clean = ForeignText(words, characters: characters, bytes: max(0, bytes), repertoire).text
        let quoted = repertoire.opening + clean + repertoire.closing
        let lines = LineBreaking.lines(of: quoted, within: width.room(behind: Self.nameWidth + 2), width)
        return lines.enumerated().map { Self.column($0.offset == 0 ? name : "") + $0.element }
    }
}
