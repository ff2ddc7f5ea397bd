internal import KeychainPlatform

/// The clipboard of a display, by one of the programs that reach it.
enum DisplayClipboard: String, Sendable, CaseIterable {
    case wayland = "wl-copy"
    case xclip
    case xsel

    /// A program whose display does not answer is not waited for.
    private static let patience = Duration.seconds(5)

    /// What such programs need to find their display, and nothing else.
    static var environment: [String] {
        let names = ["PATH", "HOME", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY"]
        return names.compactMap { name in ProcessEnvironment.variable(name).map { "\(name)=\($0)" } }
    }

    /// xsel keeps what it is given as C's text, which a byte 0 ends.
    func carries(_ secret: borrowing SecretBytes) -> Bool {
        let hasZero = unsafe secret.withUnsafeBytes { unsafe $0.contains(0) }
        return self != .xsel || !hasZero
    }

    func write(_ secret: borrowing SecretBytes) throws(SystemCallError) { try feed(writer, secret) }

    func clear() throws(SystemCallError) { try feed(clearer, SecretBytes(count: 0)) }

    /// Whether exactly this is on it.
    func holds(_ secret: borrowing SecretBytes) throws(SystemCallError) -> Bool {
        do throws(ToolRun.Failure) {
            let read = try run(reader, input: SecretBytes(count: 0), output: .upTo(secret.count))
            return read.status == 0 && read.output.isEqual(to: secret)
        } catch {
            // What is longer is not ours.
            guard error != .tooMuchOutput else { return false }
            throw error.systemCall(reader[0])
        }
    }

    private func feed(_ words: [String], _ input: borrowing SecretBytes) throws(SystemCallError) {
        let status: Int32
        do throws(ToolRun.Failure) {
            status = try run(words, input: input, output: .ignored).status
        } catch {
            throw error.systemCall(words[0])
        }
        guard status == 0 else { throw .failed(words[0]) }
    }

    private func run(
        _ words: [String], input: borrowing SecretBytes, output: ToolRun.Output
    ) throws(ToolRun.Failure) -> ToolRun {
        guard let path = ProcessEnvironment.program(words[0]) else { throw .system(.noProgram) }
        return try ToolRun.run(
            path, Array(words.dropFirst()), environment: Self.environment, input: input, output: output,
            patience: .until(Deadline(after: Self.patience, on: SystemClock())))
    }

    // MARK: Their words

    private var writer: [String] {
        switch self {
        case .wayland: ["wl-copy", "--type", "text/plain;charset=utf-8"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    private var reader: [String] {
        switch self {
        case .wayland: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    private var clearer: [String] {
        switch self {
        case .wayland: ["wl-copy", "--clear"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }
}
