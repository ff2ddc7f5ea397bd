/// What a prompt shows, in words that are safe to show.
package struct PromptForm: Hashable, Sendable {
    package var title = "Latchkey"
    /// Lines, joined by newlines.
    package var description: String
    /// Above the rest: what was wrong with the last answer.
    package var error: String?
    package var okay: String

    package init(description: String, error: String? = nil, okay: String = "OK") {
        self.description = description
        self.error = error
        self.okay = okay
    }
}
