internal import KeychainPlatform

/// A file kept twice, `name.0` and `name.1`, written one after the other, each
/// durable before the next: after a crash at any moment one copy at least is
/// whole.
struct FilePair: Sendable {
    /// One of the two as it lies on disk.
    enum Copy: Sendable {
        case missing
        /// The disk refuses it (EIO): nobody knows what it says, so it is left alone.
        case unreadable
        /// What the file says; nothing, where it is no file or far too large.
        case bytes([UInt8])

        func holds(_ wanted: [UInt8]) -> Bool { if case .bytes(wanted) = self { true } else { false } }
    }

    let directory: PrivateDirectory
    let name: String
    let sizeLimit: Int

    static let count = 2

    func fileName(_ index: Int) -> String { "\(name).\(index)" }

    /// Both copies as they are.
    ///
    /// - Throws: what says nothing about the file (no memory, no descriptor, no
    ///   permission): going on with one copy then could undo the newer one.
    func read() throws(KeybagError) -> [Copy] {
        var copies: [Copy] = []
        for index in 0..<Self.count { copies.append(try readCopy(index)) }
        return copies
    }

    private func readCopy(_ index: Int) throws(KeybagError) -> Copy {
        do throws(SystemCallError) {
            guard let bytes = try directory.read(fileName(index), atMost: sizeLimit) else { return .missing }
            return .bytes(bytes)
        } catch {
            if error.isInputOutput { return .unreadable }
            guard error.isNotAFileOfOurs else { throw .system(error) }
            return .bytes([])
        }
    }

    /// Writes both copies, one after the other.
    func write(_ bytes: [UInt8]) throws(KeybagError) {
        for index in 0..<Self.count { try write(bytes, copy: index) }
    }

    func write(_ bytes: [UInt8], copy index: Int) throws(KeybagError) {
        do throws(SystemCallError) {
            try directory.replace(fileName(index), with: bytes)
        } catch {
            throw .system(error)
        }
    }
}

extension Array where Element == FilePair.Copy {
    /// Whether no copy is there in any form.
    var isAbsent: Bool {
        allSatisfy { if case .missing = $0 { true } else { false } }
    }
}

/// A copy to be written again from the good one, once everything has opened.
struct Repair: Sendable {
    let pair: FilePair
    let index: Int
    let bytes: [UInt8]

    var fileName: String { pair.fileName(index) }

    func perform() throws(KeybagError) { try pair.write(bytes, copy: index) }
}
