internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainPlatform

/// What the keybag of a data folder says to whoever may read it, without a key and
/// unproved: good for not starting anything in vain, and for nothing else.
package enum KeybagOutline {
    /// Bytes before the body (FORMATS.md, "Frame of `protectors` and `keybag`").
    private static let header = 24
    private static let largestFile = 256 * 1024 + header + 32

    /// Whether some copy of the keybag names a slot of that kind.
    ///
    /// True as well where that cannot be seen: whoever opens the keychain says why.
    package static func names(slot kind: String, inData path: String) -> Bool {
        some(inData: path) { $0.slots.contains { $0.kind == kind } }
    }

    /// Where TPMs have, or may have, an effacement secret, as some copy says it; nil where
    /// something is there and no copy can be read.
    package static func tpmPlaces(inData path: String) -> [TPMPlace]? {
        let (copies, areAll) = copies(inData: path)
        guard areAll || !copies.isEmpty else { return nil }
        var places: [TPMPlace] = []
        for tpm in copies.map(\.tpmEffacement) {
            for index in (tpm.hasIndex ? [tpm.index] : []) + tpm.undefining {
                guard let place = TPMIndex(index)?.place else { return nil }
                if !places.contains(place) { places.append(place) }
            }
        }
        return places
    }

    /// The counters of TPMs: that which tells older copies of the folder, and those that may
    /// still be there. As ``tpmPlaces(inData:)``.
    package static func counterPlaces(inData path: String) -> (counting: [TPMPlace], left: [TPMPlace])? {
        let (copies, areAll) = copies(inData: path)
        guard areAll || !copies.isEmpty else { return nil }
        var (counting, left): ([TPMPlace], [TPMPlace]) = ([], [])
        for counter in copies.map(\.tpmCounter) {
            let indices = (counter.hasIndex ? [counter.index] : []).compactMap { TPMIndex($0)?.place }
            counting += indices.filter { !counting.contains($0) }
            left += counter.undefining.compactMap { TPMIndex($0)?.place }.filter { !left.contains($0) }
        }
        return (counting, left)
    }

    private static func some(inData path: String, _ isMeant: (Latchkey_KeybagBody) -> Bool) -> Bool {
        let (copies, areAll) = copies(inData: path)
        return !areAll || copies.contains(where: isMeant)
    }

    /// Those that can be read, and whether these are all that are there.
    private static func copies(inData path: String) -> (read: [Latchkey_KeybagBody], areAll: Bool) {
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory("\(path)/\(EnclaveRendezvous.folderName)", creating: false)
        } catch {
            if case .system(_, let below) = error, below.isNoSuchFile { return ([], true) }
            return ([], false)
        }
        var copies: [Latchkey_KeybagBody] = []
        var areAll = true
        for number in 0..<2 {
            do throws(SystemCallError) {
                guard let bytes = try folder.read("keybag.\(number)", atMost: largestFile) else { continue }
                if let copy = body(in: bytes) { copies.append(copy) } else { areAll = false }
            } catch { areAll = false }
        }
        return (copies, areAll)
    }

    /// Of the slots in a file; nil where it is none.
    package static func kinds(in file: [UInt8]) -> [String]? { body(in: file)?.slots.map(\.kind) }

    private static func body(in file: [UInt8]) -> Latchkey_KeybagBody? {
        guard file.count > header, file.starts(with: "LKKEYBAG".utf8) else { return nil }
        let count = file[20..<header].reduce(0) { $0 << 8 | Int($1) }
        guard count <= file.count - header else { return nil }
        return decoded(Latchkey_KeybagBody.self, Array(file[header..<header + count]))
    }
}
