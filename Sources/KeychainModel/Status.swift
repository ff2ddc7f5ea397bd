/// The result of a keychain call, in Apple's numbers.
///
/// The type is open: a number that we do not know is a status like any other,
/// has no ``name``, and describes itself as `OSStatus N`. The known ones, their
/// Swift names and both their texts come from one table,
/// `scripts/status-codes.tsv`.
///
/// Apple's counterpart: `OSStatus` and the `errSec…` constants of `SecBase.h`.
public struct Status: RawRepresentable, Hashable, Sendable {
    /// Apple's number for the result: 0 for success, otherwise negative.
    public let rawValue: Int32

    /// The status with this number, known or not.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

extension Status {
    /// Every status we know, by rising number.
    public static var all: [Status] {
        table.map { Status(rawValue: $0.number) }
    }

    /// The name of the constant in C, such as `errSecItemNotFound`; nil for a
    /// number that we do not know.
    public var name: String? {
        entry?.name
    }

    /// What happened and, where something helps, what to do, in our words.
    ///
    /// One or two short sentences in English; `OSStatus N` for a number that we
    /// do not know. Never holds a value or an argument of the call.
    public var message: String {
        entry?.text ?? "OSStatus \(rawValue)"
    }

    /// The sentence that macOS's `security` command prints for the status.
    ///
    /// Scripts look for it, so for the codes that they meet it is that command's
    /// own wording; for the others it is ``message``.
    public var securityToolMessage: String {
        entry?.security ?? message
    }
}

extension Status: CustomStringConvertible {
    /// Name and number, such as `errSecItemNotFound (-25300)`.
    public var description: String {
        guard let name else { return "OSStatus \(rawValue)" }
        return "\(name) (\(rawValue))"
    }
}

extension Status {
    /// One line of the table.
    struct Entry: Sendable {
        let number: Int32
        let name: String
        let text: String
        let security: String?

        init(_ number: Int32, _ name: String, text: String, security: String? = nil) {
            self.number = number
            self.name = name
            self.text = text
            self.security = security
        }
    }

    /// The line of the table for this status, found by halving.
    private var entry: Entry? {
        var low = Self.table.startIndex
        var high = Self.table.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            let candidate = Self.table[middle]
            if candidate.number == rawValue { return candidate }
            if candidate.number < rawValue { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
