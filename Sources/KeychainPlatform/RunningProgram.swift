/// The program that this process runs.
package enum RunningProgram {
    /// As it was when this was asked first.
    private static let started: (path: FilePath, file: FileIdentity)? = {
        do throws(SystemCallError) {
            let path = try Descriptor.look(at: FilePath("/proc/self"), .folder).linkTarget(FilePath("exe"))
            return (path, try FileStatus(at: FilePath("/proc/self/exe"), followingLink: true).identity)
        } catch { return nil }
    }()

    /// Whether its path still leads to the file that was started: an update leaves another there. True where
    /// nobody can tell.
    package static var isInPlace: Bool {
        guard let started else { return true }
        do throws(SystemCallError) {
            return try FileStatus(at: started.path, followingLink: false).identity == started.file
        } catch { return !error.isNoSuchFile }
    }
}
