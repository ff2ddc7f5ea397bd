internal import LatchkeyCommand
internal import Synchronization

/// How far something is, on a terminal's standard error; elsewhere nothing.
final class ProgressBar: Sendable {
    private static let width = 30

    private let console: any Console
    private let title: String
    /// Hundredths that were drawn last.
    private let drawn = Mutex(-1)

    init(_ title: String, on console: any Console) {
        self.console = console
        self.title = title
    }

    /// Draws where a hundredth more is done than before.
    func show(_ done: Int, of total: Int) {
        guard console.errorIsTerminal, total > 0 else { return }
        let hundredths = done * 100 / total
        drawn.withLock { last in
            guard hundredths > last else { return }
            last = hundredths
            let filled = hundredths * Self.width / 100
            let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: Self.width - filled)
            console.draw("\(title) [\(bar)] \(done) of \(total)")
        }
    }

    func clear() {
        if console.errorIsTerminal { console.draw("") }
    }
}
