@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Lines that a person types one after the other, unseen.
package protocol SecretLines {
    /// One line typed without echo, without its newline.
    func nextLine(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes
}

/// Lines from the terminal: its echo is away from the first line until this is gone, so
/// that a paste of many lines neither shows nor loses one.
@safe package final class HiddenLines: SecretLines {
    /// A terminal in its usual mode takes lines of 4095 bytes and drops the rest
    /// in silence (termios(3), "Canonical and noncanonical mode").
    private static let longestLine = 4095

    private let terminal = Terminal.controlling
    private let input: OpaquePointer

    package init() {
        unsafe input = lk_hidden_input_begin(
            terminal?.raw ?? StandardStream.input.rawValue, terminal?.raw ?? StandardStream.error.rawValue)
    }

    deinit { unsafe lk_hidden_input_end(input) }

    package func nextLine(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes {
        var line = SecretBytes(count: Self.longestLine)
        let count = unsafe line.withUnsafeMutableBytes { space in
            unsafe lk_hidden_input_line(
                input, prompt, space.baseAddress!.assumingMemoryBound(to: CChar.self), space.count)
        }
        if count == -Int64(ECANCELED) { throw .canceled }
        guard count != -Int64(E2BIG), count < Self.longestLine else { throw .tooLong }
        guard count >= 0 else { throw .system(SystemCallError("read the terminal", errno: Int32(-count))) }
        line.truncate(to: Int(count))
        return line
    }
}
