internal import KeychainPlatform
internal import KeychainProtocol

/// What TPMs have of the keychain in a folder, which nobody asks once the folder is another
/// or none.
struct TPMRemains {
    /// nil where that cannot be seen.
    private let places: [TPMPlace]?
    /// Counters that tell an older copy of the folder: they hold no secret.
    private let counters: Counters

    private struct Counters {
        /// Without these a folder that names them is not opened.
        var counting: [TPMPlace] = []
        /// What no folder needs.
        var left: [TPMPlace] = []

        init(in folders: [String]) {
            for folder in folders {
                guard let found = KeybagOutline.counterPlaces(inData: folder) else { continue }
                counting += found.counting.filter { !counting.contains($0) }
                left += found.left.filter { !left.contains($0) }
            }
            // What one copy of a keybag has given up may be what the other counts with.
            left.removeAll { counting.contains($0) }
        }

        /// But for what the other names as well.
        func without(_ other: Counters) -> Counters {
            var rest = self
            let known = other.counting + other.left
            rest.counting.removeAll { known.contains($0) }
            rest.left.removeAll { known.contains($0) }
            return rest
        }
    }

    private init(_ places: [TPMPlace]?, _ counters: Counters) {
        self.places = places
        self.counters = counters
    }

    /// Of the keychain in the folder alone.
    init(ofKeychainIn folder: String) {
        self.init(KeybagOutline.tpmPlaces(inData: folder), Counters(in: [folder]))
    }

    /// And of those that were set aside in it.
    init(ofAllIn folder: String) {
        let inner = FolderContent.names(at: folder).sorted().map { "\(folder)/\($0)" }.filter {
            !FolderContent.names(at: "\($0)/\(EnclaveRendezvous.folderName)").isEmpty
        }
        let found = ([folder] + inner).map { KeybagOutline.tpmPlaces(inData: $0) }
        self.init(
            found.contains { $0 == nil } ? nil : found.compactMap { $0 }.reduce([], +),
            Counters(in: [folder] + inner))
    }

    /// But for what the other has as well.
    func without(_ other: TPMRemains) -> TPMRemains {
        let counters = counters.without(other.counters)
        guard let places, let others = other.places else { return TPMRemains(nil, counters) }
        return TPMRemains(places.filter { !others.contains($0) }, counters)
    }

    /// Whether a folder is left that may want them.
    enum Aftermath {
        /// None is.
        case erased
        /// The keychain from before lies beside the new one.
        case setAside

        fileprivate var ofSecrets: String {
            switch self {
            case .erased: "nobody asks it any more, and copies of the folder from before may open with it. Remove it:"
            case .setAside:
                "that of the keychain from before, which may open with it. If you do not go back to that, remove it:"
            }
        }
    }

    /// Says what stays, where, and what removes it.
    func tell(after aftermath: Aftermath, on console: any Console) {
        switch aftermath {
        case .erased: tell(ofUnused: counters.counting + counters.left, on: console)
        case .setAside:
            tell(ofUnused: counters.left, on: console)
            tell(ofNeeded: counters.counting, on: console)
        }
        guard let places else {
            return console.note(
                "What the folder said of TPMs cannot be read. If you used `latchkey passcode effacement tpm`, a TPM "
                    + "may still have what went with the passcode.")
        }
        guard !places.isEmpty else { return }
        let list = places.map(\.description).joined(separator: ", ")
        console.note("What went with a passcode stays in \(list): \(aftermath.ofSecrets)")
        for place in places { console.note("  \(place.removal)") }
    }

    private func tell(ofUnused places: [TPMPlace], on console: any Console) {
        guard !places.isEmpty else { return }
        let list = places.map(\.description).joined(separator: ", ")
        console.note(
            "A counter that nobody uses from now on stays in \(list). It holds no secret and takes some of the TPM's "
                + "memory. Remove it:")
        for place in places { console.note("  \(place.removal)") }
    }

    private func tell(ofNeeded places: [TPMPlace], on console: any Console) {
        guard !places.isEmpty else { return }
        let list = places.map(\.description).joined(separator: ", ")
        console.note(
            "A TPM counts for the keychain from before as well (\(list)): without that counter it opens with its recovery "
                + "code alone, after `latchkey protector counter accept --give-up`. Remove the counter only once you are "
                + "sure that you do not go back to that keychain:")
        for place in places { console.note("  \(place.removal)") }
    }
}
