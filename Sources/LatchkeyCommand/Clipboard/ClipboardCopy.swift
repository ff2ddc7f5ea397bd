internal import KeychainPlatform

/// A secret on the clipboard for a while.
struct ClipboardCopy {
    let clipboard: Clipboard
    let time: ClipboardTime

    /// xterm and its kin take sequences of about 100 kB; a clipboard is for less.
    static let longest = 74_994

    /// Copies it, and starts the process that takes it away again.
    func perform(_ secret: SharedSecret) throws(CommandFailure) {
        guard secret.bytes.count <= Self.longest else {
            throw CommandFailure(
                .usage, "the secret is longer than \(Self.longest) bytes, too long for a clipboard",
                "Use `latchkey get` without --clip.")
        }
        if case .display(let display) = clipboard, !display.carries(secret.bytes) {
            throw CommandFailure(
                .usage, "the secret has a byte 0 in it, which \(display.rawValue) cannot copy",
                "Install xclip, or use `latchkey get` without --clip.")
        }
        do throws(SystemCallError) {
            switch clipboard {
            case .terminal(let terminal):
                try terminal.write(TerminalClipboard.sequence(secret.bytes))
                try start(keeping: terminal)
            case .display(let display):
                try display.write(secret.bytes)
                try startWatching(secret)
            }
        } catch {
            throw CommandFailure(
                .unavailable, "the secret could not be copied with \(clipboard.name) (\(error))",
                "Check that it works here, or use `latchkey get` without --clip.")
        }
    }

    /// The secret goes through a pipe: no argument, no variable, no file. A pipe
    /// holds 64 KiB at least a part of it until the other side reads.
    private func startWatching(_ secret: SharedSecret) throws(SystemCallError) {
        Hardening.ignoreBrokenPipes()
        let pipe = try PipeEnds()
        try start(keeping: pipe.reading)
        try pipe.writing.write(secret.bytes)
    }

    private func start(keeping kept: Descriptor) throws(SystemCallError) {
        guard let program = ProcessEnvironment.executablePath else { throw .noProgram }
        try DaemonStarter.start(
            program, arguments: [ClearClipboardCommand.name, clipboard.name, "\(time.seconds)"],
            environment: DisplayClipboard.environment, keeping: kept)
    }
}

/// For how long a secret stays on the clipboard.
struct ClipboardTime: Sendable, Hashable {
    static let usualSeconds = 30
    static let usual = ClipboardTime(seconds: usualSeconds)
    let seconds: Int

    private init(seconds: Int) { self.seconds = seconds }

    init?(argument: String) {
        guard let seconds = Int(argument), (1...3600).contains(seconds) else { return nil }
        self.seconds = seconds
    }
}

/// The clipboard of whoever shows the terminal (OSC 52 of xterm's control
/// sequences). It cannot be read back.
enum TerminalClipboard {
    static let name = "terminal"

    /// ESC ] 52 ; c ; base64 BEL.
    static func sequence(_ secret: borrowing SecretBytes) -> SecretBytes {
        let open = "\u{1b}]52;c;"
        var writer = SecretWriter(byteCount: open.utf8.count + (secret.count + 2) / 3 * 4 + 1)
        writer.append(open)
        writer.appendBase64(secret)
        writer.append(UInt8(ascii: "\u{7}"))
        return writer.finish()
    }

    /// Many terminals take no notice of an empty content: a blank replaces it.
    static func clear(_ terminal: Descriptor) throws(SystemCallError) {
        try terminal.write(sequence(SecretBytes(copying: [UInt8(ascii: " ")])))
    }
}
