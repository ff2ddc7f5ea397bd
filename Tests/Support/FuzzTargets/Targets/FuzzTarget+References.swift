internal import KeychainPlatform
internal import LatchkeyCommand

extension FuzzTarget {
    /// Which secret is meant, as an argument or a template says it.
    static let secretReference = FuzzTarget("secret-reference", seeds: { ReferenceSeeds.references }) {
        bytes throws(Finding) in
        guard let text = String(validating: bytes, as: UTF8.self), let reference = ReferenceSeeds.reference(text) else {
            return
        }
        let again = try claimed(ReferenceSeeds.reference(reference.text), "\(reference.text) is refused")
        try claim(again.text == reference.text, "a reference that changes when it is read again")
        try claim(
            reference.text.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}")
            },
            "a reference that no template can hold")
        let framed = SharedSecret(SecretBytes(copying: Array("a{{ \(reference.text) }}b".utf8)))
        let template = try claimed(ReferenceSeeds.template(framed), "a template without its reference")
        try claim(template.references.map(\.text) == [reference.text], "a template with another reference")
    }

    /// A text into which secrets are filled.
    static let secretTemplate = FuzzTarget("secret-template", seeds: { ReferenceSeeds.templates }) {
        bytes throws(Finding) in
        guard let template = ReferenceSeeds.template(SharedSecret(SecretBytes(copying: bytes))) else { return }
        let secrets = template.references.map { _ in SharedSecret(SecretBytes(copying: [0, 0xff])) }
        let filled = template.filled(with: secrets).insecureArray()
        var expected: [UInt8] = []
        var isWhole = true
        for piece in template.pieces {
            switch piece {
            case .text(let range): expected += bytes[range]
            case .braces: (expected, isWhole) = (expected + Array("{{".utf8), false)
            case .secret: (expected, isWhole) = (expected + [0, 0xff], false)
            }
        }
        try claim(filled == expected, "a text in another order")
        try claim(!isWhole || filled == bytes, "a text without places that changes")
    }
}

private enum ReferenceSeeds {
    static func reference(_ text: String) -> SecretReference? {
        do throws(SecretReference.Flaw) { return try SecretReference(text) } catch { return nil }
    }

    static func template(_ text: SharedSecret) -> SecretTemplate? {
        do throws(SecretTemplate.Flaw) { return try SecretTemplate(text) } catch { return nil }
    }

    static let references = [
        "latchkey://mail/alice", "mail", "mail/", "a%2Fb/c%25d?kind=internet&attribute=otp", "git:https:/x", "%zz",
        "a//b",
        "latchkey://gar%C3%A7on/%E2%82%AC?attribute=otp", "op://a/b", "a?kind=generic", "{{a}}",
    ].map { Array($0.utf8) }

    static let templates = [
        "a: {{ latchkey://mail/alice }}\n", "{{latchkey:{{ }} {{ .Values.x }} {{{latchkey://a}}}\n{",
        "{{ latchkey://a\n}}",
        "{{\tlatchkey://a/b?attribute=otp\t}}{{ latchkey://c }}", "}} {{{{ latchkey:x }}",
    ].map { Array($0.utf8) }
}
