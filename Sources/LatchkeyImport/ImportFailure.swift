/// Why a source as a whole cannot be read, and what to do. Holds no secret.
package struct ImportFailure: Error, Hashable, Sendable {
    package enum Kind: Sendable {
        /// Another source, format or secret has to be given.
        case wrongSource
        /// A passphrase is needed and nobody can be asked.
        case needsPerson
        /// A program or a file is missing or does not work.
        case unavailable
    }

    package let kind: Kind
    package let message: String
    package let advice: String

    package init(_ kind: Kind, _ message: String, _ advice: String) {
        self.kind = kind
        self.message = message
        self.advice = advice
    }
}
