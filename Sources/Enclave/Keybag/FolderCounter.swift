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

    let place: TPMCounter.Place
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

    init(
        _ place: TPMCounter.Place, _ password: SharedSecret, _ anchor: Anchor, writtenFailed: Int, reached: UInt64
    ) {
        self.place = place
        self.password = password
        self.anchor = anchor
        self.writtenFailed = writtenFailed
        self.reached = reached
    }

    /// One that goes on from what the TPM has, whatever a file said; nil where that leaves no
    /// room.
    init?(
        _ place: TPMCounter.Place, _ password: SharedSecret, from reached: UInt64, _ files: FileGenerations,
        writtenFailed: Int
    ) {
        guard reached < Anchor.most,
            let next = Anchor(label: place.index.label, count: reached + 1, least: files)
        else { return nil }
        self.init(place, password, next, writtenFailed: writtenFailed, reached: reached)
    }

    var index: TPMIndex { place.index }
    /// A generation of the keybag above any that was written before this count.
    var generation: UInt64 { FileGenerations.beyondAll(before: anchor.count, since: place.base) }

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
        let reached: UInt64
        switch value {
        case .success(let value): reached = value
        case .failure(.gone): throw .gone
        case .failure(let why): throw .unheard(why)
        }
        guard let anchor else { throw .noCount }
        if files.areOlder(than: anchor.least) { throw .olderFile }
        if reached > anchor.count { throw .olderCopy }
        guard reached + 1 >= anchor.count else { throw .aheadOfTPM }
        return (anchor, reached)
    }
}
