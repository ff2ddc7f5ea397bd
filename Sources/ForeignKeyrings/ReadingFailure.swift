internal import MessageBus

/// Why nothing can be read, and what to do. Holds no secret.
package struct ReadingFailure: Error, Hashable, Sendable {
    package let message: String
    package let advice: String

    init(_ message: String, _ advice: String) { (self.message, self.advice) = (message, advice) }

    init(_ what: String, _ error: BusError) {
        self.init("\(what) (\(error.name): \(error.text))", "Look whether it still runs, then try again.")
    }
}
