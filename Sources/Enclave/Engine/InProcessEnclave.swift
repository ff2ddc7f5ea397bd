package import KeychainModel
package import KeychainPlatform
internal import Synchronization

/// The enclave in the caller's own process, for the embedded engine and for
/// tests: the same keybag, the same lock on its folder, no second process.
///
/// Safe for any number of threads. It does not harden the process, which is the
/// caller's.
package final class InProcessEnclave: EnclaveConnector, EnclaveConnection {
    package let storeID: [UInt8]
    package let indexKey: SharedSecret
    private let core: Mutex<EnclaveCore>
    /// Holds the folder's lock; nil where there is no folder.
    private let directory: EnclaveDirectory?

    /// Opens the keybag in `enclave` under the data folder, making it where
    /// `expected` allows.
    ///
    /// - Throws: `errSecNotAvailable` with reason `keybagUnreadable`,
    ///   `storeMismatch`, `storeNewer`, `storeInUse`, `diskFull` or `inputOutput`.
    package convenience init(dataDirectory: String, expecting expected: ExpectedStore) throws(KeychainError) {
        do throws(KeybagError) {
            let directory = try EnclaveDirectory(inData: dataDirectory)
            self.init(try directory.open(expected), directory)
        } catch {
            throw error.asKeychainError
        }
    }

    private init(_ core: consuming EnclaveCore, _ directory: EnclaveDirectory?) {
        storeID = core.store.bytes
        indexKey = core.indexKey
        self.directory = directory
        self.core = Mutex(core)
    }

    /// A new store whose keys are in memory only and go with this object.
    package static func ephemeral() throws(KeychainError) -> InProcessEnclave {
        do throws(KeybagError) {
            return InProcessEnclave(try EnclaveCore.ephemeral(), nil)
        } catch {
            throw error.asKeychainError
        }
    }

    package func connect() -> any EnclaveConnection { self }

    /// Gives the folder's lock up: another engine may open it from now on.
    package func close() { directory?.release() }

    package func makeRowKeys(for rows: [RowBinding]) -> [KeyOutcome] {
        core.withLock { $0.makeRowKeys(for: rows) }
    }

    package func openRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) -> [KeyOutcome] {
        core.withLock { $0.openRowKeys(rows) }
    }

    package func makeMetadataKey(for protectionClass: ProtectionClass) -> KeyOutcome {
        core.withLock { $0.makeMetadataKey(for: protectionClass) }
    }

    package func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) -> KeyOutcome {
        core.withLock { $0.openMetadataKey(wrapped, of: protectionClass) }
    }

    package func describe() -> EnclaveDescription {
        core.withLock { $0.describe(process: ProcessEnvironment.processID) }
    }
}
