internal import KeychainPlatform

/// The files of pass (passwordstore.org), each decrypted by gpg on its own: one
/// that does not open is named and loses nothing else.
struct PasswordStoreSource {
    private static let fileLimit = 64 << 20
    private static let ending = ".gpg"

    private let folder: String
    private let gpg: ImportTool
    private var document = ImportedDocument(.passwordStore)

    /// - Parameters:
    ///   - folder: absolute.
    ///   - progress: called before each file with its number and how many there are.
    ///   - variable: looks into the environment, for where gpg has its keys.
    static func read(
        _ folder: String, variable: (String) -> String?, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(ImportFailure) -> ImportedDocument {
        guard isStore(folder) else {
            throw ImportFailure(
                .wrongSource, "this folder is no password store: there is no .gpg-id in it",
                "Name the folder of the password store, or one in it.")
        }
        var source = try PasswordStoreSource(folder, variable)
        let names = source.find("")
        guard !names.isEmpty else {
            throw ImportFailure(
                .wrongSource, "there is no .gpg file in this folder", "Name the folder of the password store.")
        }
        for (index, name) in names.enumerated() {
            progress(index, names.count)
            source.take(name)
        }
        progress(names.count, names.count)
        return source.document
    }

    /// `pass init` writes `.gpg-id` into a store, or a folder of it, for all that is below.
    private static func isStore(_ folder: String) -> Bool {
        var above = FilePath(folder).resolved
        while let place = above {
            if isThere(place.appending(".gpg-id")) { return true }
            above = place.folder
        }
        return isAbove(FilePath(folder), depth: mostDepth)
    }

    /// How far below the folder a store of a part of it is looked for.
    private static let mostDepth = 3

    private static func isAbove(_ folder: FilePath, depth: Int) -> Bool {
        guard depth > 0 else { return false }
        return FolderContent.names(at: String(decoding: folder.bytes, as: UTF8.self)).contains { name in
            let below = folder.appending(name)
            do throws(SystemCallError) {
                guard try FileStatus(at: below, followingLink: false).isDirectory else { return false }
            } catch { return false }
            return isThere(below.appending(".gpg-id")) || isAbove(below, depth: depth - 1)
        }
    }

    private static func isThere(_ path: FilePath) -> Bool {
        do throws(SystemCallError) { return try FileStatus(at: path, followingLink: true).isRegularFile } catch {
            return false
        }
    }

    private init(_ folder: String, _ variable: (String) -> String?) throws(ImportFailure) {
        self.folder = folder
        gpg = try ImportTool(
            "gpg", package: "gnupg", at: ["/usr/bin/gpg", "/usr/local/bin/gpg"],
            environment: Self.kept.compactMap { name in variable(name).map { "\(name)=\($0)" } })
    }

    /// How gpg finds its keys, and its agent whoever is to be asked.
    private static let kept = [
        "HOME", "GNUPGHOME", "GPG_TTY", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY",
        "DBUS_SESSION_BUS_ADDRESS",
    ]

    // MARK: Finding

    /// Paths of the entries below a folder, without their ending, in order.
    private mutating func find(_ below: String) -> [String] {
        var found: [String] = []
        for name in FolderContent.names(at: "\(folder)/\(below)").sorted() where !name.hasPrefix(".") {
            let path = below.isEmpty ? name : "\(below)/\(name)"
            switch kind(of: "\(folder)/\(path)") {
            case .folder: found += find(path)
            case .file where name.hasSuffix(Self.ending): found.append(String(path.dropLast(Self.ending.count)))
            case .file: document.name(.path(path), "this is no .gpg file")
            case .other: document.name(.path(path), "this is no file, or a link to a folder")
            }
        }
        return found
    }

    private enum Kind { case folder, file, other }

    /// Links to files are followed, links to folders not: they may lead round.
    private func kind(of path: String) -> Kind {
        let name = FilePath(path)
        do throws(SystemCallError) {
            if try FileStatus(at: name, followingLink: false).isDirectory { return .folder }
            return try FileStatus(at: name, followingLink: true).isRegularFile ? .file : .other
        } catch {
            return .other
        }
    }

    // MARK: Reading

    private mutating func take(_ name: String) {
        let place = SourcePlace.path(name)
        do throws(ImportFailure) {
            let run = try gpg.run(
                ["--quiet", "--batch", "--no-tty", "--decrypt", "--", "\(folder)/\(name)\(Self.ending)"],
                outputLimit: Self.fileLimit)
            guard run.status == 0 else { return document.name(place, "it cannot be decrypted (\(run.complaint))") }
            let content = SharedSecret(run.output.copy())
            document.add(place) { entry in Self.take(content, name, &entry) }
        } catch {
            document.name(place, error.message)
        }
    }

    /// The first line is the password; `user:` and `url:` lines and one-time
    /// secrets are known, everything else is a note.
    static func take(_ content: SharedSecret, _ name: String, _ entry: inout EntryBuilder) {
        guard content.bytes.isUTF8 else {
            let whole = SecretText(TextSlice(content, 0..<content.bytes.count))
            entry.take("path", SecretText(name), as: .label)
            return entry.take("a file that is no text, as a whole", whole, as: .value)
        }
        let lines = lines(content)
        entry.take("path", SecretText(name), as: .label)
        if let first = lines.first { entry.take("first line", SecretText(TextSlice(content, first)), as: .value) }
        var rest = SecretText()
        for line in lines.dropFirst() {
            if take(line, content, &entry) { continue }
            if !rest.isEmpty { rest.append("\n") }
            rest.append(SecretText(TextSlice(content, line)))
        }
        entry.take(notes: "other lines", rest)
    }

    /// Ranges of the lines, without their ends.
    private static func lines(_ content: SharedSecret) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for index in 0..<content.bytes.count where content.bytes[index] == UInt8(ascii: "\n") {
            let isWindows = index > start && content.bytes[index - 1] == UInt8(ascii: "\r")
            lines.append(start..<(isWindows ? index - 1 : index))
            start = index + 1
        }
        if start < content.bytes.count { lines.append(start..<content.bytes.count) }
        return lines
    }

    /// Whether a line is one with a meaning of its own.
    private static func take(_ line: Range<Int>, _ content: SharedSecret, _ entry: inout EntryBuilder) -> Bool {
        if starts(content, line, with: "otpauth://") {
            entry.take("otpauth:", SecretText(TextSlice(content, line)), as: .oneTimeSecret)
            return true
        }
        for (key, destination) in keys where starts(content, line, with: key) {
            var start = line.lowerBound + key.utf8.count
            while start < line.upperBound, content.bytes[start] == 0x20 { start += 1 }
            entry.take(key, SecretText(TextSlice(content, start..<line.upperBound)), as: destination)
            return true
        }
        return false
    }

    private static let keys: [(String, FieldDestination)] = [
        ("user:", .account), ("username:", .account), ("login:", .account), ("url:", .address), ("website:", .address),
    ]

    /// Letters of either case alike.
    private static func starts(_ content: SharedSecret, _ line: Range<Int>, with word: String) -> Bool {
        let expected = Array(word.utf8)
        guard line.count >= expected.count else { return false }
        return expected.indices.allSatisfy { index in
            let byte = content.bytes[line.lowerBound + index]
            return (0x41...0x5a).contains(byte) ? byte | 0x20 == expected[index] : byte == expected[index]
        }
    }
}
