internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Prepare a program for the keychain.", subcommands: [AppInitCommand.self])
}

struct AppInitCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write the Info.plist that gives a program its name.",
        discussion: """
            A bare executable has no bundle identifier on Linux: Bundle.main.bundleIdentifier is nil (some \
            wrappers trap at that, others share one service with every program), and the keychain knows the \
            program by its path, so that it loses sight of its items when it is moved or built elsewhere. \
            An Info.plist in the executable's own folder mends both: Foundation reads it, and the program's \
            access group becomes adhoc.IDENTIFIER wherever it lies.

            Every executable of that folder gets the name: give programs that must not share secrets folders \
            of their own. Such a name is a claim, not a proof: any program of the user can carry it \
            (THREAT_MODEL.md).

            EXAMPLES
              latchkey app init --identifier com.example.app .build/debug
              latchkey app init --identifier com.example.app /opt/app/bin/app

            --json writes {"file", "identifier", "group"}.
            """)

    @Option(help: ArgumentHelp("Reverse-DNS name, of letters, digits, dots and hyphens.", valueName: "name"))
    var identifier: String

    @Argument(help: "The executable, or the folder that it lies in.")
    var place: String = "."

    @Flag(help: "Replace an Info.plist that is there.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup(visibility: .hidden) var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard Self.isIdentifier(identifier) else {
            throw CommandFailure(
                .usage, "that is no bundle identifier",
                "Use letters, digits, hyphens and at least one dot: com.example.app")
        }
        let folder = try folder(surroundings.absolute(place))
        let file = folder + "/Info.plist"
        try write(Self.propertyList(identifier), to: file)
        let group = "adhoc.\(identifier)"
        if json {
            let line = JSONValue.object([
                ("file", .string(file)), ("identifier", .string(identifier)), ("group", .string(group)),
            ])
            try printing { () throws(SystemCallError) in try surroundings.console.write("\(line.text)\n") }
        } else {
            surroundings.console.note(
                "Wrote \(PrintableText.escaped(file)). Programs of that folder are now \(identifier) to Bundle.main, and \(group) to the keychain. What they stored by their path stays readable to them as long as they lie there."
            )
        }
        return .done
    }

    /// InfoPropertyList of KeychainDaemon takes what this takes.
    static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 2 && text.utf8.count <= 255
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
    }

    /// Holds nothing that would have to be escaped in XML.
    static func propertyList(_ identifier: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <key>CFBundleIdentifier</key>
            <string>\(identifier)</string>
        </dict>
        </plist>

        """
    }

    private func folder(_ path: String) throws(CommandFailure) -> String {
        // A link's own folder is not where the program looks.
        let trimmed = FilePath(path).resolved?.printable ?? path
        do throws(SystemCallError) {
            let status = try FileStatus(at: FilePath(trimmed), followingLink: true)
            if status.isDirectory { return trimmed }
            if status.isRegularFile, let slash = trimmed.lastIndex(of: "/") { return String(trimmed[..<slash]) }
        } catch {
            // Said below.
        }
        throw CommandFailure(
            .usage, "there is no executable or folder at \(PrintableText.escaped(path))", "Build the program first.")
    }

    private func write(_ text: String, to path: String) throws(CommandFailure) {
        do throws(SystemCallError) {
            let file = try UnnamedFile(path, isForEverybody: true)
            try file.write(SecretBytes(copying: Array(text.utf8)))
            try file.publish(replacing: replace)
        } catch {
            guard !error.isAlreadyThere else {
                throw CommandFailure(
                    .usage, "an Info.plist is there already; nothing was changed",
                    "Add --replace, or add CFBundleIdentifier to it by hand.")
            }
            throw CommandFailure(
                .unavailable, "the file cannot be written (\(error))", "Check the folder and try again.")
        }
    }
}
