internal import KeychainPlatform

/// Where a secret can be pasted from.
enum Clipboard: Sendable {
    case display(DisplayClipboard)
    case terminal(Descriptor)

    var name: String {
        switch self {
        case .display(let display): display.rawValue
        case .terminal: TerminalClipboard.name
        }
    }

    /// What a person reads once a secret is copied. A terminal does not say whether it did.
    func told(for time: ClipboardTime) -> String {
        guard case .terminal = self else { return "Copied with \(name) for \(time.seconds) s." }
        let tmux = ProcessEnvironment.variable("TMUX") == nil ? "" : " (tmux: set-clipboard on)"
        return "The terminal was asked to copy it for \(time.seconds) s; some have to be told to\(tmux)."
    }

    /// What is there decides: over SSH the terminal, which is where the person is;
    /// else the display, else the terminal.
    struct Situation {
        /// Variables that are set and not empty.
        var variables: Set<String>
        /// Programs that are in PATH.
        var programs: Set<String>
        var terminal: Descriptor?

        var choice: Clipboard? {
            let isRemote = !variables.isDisjoint(with: ["SSH_CONNECTION", "SSH_TTY"])
            if isRemote, let terminal { return .terminal(terminal) }
            if variables.contains("WAYLAND_DISPLAY"), programs.isSuperset(of: ["wl-copy", "wl-paste"]) {
                return .display(.wayland)
            }
            if variables.contains("DISPLAY") {
                if programs.contains("xclip") { return .display(.xclip) }
                if programs.contains("xsel") { return .display(.xsel) }
            }
            return terminal.map { .terminal($0) }
        }

        static var now: Situation {
            let variables = ["SSH_CONNECTION", "SSH_TTY", "WAYLAND_DISPLAY", "DISPLAY"]
            let programs = ["wl-copy", "wl-paste", "xclip", "xsel"]
            return Situation(
                variables: Set(variables.filter { ProcessEnvironment.variable($0)?.isEmpty == false }),
                programs: Set(programs.filter { ProcessEnvironment.program($0) != nil }),
                terminal: Terminal.controlling)
        }
    }

    static func chosen() throws(CommandFailure) -> Clipboard {
        guard let choice = Situation.now.choice else {
            throw CommandFailure(
                .unavailable, "there is no clipboard: no terminal, and no display with a program that reaches it",
                "Install wl-clipboard (Wayland), xclip or xsel (X11), or run this on a terminal.")
        }
        return choice
    }
}
