internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// `latchkey` without a command, on a terminal: find an item by typing, show or
/// copy its secret.
struct FinderProgram {
    private let keychain: CommandKeychain
    private let items: [StoredItem]
    private let mayLackItems: Bool
    private let clock: any KeychainClock

    /// A secret is hidden again after this time, or with the next key.
    private static let shownFor = Duration.seconds(10)
    /// A key's bytes come together, but for a slow line.
    private static let keyTime = Duration.milliseconds(50)
    private static let noHurry = Duration.seconds(86_400)

    init(_ keychain: CommandKeychain, on clock: any KeychainClock) throws(CommandFailure) {
        self.keychain = keychain
        self.clock = clock
        let found = try keychain.list(service: nil)
        (items, mayLackItems) = (found.items, found.mayLackItems)
    }

    /// Whether the person's terminal is one that can show it.
    static func terminal(for console: any Console) -> Descriptor? {
        guard console.inputIsTerminal, console.outputIsTerminal else { return nil }
        guard let kind = ProcessEnvironment.variable("TERM"), !["", "dumb"].contains(kind) else { return nil }
        return Terminal.controlling
    }

    func run(on descriptor: Descriptor) throws(CommandFailure) -> ExitStatus {
        let ending: Int32?
        do throws(SystemCallError) {
            ending = try loop(on: try RawTerminal.taking(descriptor))
        } catch {
            throw CommandFailure(.unavailable, "the terminal failed (\(error))", "Try again, or use `latchkey get`.")
        }
        if let ending { RawTerminal.end(by: ending) }
        return .done
    }

    /// The signal that ended it, or nil.
    private func loop(on terminal: consuming RawTerminal) throws(SystemCallError) -> Int32? {
        var finder = Finder(items.map { $0.line })
        if mayLackItems { finder.message = "Items may be missing: latchkey doctor says more." }
        var keys = FinderKeys()
        var hiding: Deadline?
        _ = finder.handle(.resized(columns: terminal.size.columns, rows: terminal.size.rows))
        try draw(finder, terminal)
        while true {
            let wait = keys.isWaiting ? Deadline(after: Self.keyTime, on: clock) : hiding
            var events: [Finder.Event] = []
            switch try terminal.next(until: wait ?? Deadline(after: Self.noHurry, on: clock)) {
            case .bytes(let bytes): events = keys.take(bytes).map { .key($0) }
            case .resized: events = [.resized(columns: terminal.size.columns, rows: terminal.size.rows)]
            case .timedOut: events = keys.isWaiting ? keys.end().map { .key($0) } : [.timeUp]
            case .signal(let number): return number
            case .hungUp: return nil
            }
            for event in events {
                let action = finder.handle(event)
                if action == .leave { return nil }
                if action != .nothing { hiding = nil }
                if case .reveal = action { hiding = Deadline(after: Self.shownFor, on: clock) }
                try perform(action, &finder, terminal)
            }
        }
    }

    private func perform(
        _ action: Finder.Action, _ finder: inout Finder, _ terminal: borrowing RawTerminal
    ) throws(SystemCallError) {
        switch action {
        case .draw: try draw(finder, terminal)
        case .reveal(let number):
            do throws(CommandFailure) {
                try show(items[number], try value(of: items[number]), terminal)
            } catch { try fail(error, &finder, terminal) }
        case .copy(let number):
            do throws(CommandFailure) {
                let clipboard = try Clipboard.chosen()
                try ClipboardCopy(clipboard: clipboard, time: .usual).perform(value(of: items[number]))
                finder.message = clipboard.told(for: .usual)
                try printing { () throws(SystemCallError) in try draw(finder, terminal) }
            } catch { try fail(error, &finder, terminal) }
        case .leave, .nothing: break
        }
    }

    /// Of a one-time secret the code of this moment, which is what it is for.
    private func value(of item: StoredItem) throws(CommandFailure) -> SharedSecret {
        guard Sibling.oneTimeSecret.isOne(item) else { return try keychain.value(of: item) }
        return try OneTimeLookup.answer(from: item, in: keychain, at: clock).code
    }

    private func fail(
        _ failure: CommandFailure, _ finder: inout Finder, _ terminal: borrowing RawTerminal
    ) throws(SystemCallError) {
        _ = finder.handle(.timeUp)
        finder.message = PrintableText.escaped(failure.lines.first ?? "")
        try draw(finder, terminal)
    }

    // MARK: Drawing

    private func draw(_ finder: Finder, _ terminal: borrowing RawTerminal) throws(SystemCallError) {
        // Home, each line and what was behind it, then everything below; back to what is
        // typed. What is counted too narrow must not go on in the next line.
        let lines = finder.screen.map { "\($0)\u{1b}[K" }.joined(separator: "\r\n")
        try terminal.write("\u{1b}[?7l\u{1b}[H\(lines)\u{1b}[J\u{1b}[1;\(finder.cursorColumn)H")
    }

    private func show(
        _ item: StoredItem, _ secret: SharedSecret, _ terminal: borrowing RawTerminal
    ) throws(CommandFailure) {
        try printing { () throws(SystemCallError) in
            // A secret is shown to its end, however long its lines are.
            try terminal.write("\u{1b}[H\u{1b}[J\u{1b}[?7h\(item.displayName)  (any key hides it)\r\n\r\n")
            try terminal.write(ShownSecret.text(of: secret.bytes))
        }
    }
}

extension StoredItem {
    /// As the finder shows and searches it.
    fileprivate var line: String {
        let title = label.map { "  \(PrintableText.escaped($0))" } ?? ""
        return displayName + title
    }
}

/// A secret as a raw terminal may show it.
enum ShownSecret {
    /// ASCII as it is, lines as lines, everything else as <hex digits>.
    static func text(of secret: borrowing SecretBytes) -> SecretBytes {
        var writer = SecretWriter(byteCount: count(of: secret))
        for index in 0..<secret.count {
            let byte = unsafe secret.withUnsafeBytes { unsafe $0[index] }
            switch byte {
            case UInt8(ascii: "\n"): writer.append("\r\n")
            case 0x20..<0x7f: writer.append(byte)
            default: writer.append("<" + PrintableText.hex(UInt32(byte), digits: 2) + ">")
            }
        }
        return writer.finish()
    }

    private static func count(of secret: borrowing SecretBytes) -> Int {
        unsafe secret.withUnsafeBytes { bytes in
            unsafe bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 2 : (0x20..<0x7f).contains($1) ? 1 : 4) }
        }
    }
}
