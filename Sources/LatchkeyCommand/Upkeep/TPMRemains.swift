internal import KeychainPlatform
internal import KeychainProtocol

/// What TPMs have of the keychain in a folder, which nobody asks once the folder is another
/// or none.
struct TPMRemains {
    /// nil where that cannot be seen.
    private let places: [TPMPlace]?
    /// Counters that tell an older copy of the folder: they hold no secret.
    private let counters: [TPMPlace]

    private init(_ places: [TPMPlace]?, counters: [TPMPlace]) {
        self.places = places
        self.counters = counters
    }

    private static func counters(in folder: String) -> [TPMPlace] {
        KeybagOutline.counterPlaces(inData: folder).map { $0.counting + $0.left } ?? []
    }

    /// Of the keychain in the folder alone.
    init(ofKeychainIn folder: String) {
        self.init(KeybagOutline.tpmPlaces(inData: folder), counters: Self.counters(in: folder))
    }

    /// And of those that were set aside in it.
    init(ofAllIn folder: String) {
        let inner = FolderContent.names(at: folder).sorted().map { "\(folder)/\($0)" }.filter {
            !FolderContent.names(at: "\($0)/\(EnclaveRendezvous.folderName)").isEmpty
        }
        let found = ([folder] + inner).map { KeybagOutline.tpmPlaces(inData: $0) }
        self.init(
            found.contains { $0 == nil } ? nil : found.compactMap { $0 }.reduce([], +),
            counters: ([folder] + inner).flatMap(Self.counters))
    }

    /// But for what the other has as well.
    func without(_ other: TPMRemains) -> TPMRemains {
        let counters = counters.filter { !other.counters.contains($0) }
        guard let places, let others = other.places else { return TPMRemains(nil, counters: counters) }
        return TPMRemains(places.filter { !others.contains($0) }, counters: counters)
    }

    static let afterErasure =
        "nobody asks it any more, and copies of the folder from before may open with it. Remove it:"

    /// Says what stays, where, and what removes it.
    ///
    /// - Parameter consequence: as a sentence.
    func tell(_ consequence: String, on console: any Console) {
        if !counters.isEmpty {
            let list = counters.map(\.description).joined(separator: ", ")
            console.note(
                "A counter that nobody uses from now on stays in \(list). It holds no secret and takes some of the TPM's "
                    + "memory. Remove it:")
            for place in counters { console.note("  \(place.removal)") }
        }
        guard let places else {
            return console.note(
                "What the folder said of TPMs cannot be read. If you used `latchkey passcode effacement tpm`, a TPM "
                    + "may still have what went with the passcode.")
        }
        guard !places.isEmpty else { return }
        let list = places.map(\.description).joined(separator: ", ")
        console.note("What went with a passcode stays in \(list): \(consequence)")
        for place in places { console.note("  \(place.removal)") }
    }
}
