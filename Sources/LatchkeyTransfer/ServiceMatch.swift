internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyImport

/// Of items that have the very same lookup attributes: which of the source's is which of the
/// keychain's. Programs tell them apart by nothing, and one that goes, changes or comes must not
/// move the others: so the value decides, then label and date of creation.
struct ServiceMatch {
    private let services: [ServiceItem]
    private let held: [HeldItems.Row]
    private let theirs: [SharedSecret]
    private let ours: [SharedSecret?]

    /// By the number of the source's item; what has none is new.
    ///
    /// - Parameter value: of an item of the keychain; nil where it does not open. Asked only where
    ///   there are several to choose from.
    static func rows(
        for services: [ServiceItem], _ held: [HeldItems.Row], value: (HeldItems.Row) -> SharedSecret?
    ) -> [Int: HeldItems.Row] {
        let held = withoutRenamed(held)
        guard let first = held.first else { return [:] }
        guard services.count > 1 || held.count > 1 else { return [0: first] }
        let theirs = services.map { SharedSecret($0.value.secret()) }
        return ServiceMatch(services: services, held: held, theirs: theirs, ours: held.map(value)).rows
    }

    private var rows: [Int: HeldItems.Row] {
        var rows: [Int: HeldItems.Row] = [:]
        var (openServices, openRows) = (Array(services.indices), Array(held.indices))
        func pair(_ isSame: (_ service: Int, _ row: Int) -> Bool) {
            openServices.removeAll { service in
                guard let index = openRows.firstIndex(where: { isSame(service, $0) }) else { return false }
                rows[service] = held[openRows.remove(at: index)]
                return true
            }
        }
        pair { isOfOneDate($0, $1) && isOfOneLabel($0, $1) && isOfOneValue($0, $1) }
        pair { isOfOneLabel($0, $1) && isOfOneValue($0, $1) }
        pair(isOfOneValue)
        // What has no equal and was made in the same second has changed in one of the two.
        pair { isOfOneDate($0, $1) && isOfOneLabel($0, $1) }
        pair(isOfOneDate)
        pair { services[$0].created == nil && isOfOneLabel($0, $1) }
        return rows
    }

    private func isOfOneValue(_ service: Int, _ row: Int) -> Bool {
        ours[row]?.bytes.isEqual(to: theirs[service].bytes) ?? false
    }

    private func isOfOneDate(_ service: Int, _ row: Int) -> Bool {
        services[service].created.map { held[row].attributes[.creationDate] == .date($0) } ?? false
    }

    private func isOfOneLabel(_ service: Int, _ row: Int) -> Bool {
        services[service].label == held[row].attributes[.label]?.string ?? ""
    }

    /// Without those that `--on-conflict rename` stored beside another: who renames again finds
    /// them there by their number, and who replaces means the other.
    private static func withoutRenamed(_ rows: [HeldItems.Row]) -> [HeldItems.Row] {
        let accounts = Set(rows.compactMap { $0.attributes[.account]?.string })
        return rows.filter { row in
            guard let account = row.attributes[.account]?.string, account.hasSuffix(")"),
                let open = account.lastIndex(of: "("), let number = UInt(account[open...].dropFirst().dropLast()),
                number > 1
            else { return true }
            let stem = account[..<open]
            return !accounts.contains(String(stem.hasSuffix(" ") ? stem.dropLast() : stem))
        }
    }
}
