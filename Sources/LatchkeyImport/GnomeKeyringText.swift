internal import KeychainPlatform

/// A keyring without a password, which gnome-keyring writes in the clear (gnome-keyring 42,
/// pkcs11/secret-store/gkm-secret-textual.c): a key file of GLib whose first group is
/// "keyring" (GLib 2.74, "Key file parser").
struct GnomeKeyringText {
    private static let heading = Array("[keyring]".utf8)

    private let content: SharedSecret
    /// In the order of the file, each with its lines.
    private var groups: [(name: String, line: Int, values: [String: Range<Int>])] = []
    private var document = ImportedDocument(.gnomeKeyring)

    /// Whether the first line that is no comment begins such a file.
    static func isOne(_ text: SourceText) -> Bool {
        text.lines.first { !isNothing(text.content, $0) }.map { bytes(text.content, $0) == heading } ?? false
    }

    static func read(
        _ text: SourceText, collection: String, isDefault: Bool
    ) throws(ImportFailure) -> ImportedDocument {
        var reader = GnomeKeyringText(content: text.content)
        reader.takeLines(text)
        reader.takeItems(collection, isDefault: isDefault)
        return reader.document
    }

    // MARK: Lines

    private static func isNothing(_ content: SharedSecret, _ line: Range<Int>) -> Bool {
        line.allSatisfy { content.bytes[$0] == 0x20 || content.bytes[$0] == 0x09 }
            || content.bytes[line.lowerBound] == UInt8(ascii: "#")
    }

    private static func bytes(_ content: SharedSecret, _ range: Range<Int>) -> [UInt8] {
        range.map { content.bytes[$0] }
    }

    private init(content: SharedSecret) { self.content = content }

    private mutating func takeLines(_ text: SourceText) {
        for (index, line) in text.lines.enumerated() where !Self.isNothing(content, line) {
            let isGroup = content.bytes[line.lowerBound] == UInt8(ascii: "[")
            if isGroup, content.bytes[line.upperBound - 1] == UInt8(ascii: "]"), line.count > 1 {
                let name = String(decoding: Self.bytes(content, line.dropFirst().dropLast()), as: UTF8.self)
                groups.append((name, index + 1, [:]))
            } else if !takeValue(line) {
                document.name(.line(index + 1), "this is no line of a keyring's file")
            }
        }
    }

    /// `name=value`, with blanks around the sign that mean nothing.
    private mutating func takeValue(_ line: Range<Int>) -> Bool {
        guard !groups.isEmpty, let sign = line.first(where: { content.bytes[$0] == UInt8(ascii: "=") }) else {
            return false
        }
        let name = String(decoding: Self.bytes(content, line.lowerBound..<sign), as: UTF8.self)
        var start = sign + 1
        while start < line.upperBound, [0x20, 0x09].contains(content.bytes[start]) { start += 1 }
        groups[groups.count - 1].values[String(name.reversed().drop { $0 == " " }.reversed())] = start..<line.upperBound
        return true
    }

    // MARK: Values

    /// The bytes that the value of a key stands for: `\s \n \t \r \\` are one byte each. As
    /// gnome-keyring reads it, any other escape stays as it is written, and half of one at the end
    /// is nothing.
    private func value(_ range: Range<Int>) -> SharedSecret {
        var writer = SecretWriter(byteCount: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            var byte = content.bytes[index]
            if byte == UInt8(ascii: "\\") {
                index += 1
                guard index < range.upperBound else { break }
                let meant = Self.escapes[content.bytes[index]]
                if meant == nil { writer.append(byte) }
                byte = meant ?? content.bytes[index]
            }
            writer.append(byte)
            index += 1
        }
        return SharedSecret(writer.finish())
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "s"): 0x20, UInt8(ascii: "n"): 0x0a, UInt8(ascii: "t"): 0x09, UInt8(ascii: "r"): 0x0d,
        UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    ]

    private func text(_ name: String, of values: [String: Range<Int>]) -> String? {
        guard let value = values[name].map(value) else { return nil }
        return String(decoding: value.bytes.insecureArray(), as: UTF8.self)
    }

    /// Bytes that are no text stand as hex digits.
    private func hex(_ range: Range<Int>) -> SharedSecret? {
        guard range.count % 2 == 0 else { return nil }
        var writer = SecretWriter(byteCount: range.count / 2)
        for index in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            guard let high = Self.digit(content.bytes[index]), let low = Self.digit(content.bytes[index + 1]) else {
                return nil
            }
            writer.append(high << 4 | low)
        }
        return SharedSecret(writer.finish())
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    // MARK: Items

    private mutating func takeItems(_ collection: String, isDefault: Bool) {
        let label = groups.first.flatMap { text("display-name", of: $0.values) } ?? ""
        document.collections = [
            ServiceCollection(name: collection, label: label.isEmpty ? collection : label, isDefault: isDefault)
        ]
        let attributes = attributes()
        for group in groups.dropFirst() where !group.name.contains(":") {
            guard let value = secret(of: group.values) else {
                document.name(.line(group.line), "the value of this item cannot be read")
                continue
            }
            document.add(
                ServiceItem(
                    place: .line(group.line), collection: collection,
                    label: text("display-name", of: group.values) ?? "",
                    attributes: GnomeItemKind.attributes(
                        attributes[group.name] ?? [], text("item-type", of: group.values).flatMap(UInt32.init) ?? 0),
                    contentType: ServiceItem.plainText,
                    value: SecretText(TextSlice(value, 0..<value.bytes.count)),
                    created: SourceDate.seconds(text("ctime", of: group.values).flatMap(UInt64.init)),
                    modified: SourceDate.seconds(text("mtime", of: group.values).flatMap(UInt64.init))))
        }
    }

    /// nil where it is none; an item without one has an empty value.
    private func secret(of values: [String: Range<Int>]) -> SharedSecret? {
        if let text = values["secret"] { return value(text) }
        if let digits = values["binary-secret"] { return hex(digits) }
        return SharedSecret(SecretBytes(count: 0))
    }

    /// Of each item; they stand in groups of their own, `ITEM:attributeN`.
    private mutating func attributes() -> [String: [(name: String, value: String)]] {
        var found: [String: [(name: String, value: String)]] = [:]
        for group in groups {
            let parts = group.name.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[1].hasPrefix("attribute") else { continue }
            guard let name = text("name", of: group.values), let value = text("value", of: group.values) else {
                document.name(.line(group.line), "an attribute without a name or a value")
                continue
            }
            found[String(parts[0]), default: []].append((name, value))
        }
        return found
    }
}
