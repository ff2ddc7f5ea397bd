internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform

/// Which secret is meant, in one word: `latchkey://SERVICE/ACCOUNT`, also without its
/// scheme.
///
/// SERVICE and ACCOUNT are percent-encoded (RFC 3986, section 2.1), which a slash, a
/// question mark, a number sign and a percent sign in them have to be. `?kind=internet`
/// or `generic` says the class, `port`, `path`, `protocol` and `label` choose among items of
/// one name and account, `?attribute=otp` means the one-time code of the moment.
package struct SecretReference: Sendable {
    /// What is read of an item.
    package enum Attribute: String, Sendable, CaseIterable {
        case password
        /// The code of this moment from the one-time secret.
        case otp
    }

    package enum Flaw: Error, Hashable, Sendable {
        case otherScheme
        case noService
        case tooManyParts
        case badEscape
        case badCharacter
        case badQuestion

        package var explanation: String {
            switch self {
            case .otherScheme: "it has a scheme other than latchkey://"
            case .noService: "it names no service"
            case .tooManyParts: "it has more than SERVICE/ACCOUNT (a slash in a name is %2F)"
            case .badEscape: "it has a % that two hexadecimal digits of text in UTF-8 do not follow"
            case .badCharacter: "it has a control character or a # (%23)"
            case .badQuestion:
                "after the ? only kind=internet, kind=generic, port, path, protocol, label and attribute=otp are "
                    + "known, once each"
            }
        }
    }

    let name: ItemName
    package let attribute: Attribute

    static let scheme = "latchkey://"

    package init(_ text: String) throws(Flaw) {
        var rest = text[...]
        if rest.hasPrefix(Self.scheme) {
            rest = rest.dropFirst(Self.scheme.count)
        } else if let end = rest.firstIndex(of: "/"), rest[..<end].last == ":", rest[end...].hasPrefix("//") {
            throw .otherScheme
        }
        guard rest.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f && $0 != "#" }) else {
            throw .badCharacter
        }
        let halves = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = halves[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .tooManyParts }
        let service = try Self.decoded(parts[0])
        guard !service.isEmpty else { throw .noService }
        let account: String? = parts.count == 2 ? try Self.decoded(parts[1]) : nil
        let question = try Question(halves.count == 2 ? halves[1] : nil)
        name = ItemName(kind: question.kind, service: service, account: account, parts: question.parts)
        attribute = question.attribute ?? .password
    }

    /// What follows the question mark.
    private struct Question {
        var kind: PasswordKind?
        var attribute: Attribute?
        var parts = ItemParts()

        init(_ text: Substring?) throws(Flaw) {
            guard let text else { return }
            var seen: Set<Substring> = []
            for part in text.split(separator: "&", omittingEmptySubsequences: false) {
                guard let equals = part.firstIndex(of: "="), seen.insert(part[..<equals]).inserted else {
                    throw .badQuestion
                }
                try take(part[..<equals], try SecretReference.decoded(part[part.index(after: equals)...]))
            }
        }

        private mutating func take(_ name: Substring, _ value: String) throws(Flaw) {
            switch name {
            case "kind": kind = try known(PasswordKind.allCases.first { $0.text == value })
            case "attribute": attribute = try known(Attribute(rawValue: value))
            case "port": parts.port = try known(UInt16(value))
            case "path": parts.path = value
            case "protocol":
                parts.protocolName = try known(
                    value == ItemParts.noProtocol || ItemParts.code(of: value) != nil ? value : nil)
            case "label": parts.label = value
            default: throw .badQuestion
            }
        }

        private func known<Value>(_ value: Value?) throws(Flaw) -> Value {
            guard let value else { throw .badQuestion }
            return value
        }
    }

    private static func decoded(_ text: Substring) throws(Flaw) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw .badEscape
            }
            bytes.append(high << 4 | low)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .badEscape }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        byte < 0x80 ? Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } : nil
    }

    /// The one spelling of it.
    package var text: String {
        var question: [String] = []
        if let kind = name.kind { question.append("kind=\(kind.text)") }
        if let port = name.parts.port { question.append("port=\(port)") }
        if let path = name.parts.path { question.append("path=\(Self.encoded(path))") }
        if let scheme = name.parts.protocolName { question.append("protocol=\(scheme)") }
        if let label = name.parts.label { question.append("label=\(Self.encoded(label))") }
        if attribute != .password { question.append("attribute=\(attribute.rawValue)") }
        return Self.scheme + Self.encoded(name.service) + (name.account.map { "/" + Self.encoded($0) } ?? "")
            + (question.isEmpty ? "" : "?" + question.joined(separator: "&"))
    }

    /// RFC 3986, section 2.3, and what a segment of a path may have besides.
    private static func encoded(_ text: String) -> String {
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@+".utf8
        return text.utf8.map { byte in
            plain.contains(byte)
                ? String(Character(Unicode.Scalar(byte)))
                : "%" + PrintableText.hex(UInt32(byte), digits: 2).uppercased()
        }.joined()
    }
}

extension SecretReference {
    /// As an argument or a template has it.
    static func read(_ text: String) throws(CommandFailure) -> SecretReference {
        do throws(Flaw) { return try SecretReference(text) } catch {
            throw CommandFailure(
                .usage, "\(PrintableText.escaped(text)) is no reference: \(error.explanation)",
                "Write SERVICE/ACCOUNT or latchkey://SERVICE/ACCOUNT.")
        }
    }

    /// The one secret that it means.
    func secret(in keychain: CommandKeychain, _ surroundings: Surroundings) throws(CommandFailure) -> SharedSecret {
        do throws(CommandFailure) {
            if attribute == .otp {
                return try OneTimeLookup(name: name).answer(in: keychain, at: surroundings.configuration.clock).code
            }
            if let only = try keychain.secret(name) { return only }
            let item = try keychain.findOne(name, advice: "Name one account: SERVICE/ACCOUNT", choosing: .reference)
            return try keychain.value(of: item)
        } catch {
            throw CommandFailure(error.status, lines: ["of \(text):"] + error.lines)
        }
    }
}
