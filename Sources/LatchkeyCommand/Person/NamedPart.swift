internal import KeychainProtocol

/// A protector or a slot, as a person names it.
protocol NamedPart {
    var kind: String { get }
    /// 16 bytes.
    var identifier: [UInt8] { get }
}

extension ProtectorState: NamedPart {}
extension SlotState: NamedPart {}

extension NamedPart {
    var name: String { identifier.map { PrintableText.hex(UInt32($0), digits: 2) }.joined() }
    var shortName: String { String(name.prefix(8)) }
}

/// What a person calls one: a kind, where there is one of it, or the beginning of an
/// identifier.
struct PartName {
    let text: String
    /// "protector" or "slot".
    let sort: String

    private static let kinds = ["software": "software-file", "tpm": "tpm2"]

    func find<Part: NamedPart>(in parts: [Part]) throws(CommandFailure) -> Part {
        let kind = Self.kinds[text] ?? text
        let found = parts.filter {
            $0.kind == kind || $0.kind == "\(text)-code" || (text.utf8.count >= 4 && $0.name.hasPrefix(text))
        }
        guard let first = found.first else {
            throw CommandFailure(
                .noMatch, "no \(sort) is called so", "`latchkey \(sort) list` shows what there is.")
        }
        guard found.count == 1 else {
            throw CommandFailure(.usage, "several \(sort)s are called so", "Name one by its ID.")
        }
        return first
    }
}
