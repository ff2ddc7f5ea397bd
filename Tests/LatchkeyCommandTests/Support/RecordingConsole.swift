import KeychainPlatform
import LatchkeyCommand
import Synchronization

/// A console that gives what it was made with and keeps what it is told.
final class RecordingConsole: Console, SecretLines {
    private struct Record {
        var output: [UInt8] = []
        var notes: [String] = []
        var prompts: [String] = []
        var drawn: [String] = []
    }

    let inputIsTerminal: Bool
    let outputIsTerminal: Bool
    let errorIsTerminal: Bool
    let screenColumns: Int?
    private let input: [UInt8]
    private let typed: String?
    private let typedFirst: Mutex<[String]>
    private let record = Mutex(Record())

    /// - Parameters:
    ///   - terminal: all three streams are one.
    ///   - inputTerminal, errorTerminal: that one is.
    ///   - typed: what a person types at a prompt; nil: end of file.
    ///   - typedFirst: what is typed before that, prompt by prompt.
    ///   - columns: of a terminal that takes commands; nil: this one takes none.
    init(
        input: [UInt8] = [], terminal: Bool = false, inputTerminal: Bool = false, errorTerminal: Bool = false,
        typed: String? = nil, typedFirst: [String] = [], columns: Int? = 80
    ) {
        self.typedFirst = Mutex(typedFirst)
        self.input = input
        self.typed = typed
        screenColumns = columns
        inputIsTerminal = terminal || inputTerminal
        outputIsTerminal = terminal
        errorIsTerminal = terminal || errorTerminal
    }

    var inputIsPiped: Bool { !inputIsTerminal && !input.isEmpty }
    var inputHoldsBytes: Bool { inputIsPiped }
    var output: [UInt8] { record.withLock(\.output) }
    var text: String { String(decoding: output, as: UTF8.self) }
    var notes: [String] { record.withLock(\.notes) }
    var drawn: [String] { record.withLock(\.drawn) }
    var prompts: [String] { record.withLock(\.prompts) }

    func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        input.count > limit ? nil : SecretBytes(copying: input)
    }

    func promptForSecret(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes {
        record.withLock { $0.prompts.append(prompt) }
        let next = typedFirst.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let typed = next ?? typed else { throw .canceled }
        return SecretBytes(copying: Array(typed.utf8))
    }

    func promptForSecretLines() -> any SecretLines { self }

    func nextLine(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes { try promptForSecret(prompt) }

    func promptForLine(_ prompt: String) -> String? {
        record.withLock { $0.prompts.append(prompt) }
        return typedFirst.withLock { $0.isEmpty ? nil : $0.removeFirst() } ?? typed
    }

    func write(_ text: String) throws(SystemCallError) {
        record.withLock { $0.output += Array(text.utf8) }
    }

    func write(_ secret: borrowing SecretBytes) throws(SystemCallError) {
        let bytes = secret.insecureArray()
        record.withLock { $0.output += bytes }
    }

    func draw(_ text: String) {
        record.withLock { $0.drawn.append(text) }
    }

    func note(_ line: String) {
        record.withLock { $0.notes.append(line) }
    }
}
