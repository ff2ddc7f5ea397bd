@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// The person at the terminal.
package enum Terminal {
    /// Why there is no secret.
    package enum Refusal: Error, Hashable, Sendable {
        /// End of file instead of a line.
        case canceled
        case tooLong
        case system(SystemCallError)
    }

    /// One line typed without echo, without its newline.
    package static func readSecret(prompt: String) throws(Refusal) -> SecretBytes {
        try HiddenLines().nextLine(prompt)
    }

    /// One line as it was typed, or nil at end of file.
    package static func readLine(prompt: String) -> String? {
        let terminal = controlling
        let output = terminal?.raw ?? StandardStream.error.rawValue
        _ = unsafe Array(prompt.utf8).withUnsafeBytes { unsafe write(output, $0.baseAddress, $0.count) }
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(terminal?.raw ?? StandardStream.input.rawValue, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// The terminal of this session, if it has one: /dev/tty, so that a prompt is
    /// seen also where the output goes elsewhere.
    package static var controlling: Descriptor? {
        let raw = unsafe lk_open("/dev/tty", O_RDWR | O_NOCTTY, 0)
        return raw >= 0 ? Descriptor(owning: raw) : nil
    }
}
