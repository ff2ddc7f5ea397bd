package import KeychainModel
package import KeychainPlatform

extension KeychainError {
    /// What the file system said while files of the store were moved or written.
    package init(files error: SystemCallError) {
        if error.isReadOnly {
            self.init(.readOnly, reason: .readOnly, underlying: "\(error)")
        } else if error.isInputOutput {
            self.init(.io, reason: .inputOutput, underlying: "\(error)")
        } else if error.isOutOfDescriptors {
            self.init(.notAvailable, reason: .busy, underlying: "\(error)")
        } else {
            self.init(
                .notAvailable, reason: error.isDiskFull ? .diskFull : .storeUnreadable, underlying: "\(error)")
        }
    }
}

/// Runs what moves or writes files of the store.
package func translatingFiles<R>(_ body: () throws(SystemCallError) -> R) throws(KeychainError) -> R {
    do throws(SystemCallError) { return try body() } catch { throw KeychainError(files: error) }
}

extension KeychainError {
    /// What kept a folder of the store from being used.
    package init(folder refusal: DirectoryRefusal) {
        if case .system(_, let error) = refusal, error.isDiskFull {
            self.init(.notAvailable, reason: .diskFull, underlying: "\(refusal)")
        } else if case .system(_, let error) = refusal, error.isInputOutput {
            self.init(.io, reason: .inputOutput, underlying: "\(refusal)")
        } else {
            self.init(.notAvailable, reason: .folderUnusable(why: "\(refusal)"))
        }
    }

    /// What kept a file of the store from being looked at. It says nothing of what the file
    /// holds, and so is neither damage nor absence.
    package init(looking error: SystemCallError, at path: String) {
        if error.isPermissionDenied {
            self.init(
                .notAvailable, reason: .folderUnusable(why: "\(path) cannot be read and written"),
                underlying: "\(error)")
        } else if error.isOutOfDescriptors {
            self.init(.notAvailable, reason: .busy, underlying: "\(error)")
        } else if error.isNotAFileOfOurs {
            // SQLite would make a new database where a dangling link leads. Nothing is damaged.
            self.init(
                .notAvailable, reason: .folderUnusable(why: StoreFileKind.why(path)), underlying: "\(error)")
        } else {
            self.init(.io, reason: .inputOutput, underlying: "\(error)")
        }
    }
}

/// Runs what only looks at a file of the store.
package func looking<R>(
    at name: String, in directory: PrivateDirectory, _ body: () throws(SystemCallError) -> R
) throws(KeychainError) -> R {
    do throws(SystemCallError) { return try body() } catch {
        throw KeychainError(looking: error, at: "\(directory.path)/\(name)")
    }
}

extension PrivateDirectory {
    /// What lies in it now.
    func names() throws(KeychainError) -> [String] {
        do throws(SystemCallError) { return try FolderContent.names(in: descriptor) } catch {
            throw KeychainError(looking: error, at: path)
        }
    }
}
