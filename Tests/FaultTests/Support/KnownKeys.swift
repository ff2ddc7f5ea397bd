import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainStore
import Testing

@testable import Enclave

/// Every key of a keychain, opened from a copy of its data folder by whoever knows
/// the passcode: so that the programs that are shipped need no hook to tell them.
struct KnownKeys {
    /// By a name that says kind, class and generation.
    private(set) var ofClass: [ProtectionClass: [String: [UInt8]]] = [:]
    /// The bag key and what leads to it: only while unlocked.
    private(set) var ofBag: [String: [UInt8]] = [:]

    /// Open from the start, in both processes.
    private(set) var index: [UInt8] = []

    /// - Parameter folder: a copy that nobody has open.
    init(of folder: String, passcode: String) throws {
        let directory = try EnclaveDirectory(inData: folder)
        defer { directory.release() }
        var core = try directory.open(for: .daemon(.anyOrNew), at: .zero, cost: .calibrated)
        let request = PersonRequest.unlock(.passcode(.text(passcode)))
        let derived = try core.derivation(for: request, at: .zero).derive()
        _ = try core.perform(request, with: derived, at: .zero)
        let credential = try #require(derived.credential)
        ofBag["secret of the slot"] = credential.secret.bytes.insecureArray()
        ofBag["key of the slot"] = core.keybag.root.slotKey(for: credential.slotSecret).secret.insecureArray()
        ofBag["passcode"] = Array(passcode.utf8)
        index = core.indexKey.bytes.insecureArray()
        try takeBag(of: core)
        try takeStored(in: folder, core)
    }

    private mutating func takeBag(of core: borrowing EnclaveCore) throws {
        var bagKeys: [String: [UInt8]] = [:]
        var classKeys: [ClassKey] = try Keybag.classKeys(
            of: core.keybag.body, .root, under: core.keybag.root.wrappingKey)
        try core.keybag.withOpenBag { bag throws(KeybagError) in
            bagKeys["bag key"] = bag.key.secret.insecureArray()
            bagKeys["person key"] = bag.person?.bytes.insecureArray()
            classKeys += bag.keys
        }
        ofBag.merge(bagKeys) { first, _ in first }
        for key in classKeys { add("class key", key.protectionClass, key.generation, key.key.secret.insecureArray()) }
    }

    private mutating func takeStored(in folder: String, _ core: borrowing EnclaveCore) throws {
        let store = try Store(in: PrivateDirectory(folder, creating: false))
        defer { try? store.close() }
        let (records, rows) = try store.read { reader throws(KeychainError) in
            var records: [(ProtectionClass, MetadataKeyRecord)] = []
            for named in ProtectionClass.allCases { records += try reader.metadataKeys(of: named).map { (named, $0) } }
            var rows: [SealedRow] = []
            for number in 1...Int64(64) {
                if let row = try reader.row(number, in: .genericPassword) { rows.append(row) }
            }
            return (records, rows)
        }
        for (named, record) in records {
            let wrapped = WrappedKey(generation: record.generation, box: record.wrapped)
            guard case .key(let key, _) = core.openMetadataKey(wrapped, of: named) else { continue }
            add("metadata key", named, record.generation, key.bytes.insecureArray())
        }
        for row in rows { takeRow(row, core) }
    }

    private mutating func takeRow(_ row: SealedRow, _ core: borrowing EnclaveCore) {
        guard let named = ProtectionClass(rawValue: row.protection) else { return }
        let wrapped = WrappedKey(generation: row.generation, box: row.wrappedKey ?? [])
        for encoding in [[], AccessControl(unconstrained: named).encoded] {
            let binding = RowBinding(uuid: row.uuid, protectionClass: named, accessControl: encoding)
            let outcome = core.open(wrapped, of: named) {
                WrapBinding.rowKey(store: core.store, binding, generation: row.generation)
            }
            if case .key(let key, _) = outcome {
                add("row key \(row.rowid)", named, row.generation, key.bytes.insecureArray())
            }
        }
    }

    private mutating func add(_ kind: String, _ named: ProtectionClass, _ generation: UInt32, _ bytes: [UInt8]) {
        ofClass[named, default: [:]]["\(kind) \(named.rawValue) \(generation)"] = bytes
    }
}
