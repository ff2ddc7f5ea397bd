/// What the file `attempts` says at an opening.
struct FoundAttempts: Sendable {
    let files: AuthenticPair
    /// The copy that counts; nil: none is authentic.
    let file: AuthenticatedFile.Verified?
    let body: AttemptsBody?
    /// Whether a copy has a version that a program does not read which knows of no counter.
    let speakOfCounter: Bool

    /// - Parameter former: what it said under the root key from before, where the replacement of
    ///   that was cut short.
    /// - Throws: where a newer program wrote it.
    init(_ files: AuthenticPair, former: AttemptsBody?, root: borrowing RootKey) throws(KeybagError) {
        self.files = files
        file = try files.newest(under: root)
        body = file.flatMap { AttemptsBody(parsing: $0.body) } ?? former
        var speakOfCounter = false
        for (_, file) in files.framed where file.version > AttemptsBody.versionWithoutAnchor {
            if file.verified(by: root) != nil { speakOfCounter = true }
        }
        self.speakOfCounter = speakOfCounter
    }

    /// Attempts that failed in a row; some, where nobody can tell.
    var failed: Int { body?.failed ?? (files.isAbsent ? 0 : AttemptsBody.unbelievable) }
}
