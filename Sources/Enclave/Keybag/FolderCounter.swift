internal import KeychainPlatform
internal import KeychainProtocol

/// The counter of a TPM as a running enclave has it.
///
/// The file `attempts` says each count before the TPM has it, so the TPM has that count or the
/// one before it. Nothing is counted as long as it is not known which (``isEven``), and a count
/// whose answer did not come is waited for by whoever asks the next (``HardwareHelper``): the
/// TPM never has more than the file says, unless an older file was put back.
struct FolderCounter: Sendable {
    /// Whose attempt was counted, so that it may be tried.
    enum Attempt: Hashable, Sendable {
        case none
        /// The file says it; the TPM may not have counted it.
        case written([UInt8])
        case counted([UInt8])
    }

    let index: TPMIndex
    let password: SharedSecret
    /// As the file says it.
    var anchor: Anchor
    /// How many failed attempts the file says.
    var writtenFailed: Int
    /// What the TPM has, where that is known.
    var reached: UInt64?
    var attempt = Attempt.none
    /// What a change of a person's has to be vouched for, from when on.
    var owed: FileGenerations?
    /// Why it has not counted the last time.
    var fault: String?

    init(_ index: TPMIndex, _ password: SharedSecret, _ anchor: Anchor, writtenFailed: Int, reached: UInt64) {
        self.index = index
        self.password = password
        self.anchor = anchor
        self.writtenFailed = writtenFailed
        self.reached = reached
    }

    /// One that goes on from what the TPM has, whatever a file said; nil where it said nothing.
    init?(
        _ index: TPMIndex, _ password: SharedSecret, from value: Result<UInt64, HardwareError>,
        _ files: FileGenerations, writtenFailed: Int
    ) {
        guard case .success(let reached) = value,
            let next = Anchor(label: index.label, count: reached + 1, least: files)
        else { return nil }
        self.init(index, password, next, writtenFailed: writtenFailed, reached: reached)
    }

    /// Whether the TPM is known to have counted what the file says.
    var isEven: Bool { reached == anchor.count }

    /// What the TPM is asked for next.
    var work: CounterWork { .raise(index, to: anchor.count, password: password) }

    /// Whether a folder is the newest copy.
    ///
    /// - Parameters:
    ///   - anchor: what its file `attempts` says; nil: nothing of this counter.
    ///   - files: its other files.
    ///   - value: what the TPM has.
    /// - Throws: where it is not, or nobody knows.
    static func prove(
        _ anchor: Anchor?, _ files: FileGenerations, by value: Result<UInt64, HardwareError>
    ) throws(CounterDoubt) -> (anchor: Anchor, reached: UInt64) {
        guard let anchor else { throw .noCount }
        if files.areOlder(than: anchor.least) { throw .olderFile }
        let reached: UInt64
        switch value {
        case .success(let value): reached = value
        case .failure(.gone): throw .gone
        case .failure(let why): throw .unheard(why)
        }
        if reached > anchor.count { throw .olderCopy }
        guard reached + 1 >= anchor.count else { throw .aheadOfTPM }
        return (anchor, reached)
    }
}
