/// What this program was told to do.
package enum ProgramArguments {
    /// The arguments behind the program's own name; nil where one of them is not UTF-8.
    ///
    /// `CommandLine.arguments` repairs such a one, after which two that differ are the same.
    package static var given: [String]? {
        var found: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = unsafe CommandLine.unsafeArgv[index],
                let text = unsafe String(validatingCString: argument)
            else { return nil }
            found.append(text)
        }
        return found
    }

    /// What to say of one that is not.
    package static let notText = [
        "an argument is not UTF-8; nothing was done",
        "Names, and the paths of files, are taken in UTF-8 alone: write it so, or rename the file.",
    ]
}
