package import KeychainPlatform

/// A program of the system that opens what we do not open ourselves. Secrets go
/// to it through its standard input and come back through a pipe.
package struct ImportTool {
    package let path: String
    private let environment: [String]

    /// The first of these paths that only root or we can change.
    ///
    /// - Throws: names the Debian package that has it.
    package init(
        _ name: String, package: String, at paths: [String], environment: [String] = []
    ) throws(ImportFailure) {
        guard let path = paths.first(where: TrustedPath.isExecutableOfOurs) else {
            throw ImportFailure(
                .unavailable, "\(name) is needed for this format and is not installed",
                "Install it, for example with: apt install \(package)")
        }
        self.path = path
        self.environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"] + environment
    }

    /// - Parameter input: the tool reads all of it before it writes.
    package func run(
        _ arguments: [String], input: borrowing SecretBytes = SecretBytes(count: 0), outputLimit: Int
    ) throws(ImportFailure) -> ToolRun {
        do throws(ToolRun.Failure) {
            return try ToolRun.run(
                path, arguments, environment: environment, input: input, output: .afterInput(upTo: outputLimit))
        } catch {
            switch error {
            case .tooMuchOutput:
                throw ImportFailure(
                    .wrongSource, "what \(path) unpacks is larger than \(outputLimit >> 20) MiB",
                    "Import it in parts.")
            case .tooLate:
                throw ImportFailure(.unavailable, "\(path) did not end", "Check the program, then try again.")
            case .system(let below):
                throw ImportFailure(
                    .unavailable, "\(path) cannot be run (\(below))", "Check the program, then try again.")
            }
        }
    }
}

extension ToolRun {
    /// What the program said, on one line that a terminal may show.
    package var complaint: String {
        let line = complaints.split(separator: "\n").last.map(String.init) ?? "status \(status)"
        return line.unicodeScalars.prefix(200).map {
            $0.value < 0x20 || (0x7f...0x9f).contains($0.value) ? "?" : String($0)
        }
        .joined()
    }
}
