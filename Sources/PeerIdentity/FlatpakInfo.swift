/// What `/.flatpak-info` says: which application Flatpak made the sandbox for
/// (flatpak-metadata(5)).
///
/// Flatpak mounts it read-only, so that an application cannot shed it. Any
/// program of the user can make a sandbox of its own with any such file in it.
struct FlatpakInfo: Hashable, Sendable {
    let application: String

    init?(_ text: [UInt8]) {
        var isInApplication = false
        var found: String?
        for raw in text.split(separator: UInt8(ascii: "\n")) {
            guard let line = String(validating: raw, as: UTF8.self) else { return nil }
            if line.hasPrefix("[") { isInApplication = line == "[Application]" }
            if isInApplication, line.hasPrefix("name="), found == nil { found = String(line.dropFirst(5)) }
        }
        guard let found, ReverseDomainName.isValid(found) else { return nil }
        application = found
    }
}

/// Names like `org.example.App`: the identifiers of Flatpak and of bundles.
///
/// A dot is required, so that none reads like a path digest or like a word of ours.
enum ReverseDomainName {
    static func isValid(_ name: String) -> Bool {
        guard name.utf8.count <= 255, name.utf8.contains(UInt8(ascii: ".")) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
        }
    }
}
