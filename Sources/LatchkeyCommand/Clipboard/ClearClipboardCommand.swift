internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform

/// The process that takes a secret off the clipboard again. `get --clip` starts it
/// with the secret's pipe, or the terminal, as descriptor 3.
struct ClearClipboardCommand: Verb {
    static let name = "__clear-clipboard"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var clipboard: String
    @Argument var time: ClipboardTime

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        do throws(SystemCallError) {
            try Hardening.apply()
            Hardening.ignoreBrokenPipes()
            guard let kept = Descriptor.inherited(3) else { return .usage }
            if clipboard == TerminalClipboard.name {
                try pause(surroundings)
                try TerminalClipboard.clear(kept)
                return .done
            }
            guard let display = DisplayClipboard(rawValue: clipboard),
                let secret = try kept.readSecret(atMost: ClipboardCopy.longest)
            else { return .usage }
            try pause(surroundings)
            // What somebody copied meanwhile is theirs.
            if try display.holds(secret) { try display.clear() }
            return .done
        } catch {
            throw CommandFailure(.unavailable, "the clipboard could not be cleared (\(error))", "Copy something else.")
        }
    }

    private func pause(_ surroundings: Surroundings) throws(SystemCallError) {
        let deadline = Deadline(after: .seconds(time.seconds), on: surroundings.configuration.clock)
        // Nothing signals it: what ends the wait is the time.
        let never = try EventSignal()
        _ = try wait(for: never.descriptor.raw, to: .receive, until: deadline)
    }
}

extension ClipboardTime: ExpressibleByArgument {}
