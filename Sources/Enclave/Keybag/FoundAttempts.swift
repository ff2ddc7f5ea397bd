/// What the file `attempts` says at an opening.
struct FoundAttempts: Sendable {
    let files: AuthenticPair
    /// The copy that counts; nil: none is authentic.
    let file: AuthenticatedFile.Verified?
    let body: AttemptsBody?

    /// - Parameter former: what it said under the root key from before, where the replacement of
    ///   that was cut short.
    /// - Throws: where a newer program wrote it.
    init(_ files: AuthenticPair, former: AttemptsBody?, root: borrowing RootKey) throws(KeybagError) {
        self.files = files
        file = try files.newest(under: root)
        body = file.flatMap { AttemptsBody(parsing: $0.body) } ?? former
    }

    /// Attempts that failed in a row; some, where nobody can tell.
    var failed: Int { body?.failed ?? (files.isAbsent ? 0 : AttemptsBody.unbelievable) }
}
