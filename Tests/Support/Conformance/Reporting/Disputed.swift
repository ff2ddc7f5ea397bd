/// Cases of which we are sure that the corpus is wrong; each is a row of
/// COMPATIBILITY.md. They run, and a difference is shown, but does not fail the
/// run; one that passes does, so that the table stays true.
package enum Disputed {
    package struct Entry: Sendable {
        /// The id of a case, or its beginning followed by "*".
        package let pattern: String
        package let reason: String
    }

    package static let entries: [Entry] = []

    package static func reason(for id: String) -> String? {
        entries.first { matches($0.pattern, id) }?.reason
    }

    private static func matches(_ pattern: String, _ id: String) -> Bool {
        pattern.hasSuffix("*") ? id.hasPrefix(pattern.dropLast()) : id == pattern
    }
}
