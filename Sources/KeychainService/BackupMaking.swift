internal import Enclave
package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// Makes a backup of a store, whether or not a daemon is at work on it.
package struct BackupMaking {
    private let dataDirectory: String
    private let clock: any KeychainClock
    /// More bytes than any file of a keybag has.
    private static let largestFile = 512 << 10

    package init(of dataDirectory: String, clock: any KeychainClock) {
        self.dataDirectory = dataDirectory
        self.clock = clock
    }

    /// Writes the backup to `path`; an older file there stays whole until the
    /// new one is.
    ///
    /// - Returns: how many items of it no restore brings back (``StoreBackup``).
    /// - Throws: ``Failure``: `storeUnreadable` where there is no store,
    ///   `storeMalformed`, `readOnly`, `diskFull`, that the file is there, or that
    ///   none can be made there.
    @discardableResult
    package func write(to path: String, replacing: Bool) throws(Failure) -> Int {
        let file: OutputFile
        do throws(OutputFile.Refusal) { file = try OutputFile(path) } catch {
            switch error {
            case .writableByOthers(let folder): throw .writableByOthers(folder: folder)
            case .system(let error): throw Self.failure(of: error)
            }
        }
        defer { file.discard() }
        guard replacing || !file.isTaken else { throw .isThere }
        let (leftBehind, lacksItems): (Int, Bool)
        do throws(KeychainError) { (leftBehind, lacksItems) = try copy(to: file.temporaryPath) } catch {
            throw .keychain(error)
        }
        // The older file may be where what is missing still is.
        guard !lacksItems || !file.isTaken else { throw .lacksItems }
        do throws(SystemCallError) { try file.publish(replacing: replacing) } catch {
            throw error.isAlreadyThere ? .isThere : Self.failure(of: error)
        }
        return leftBehind
    }

    /// What the file that is written meets is no fault of the store.
    private static func failure(of error: SystemCallError) -> Failure {
        let fault = KeychainError(files: error)
        return [.storeUnreadable, .readOnly].contains(fault.reason) ? .unwritable(error) : .keychain(fault)
    }

    private func copy(to path: String) throws(KeychainError) -> (leftBehind: Int, lacksItems: Bool) {
        let data: PrivateDirectory
        do throws(DirectoryRefusal) { data = try PrivateDirectory(dataDirectory, creating: false) } catch {
            throw KeychainError(folder: error)
        }
        return try StoreBackup.write(data, to: path, at: clock.wallClock) { () throws(KeychainError) in try keybagFiles() }
    }

    /// Why no backup was written.
    package enum Failure: Error {
        /// The file is there and may not be replaced.
        case isThere
        /// Items may be missing from the keychain, which the file that is there may have.
        case lacksItems
        /// Others can put something else in its place.
        case writableByOthers(folder: String)
        /// No file can be made there.
        case unwritable(SystemCallError)
        case keychain(KeychainError)
    }

    /// Both copies of each, as they are now: whoever writes them leaves one whole
    /// at any moment, and opening takes that one.
    ///
    /// - Throws: `keybagUnreadable` where they open nothing, which a daemon that has the keys
    ///   in its memory would not notice before it starts anew.
    private func keybagFiles() throws(KeychainError) -> [EnclaveFiles.File] {
        var files = try filesAtPresent()
        // Read one after another, they may be from before and from behind a change.
        for _ in 0..<Self.mostReadings where EnclaveFiles.areAuthentic(files) == false {
            files = try filesAtPresent()
        }
        guard EnclaveFiles.areAuthentic(files) != false else {
            throw KeychainError(
                .notAvailable, reason: .keybagUnreadable,
                underlying: "what is on disk opens nothing; where the keychain is open, `latchkey doctor` has it written again")
        }
        return files
    }

    private static let mostReadings = 8

    private func filesAtPresent() throws(KeychainError) -> [EnclaveFiles.File] {
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory("\(dataDirectory)/\(EnclaveFiles.folderName)", creating: false)
        } catch {
            // One that cannot be looked at is no lost one.
            switch error {
            case .open, .foreignOwner:
                throw KeychainError(folder: error)
            case .system(let path, let below) where !below.isNoSuchFile:
                throw KeychainError(looking: below, at: path)
            case .notADirectory, .system: throw withoutKeybag("\(error)")
            }
        }
        var files: [EnclaveFiles.File] = []
        for name in EnclaveFiles.names {
            let content = try translatingFiles { () throws(SystemCallError) -> [UInt8]? in
                do throws(SystemCallError) { return try folder.read(name, atMost: Self.largestFile) } catch {
                    // A folder, say, in the place of one copy: the other is whole.
                    guard error.isNotAFileOfOurs else { throw error }
                    return nil
                }
            }
            if let content { files.append((name, content)) }
        }
        guard EnclaveFiles.suffice(files) else {
            throw withoutKeybag("a file of the keybag is missing")
        }
        return files
    }

    /// An enclave that runs has what the files lack, and no backup could be made of that.
    private func withoutKeybag(_ cause: String) -> KeychainError {
        let runs = EnclaveRendezvous.last(inData: dataDirectory) != nil
        return KeychainError(.notAvailable, reason: runs ? .keysAway : .keybagUnreadable, underlying: cause)
    }
}
