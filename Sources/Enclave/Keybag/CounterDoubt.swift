/// Why the counter of a TPM does not say of a folder that it is the newest copy. Nothing is
/// changed for any of these.
enum CounterDoubt: Error, Hashable, Sendable, CustomStringConvertible {
    /// The TPM has counted further than this copy knows of.
    case olderCopy
    /// A file of it is older than what the count vouches for.
    case olderFile
    /// Either, and the disk does not give a copy of one of the files.
    case unreadableCopy
    /// Nothing says how far it had counted.
    case noCount
    /// This copy knows of more than the TPM has counted.
    case aheadOfTPM
    /// The TPM says that it has no such counter.
    case gone
    /// It does not say anything, or it is another one.
    case unheard(HardwareError)

    var description: String {
        switch self {
        case .olderCopy: "an older copy of it was put back; the TPM has counted changes or attempts since"
        case .olderFile: "one of its files is older than the others: an older copy was put back"
        case .unreadableCopy:
            "the disk does not give one copy of a file, and the other is older than the TPM's count; copy the folder "
                + "away and look at the disk before you accept it"
        case .noCount: "the file `attempts`, which says how far the TPM has counted, is missing or damaged"
        case .aheadOfTPM: "it was counted further than the TPM has: the TPM's memory, or the folder, is another one"
        case .gone: "the TPM does not have its counter any more\(Self.wayOut)"
        case .unheard(let why):
            "the TPM that counts for it does not confirm that it is the newest copy: \(why)\(Self.wayOut)"
        }
    }

    private static let wayOut =
        "; where that TPM does not come back, `latchkey protector counter accept --give-up` goes on without it"

    /// The same where the disk does not give every copy.
    var whereUnreadable: CounterDoubt {
        switch self {
        case .olderCopy, .olderFile: .unreadableCopy
        case .unreadableCopy, .noCount, .aheadOfTPM, .gone, .unheard: self
        }
    }

    /// Whether the counter itself is not there: a person who accepts the copy gives it up.
    var needsGivingUp: Bool {
        switch self {
        case .gone, .unheard: true
        case .olderCopy, .olderFile, .unreadableCopy, .noCount, .aheadOfTPM: false
        }
    }
}
