/// The state of the incremental finder: what was typed, which names match, which
/// is chosen. Knows nothing of terminals and secrets.
package struct Finder: Sendable {
    package enum Event: Sendable, Hashable {
        case key(FinderKey)
        case resized(columns: Int, rows: Int)
        /// A secret has been shown for long enough.
        case timeUp
    }

    /// What is to be done about an event; entries by their number.
    package enum Action: Sendable, Hashable {
        case draw
        case reveal(Int)
        case copy(Int)
        case leave
        case nothing
    }

    private enum Mode: Sendable {
        case browsing
        case revealing
    }

    private let entries: [String]
    private let keys: [[UInt8]]
    /// One list for each letter typed, so that a further letter looks only at what
    /// matched before and erasing one looks at nothing.
    private var matches: [[Int]]
    private var typed: [Character] = []
    private var chosen = 0
    private var top = 0
    private var columns = 80
    private var rows = 24
    private var mode = Mode.browsing
    package var message = ""

    /// How many entries key strokes have looked at (the bound of their work).
    package private(set) var looks = 0

    /// - Parameter entries: as they are shown and searched.
    package init(_ entries: [String]) {
        self.entries = entries
        keys = entries.map { Array($0.lowercased().utf8) }
        matches = [Array(entries.indices)]
    }

    package var query: String { String(typed) }
    package var found: [Int] { matches[matches.count - 1] }
    package var choice: Int? { found.indices.contains(chosen) ? found[chosen] : nil }

    package mutating func handle(_ event: Event) -> Action {
        switch (mode, event) {
        case (_, .resized(let columns, let rows)):
            (self.columns, self.rows) = (max(20, columns), max(4, rows))
            scroll()
            // Whatever the terminal made of it: no secret stays on it.
            mode = .browsing
            return .draw
        case (.revealing, .key(.leave)), (.revealing, .key), (.revealing, .timeUp):
            mode = .browsing
            return .draw
        case (.browsing, .timeUp): return .nothing
        case (.browsing, .key(let key)): return press(key)
        }
    }

    private mutating func press(_ key: FinderKey) -> Action {
        message = ""
        switch key {
        case .text(let text): type(text)
        case .erase: erase()
        case .eraseAll: while !typed.isEmpty { erase() }
        case .up: chosen = max(0, chosen - 1)
        case .down: chosen = min(max(0, found.count - 1), chosen + 1)
        case .pageUp: chosen = max(0, chosen - listRows)
        case .pageDown: chosen = min(max(0, found.count - 1), chosen + listRows)
        case .leave: return .leave
        case .copy: return choice.map { .copy($0) } ?? .nothing
        case .enter:
            guard let choice else { return .nothing }
            mode = .revealing
            return .reveal(choice)
        }
        scroll()
        return .draw
    }

    // MARK: Searching

    private mutating func type(_ text: String) {
        for character in text {
            typed.append(character)
            let words = query.lowercased().split(separator: " ").map { Array($0.utf8) }
            looks += found.count
            matches.append(found.filter { entry in words.allSatisfy { Self.contains(keys[entry], $0) } })
        }
        chosen = 0
    }

    private mutating func erase() {
        guard typed.popLast() != nil else { return }
        matches.removeLast()
        chosen = 0
    }

    private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        guard word.count <= text.count else { return false }
        let first = word[0]
        for start in 0...(text.count - word.count)
        where text[start] == first && text[start..<start + word.count] == word[...] { return true }
        return false
    }

    // MARK: Showing

    private var listRows: Int { rows - 2 }

    private mutating func scroll() {
        if chosen < top { top = chosen }
        if chosen >= top + listRows { top = chosen - listRows + 1 }
    }

    /// The lines of the screen, without control characters; the chosen one is marked.
    package var screen: [String] {
        let shown = found.dropFirst(top).prefix(listRows).enumerated().map { row, entry in
            (top + row == chosen ? "> " : "  ") + entries[entry]
        }
        let empty = found.isEmpty ? ["  nothing has that name"] : []
        let help =
            message.isEmpty
            ? "\(found.count) of \(entries.count)  Enter shows, Ctrl-Y copies, Esc leaves" : message
        return [searchLine]
            + (shown + empty + [help]).map { TextColumns.beginning(of: $0, columns: columns) }
    }

    /// The column behind what was typed, from 1 on, where the cursor stands.
    package var cursorColumn: Int { min(TextColumns.count(searchLine) + 1, columns) }

    /// Of what is too long the end is seen, where the next letter goes.
    private var searchLine: String {
        let label = "find: "
        // One column is the cursor's.
        let room = columns - label.utf8.count - 1
        return label + TextColumns.end(of: PrintableText.escaped(query), columns: room)
    }
}
