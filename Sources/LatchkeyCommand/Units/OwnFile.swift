internal import KeychainPlatform

/// A file that we write for another program to read, in a person's own folder: what says
/// something else there is kept until they say so.
struct OwnFile: Sendable {
    let path: String
    private let text: String

    private static let sizeLimit = 1 << 16

    /// - Parameter mark: what `text` begins with; a file that begins otherwise is a person's
    ///   own.
    init(_ path: String, _ text: String, marked mark: String) {
        precondition(text.hasPrefix(mark), "a file of ours begins with its mark")
        (self.path, self.text) = (path, text)
    }

    enum State: Sendable, Hashable {
        case absent
        case same
        /// What is there in place of ours, nil where it is no file.
        case different(String?)
    }

    func state() throws(CommandFailure) -> State {
        guard let found = try Self.content(path) else { return .absent }
        return found == .some(text) ? .same : .different(found)
    }

    /// Outer nil where nothing is there, inner nil where it is no file that can be read.
    static func content(_ path: String) throws(CommandFailure) -> String?? {
        do throws(SystemCallError) {
            guard try FileStatus(at: FilePath(path), followingLink: false).isRegularFile else { return .some(nil) }
            return .some(String(decoding: try PrivateFile.readAll(path, atMost: sizeLimit), as: UTF8.self))
        } catch {
            if error.isNoSuchFile { return nil }
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be read (\(error))",
                "Check its mode and its folders.")
        }
    }

    /// Whether we wrote what is there; nil where nothing is.
    static func isOurs(_ path: String, marked mark: String) throws(CommandFailure) -> Bool? {
        guard let found = try content(path) else { return nil }
        return found?.hasPrefix(mark) == true
    }

    /// Lines that differ: `-` as it is, `+` as it would be.
    func difference(from found: String?) -> [String] {
        guard let found else { return ["  it is a link or a folder"] }
        let lines = { (text: String) in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
        return lines(text).difference(from: lines(found)).map { change in
            switch change {
            case .remove(_, let line, _): "  - \(PrintableText.escaped(line))"
            case .insert(_, let line, _): "  + \(PrintableText.escaped(line))"
            }
        }
    }

    func write() throws(CommandFailure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        do throws(DirectoryRefusal) { try PrivateDirectory.make(folder) } catch {
            throw CommandFailure(.unavailable, "\(error)", "Check the folder and try again.")
        }
        do throws(SystemCallError) {
            let file = try UnnamedFile(path, isForEverybody: true)
            try file.write(SecretBytes(copying: Array(text.utf8)))
            try file.publish(replacing: true)
        } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be written (\(error))",
                "Check the folder and try again.")
        }
    }
}
