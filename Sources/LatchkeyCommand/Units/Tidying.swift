internal import KeychainPlatform

/// Several things that are taken away or put back, each whatever becomes of the others.
struct Tidying {
    /// Why the first did not go that did not.
    private(set) var failure: CommandFailure?

    mutating func attempt(_ body: () throws(CommandFailure) -> Void) {
        do throws(CommandFailure) { try body() } catch { failure = failure ?? error }
    }

    /// - Returns: whether it did what it does; false where it failed, too.
    mutating func attempt(with path: String, _ body: () throws(SystemCallError) -> Bool) -> Bool {
        do throws(SystemCallError) { return try body() } catch {
            failure =
                failure
                ?? CommandFailure(
                    .unavailable, "\(PrintableText.escaped(path)) cannot be taken away or put back (\(error))",
                    "Check its folder and try again.")
            return false
        }
    }
}
