/// A key as the finder knows it.
package enum FinderKey: Sendable, Hashable {
    case text(String)
    case up, down, pageUp, pageDown
    case erase, eraseAll
    case enter, copy, leave

    var isText: Bool { if case .text = self { true } else { false } }
}

/// Makes keys of the bytes that a terminal sends, which may come in pieces.
package struct FinderKeys: Sendable {
    private var rest: [UInt8] = []
    /// Between the marks that a terminal puts around what is pasted.
    private var isPasting = false
    private static let escape: UInt8 = 0x1b

    package init() {}

    /// Whether an escape has come that may yet be the beginning of a key.
    package var isWaiting: Bool { !rest.isEmpty }

    package mutating func take(_ bytes: [UInt8]) -> [FinderKey] {
        rest += bytes
        var keys: [FinderKey] = []
        while let (key, count) = Self.first(of: rest) {
            switch Array(rest.prefix(count)) {
            case Self.pasteBegins: isPasting = true
            case Self.pasteEnds: isPasting = false
            default: if let key, !isPasting || key.isText { keys.append(key) }
            }
            rest.removeFirst(count)
        }
        return keys
    }

    /// Bracketed paste (xterm's control sequences): what is pasted is text, and its line ends
    /// are no Enter, which would show a secret.
    private static let pasteBegins = Array("\u{1b}[200~".utf8)
    private static let pasteEnds = Array("\u{1b}[201~".utf8)

    /// Nothing more came: an escape was the key itself.
    package mutating func end() -> [FinderKey] {
        // On a slow line the mark that ends a paste comes in pieces: what was pasted goes on.
        guard !isPasting else { return [] }
        defer { rest = [] }
        return rest.first == Self.escape ? [.leave] : []
    }

    /// The first key and its bytes; nil where more have to come.
    private static func first(of bytes: [UInt8]) -> (FinderKey?, Int)? {
        guard let byte = bytes.first else { return nil }
        if byte == escape { return sequence(bytes) }
        if let key = controls[byte] { return (key, 1) }
        if byte < 0x20 { return (nil, 1) }
        let count = byteCount(from: byte)
        guard bytes.count >= count else { return nil }
        return (String(validating: bytes[..<count], as: UTF8.self).map { .text($0) }, count)
    }

    /// Of a character in UTF-8, by its first byte.
    private static func byteCount(from byte: UInt8) -> Int { byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4 }

    private static let controls: [UInt8: FinderKey] = [
        0x03: .leave, 0x04: .leave, 0x08: .erase, 0x0a: .enter, 0x0d: .enter, 0x0e: .down, 0x10: .up, 0x15: .eraseAll,
        0x17: .eraseAll, 0x19: .copy, 0x7f: .erase,
    ]

    /// Letters alone: who types Esc and Enter in one go, as programs do, wants to leave.
    private static func isWithAlt(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f }

    /// ESC [ … letter and ESC O letter (ECMA-48, xterm's control sequences).
    private static func sequence(_ bytes: [UInt8]) -> (FinderKey?, Int)? {
        guard bytes.count >= 2 else { return nil }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
            // A letter with Alt is no key here, and no Esc: it would leave what follows to the shell.
            guard isWithAlt(bytes[1]) else { return (.leave, 1) }
            let count = 1 + byteCount(from: bytes[1])
            return bytes.count < count ? nil : (nil, count)
        }
        guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else {
            // A terminal sends no longer ones.
            return bytes.count > 16 ? (nil, bytes.count) : nil
        }
        let body = String(decoding: bytes[2...end], as: UTF8.self)
        let key: FinderKey? =
            switch body {
            case "A": .up
            case "B": .down
            case "5~": .pageUp
            case "6~": .pageDown
            default: nil
            }
        return (key, end + 1)
    }
}
