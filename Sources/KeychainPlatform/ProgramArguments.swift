@_implementationOnly import CLatchkeyPlatform

/// What this program was told to do: as the kernel laid it out, also where /proc cannot be
/// read, by which alone Swift's `CommandLine` knows of any.
package enum ProgramArguments {
    /// The arguments behind the program's own name; nil where one of them is not UTF-8.
    ///
    /// `CommandLine.arguments` repairs such a one, after which two that differ are the same.
    package static var given: [String]? {
        var words: UnsafePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe lk_arguments(&words)
        // To be told nothing is not to be told to do nothing.
        guard let words = unsafe words else { preconditionFailure("the C library hands constructors no arguments") }
        var found: [String] = []
        for index in 1..<max(1, Int(count)) {
            guard let argument = unsafe words[index], let text = unsafe String(validatingCString: argument) else {
                return nil
            }
            found.append(text)
        }
        return found
    }

    /// The same for a program that does nothing where one is not UTF-8: it ends with status 2.
    ///
    /// - Parameter name: what the program is called.
    package static func given(to name: String) -> [String] {
        if let given { return given }
        for line in notText { StandardError.write("\(name): \(line)\n") }
        ProcessEnvironment.exit(2)
    }

    /// What to say of one that is not.
    package static let notText = [
        "an argument is not UTF-8; nothing was done",
        "Names, and the paths of files, are taken in UTF-8 alone: write it so, or rename the file.",
    ]
}
