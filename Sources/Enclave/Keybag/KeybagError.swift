internal import KeychainModel
internal import KeychainPlatform

/// Why a keybag did not open or could not be made. Nothing on disk is changed
/// when one of these is thrown, but for ``unfinished(why:)``.
enum KeybagError: Error, Hashable, Sendable {
    /// Nothing authentic is there, and a store exists that would need it.
    case unreadable(Cause)
    /// No protector opens the root key; a device was asked and said so.
    case noProtectorOpens(String)
    case device(HardwareError)
    /// Older class keys are still needed, as many as a keybag holds.
    case tooManyKeys
    /// There would be more slots than a keybag holds.
    case tooManySlots
    /// What was to be written is no keybag that this program opens: our fault.
    case wouldNotOpen
    /// Written by a program that knows more than this one.
    case newer(version: UInt32)
    /// The keybag, its protectors and the database are not of one store.
    case mismatch
    /// Another process has the folder.
    case inUse
    /// What is open lies in memory alone.
    case away
    case directory(DirectoryRefusal)
    /// A link, a folder or a pipe lies where the file should that says who has the folder.
    case noFile(path: String)
    case system(SystemCallError)
    /// The counter of a TPM does not vouch for this copy of the folder.
    case notVouchedFor(CounterDoubt)
    /// Another root key is the one that counts; the next opening writes what says so.
    case unfinished(why: String)

    /// What exactly was not there or did not open, for whoever mends it.
    enum Cause: String, Hashable, Sendable {
        case missing = "the keybag is not there"
        case protectorsMissing = "the keybag's protectors are not there"
        case protectorsDamaged = "neither copy of the protectors is authentic"
        case noProtectorOpens = "no protector opens the root key"
        case secretDamaged = "neither copy of the software protector's secret is whole"
        case keybagDamaged = "neither copy of the keybag is authentic"
        case malformed = "an authentic file says what this program cannot make sense of"
        case slotRefuses = "the slot refuses its secret"
        case effacementMissing = "the effacement secret, which items of a set passcode need, is not there"
    }
}

extension KeybagError {
    /// What the daemon and its clients are told: always `errSecNotAvailable`,
    /// never a status that could be taken for a damaged item.
    var asKeychainError: KeychainError {
        switch self {
        case .unreadable(let cause): .init(.notAvailable, reason: .keybagUnreadable, underlying: cause.rawValue)
        case .noProtectorOpens(let why):
            .init(
                .notAvailable, reason: .keybagUnreadable, underlying: "\(Cause.noProtectorOpens.rawValue): \(why)")
        case .tooManyKeys:
            .init(.notAvailable, reason: .busy, underlying: "items are still being moved to new keys")
        case .tooManySlots:
            .init(
                .param,
                reason: .protectorRefused(why: "there are as many ways to open it as there may be; remove one"))
        case .wouldNotOpen:
            .init(.internalComponent, reason: .internalFault(what: "a keybag that would not open again"))
        case .device(let error): .init(.notAvailable, reason: .deviceFailed(why: "\(error)"))
        case .notVouchedFor(let doubt): .init(.notAvailable, reason: .folderRefused(why: doubt.description))
        case .newer(let version): .init(.notAvailable, reason: .storeNewer(version: Int(version)))
        case .unfinished(let why):
            .init(
                .notAvailable, reason: .inputOutput,
                underlying: "\(why); it is done all the same, and `latchkey lock --stop`, or a new start, finishes it")
        case .mismatch: .init(.notAvailable, reason: .storeMismatch)
        case .inUse: .init(.notAvailable, reason: .storeInUse)
        case .away:
            .init(
                .notAvailable, reason: .keysAway,
                underlying: "the folder enclave is not as it was opened: put it back, with mode 700; its enclave "
                    + "alone has the keys")
        case .directory(.system(let path, let error)) where error.isDiskFull:
            .init(.notAvailable, reason: .diskFull, underlying: "\(path): \(error)")
        case .directory(let refusal):
            .init(.notAvailable, reason: .folderUnusable(why: refusal.description))
        case .noFile(let path):
            .init(
                .notAvailable,
                reason: .folderUnusable(
                    why: "\(path) is a link, a folder or a pipe, and no file: remove it, it is made anew"))
        case .system(let error) where error.isPermissionDenied:
            // A file that we may not read is no fault of the disk, and nothing is damaged.
            .init(.notAvailable, reason: .folderUnusable(why: "the enclave's files: \(error)"))
        case .system(let error) where error.isFolderInTheWay:
            .init(
                .notAvailable,
                reason: .folderUnusable(
                    why: "a folder lies in the place of a file of the keys; move it away, and the file is written again "
                        + "(\(error))"))
        case .system(let error):
            .init(
                .notAvailable, reason: error.isDiskFull ? .diskFull : .inputOutput, underlying: error.description)
        }
    }

    /// Whether what is missing is something that opens the root key.
    var isOfProtectors: Bool {
        switch self {
        case .noProtectorOpens, .unreadable(.noProtectorOpens), .unreadable(.secretDamaged): true
        default: false
        }
    }
}
