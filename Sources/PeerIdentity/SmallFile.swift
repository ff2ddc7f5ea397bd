internal import KeychainPlatform

/// A short file that somebody else made: read only where it is a plain file,
/// never followed as a link, never waited for.
struct SmallFile {
    static let limit = 256 * 1024

    let bytes: [UInt8]
    let status: FileStatus

    /// Nil where it is not there, is not plain, is too long or cannot be read;
    /// evidence that cannot be read is no evidence.
    static func read(_ path: FilePath, in folder: Descriptor? = nil) -> SmallFile? {
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: path, in: folder, .readingNoLink)
            let status = try FileStatus(of: file)
            guard status.isRegularFile, status.byteCount <= limit else { return nil }
            return SmallFile(bytes: try file.readStart(atMost: Int(status.byteCount)), status: status)
        } catch {
            return nil
        }
    }
}
