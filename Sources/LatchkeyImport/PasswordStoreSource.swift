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
        try checkReach(folder)
        guard isStore(folder) else {
            throw ImportFailure(
                .wrongSource, "this folder is no password store: there is no .gpg-id in it",
                "Name the folder of the password store, or one in it.")
        }
        var source = try PasswordStoreSource(folder, variable)
        let names = source.find("")
        guard !names.isEmpty || !source.document.flaws.isEmpty else {
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

    /// What lies in a folder that may not be listed, or not be entered, nobody knows.
    private static func checkReach(_ folder: String) throws(ImportFailure) {
        do throws(SystemCallError) {
            _ = try FolderContent.rawNames(at: folder)
            _ = try FileStatus(at: FilePath(folder).appending("."), followingLink: true)
        } catch {
            throw ImportFailure(
                .wrongSource, "this folder cannot be read (\(error))", "Name a folder that you may read and enter.")
        }
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

    /// What pass, git and gopass keep for themselves; `pass grep` leaves `.git` out as well.
    private static let programs: Set<String> = [
        ".git", ".gitattributes", ".gpg-id", ".gpg-id.sig", ".extensions", ".public-keys",
    ]

    /// Paths of the entries below a folder, without their ending, in order. Hidden ones are entries
    /// as well: `pass ls` does not show them, `pass show` and `pass grep` do.
    private mutating func find(_ below: String) -> [String] {
        let names: [[UInt8]]
        do throws(SystemCallError) { names = try FolderContent.rawNames(at: "\(folder)/\(below)") } catch {
            document.name(.path(below), "this folder cannot be read (\(error))")
            return []
        }
        let shown = names.map { (raw: $0, name: String(decoding: $0, as: UTF8.self)) }.sorted { $0.name < $1.name }
        return shown.flatMap { raw, name in
            let path = below.isEmpty ? name : "\(below)/\(name)"
            guard Array(name.utf8) == raw else {
                document.name(.path(path), "its name is no UTF-8")
                return [String]()
            }
            return Self.programs.contains(name) ? [] : entries(path)
        }
    }

    /// Of what has this path: itself, all that lies below it, or none.
    private mutating func entries(_ path: String) -> [String] {
        switch Self.kind(of: "\(folder)/\(path)") {
        case .folder: return find(path)
        case .file where path.hasSuffix(Self.ending): return [String(path.dropLast(Self.ending.count))]
        // Hidden files are other programs' own (".gitignore", ".DS_Store").
        case .file: if !Self.isHidden(path) { document.name(.path(path), "its name does not end in .gpg") }
        case .other(let what): document.name(.path(path), what)
        }
        return []
    }

    private static func isHidden(_ path: String) -> Bool { path.hasPrefix(".") || path.contains("/.") }

    private enum Kind { case folder, file, other(String) }

    /// Links to files are followed, links to folders not: they may lead round.
    private static func kind(of path: String) -> Kind {
        let name = FilePath(path)
        do throws(SystemCallError) {
            if try FileStatus(at: name, followingLink: false).isDirectory { return .folder }
            let target = try FileStatus(at: name, followingLink: true)
            if target.isDirectory { return .other("this is a link to a folder, which is not followed") }
            return target.isRegularFile ? .file : .other("this is no file, but a pipe, a socket or a device")
        } catch {
            return .other(error.isNoSuchFile ? "this is a link that leads nowhere" : "it cannot be reached (\(error))")
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
