internal import KeychainDaemon
internal import KeychainModel

extension FuzzTarget {
    /// Property lists that a program brings along, or `latchkey temp` names.
    static let propertyList = FuzzTarget(
        "property-list", weight: 4, seeds: { PropertyListSeeds.all }
    ) { bytes throws(Finding) in
        if let name = InfoPropertyList.bundleIdentifier(in: bytes) {
            let isPlain = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"): true
                default: false
                }
            }
            try claim(isPlain && (1...255).contains(name.utf8.count), "a bundle identifier of another form")
            try claim(PropertyListSeeds.isXML(bytes), "a list that is no XML was read")
        }
        do throws(KeychainError) {
            _ = try EntitlementFile.entitlements(in: bytes).accessGroups
        } catch {
            return try claim(error.status == .param, "refused with \(error.status)")
        }
        try claim(PropertyListSeeds.isXML(bytes), "a list that is no XML was read")
    }
}

enum PropertyListSeeds {
    static func isXML(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.utf8.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<") || text.hasPrefix("\u{FEFF}")
    }

    static let all: [[UInt8]] = [info, entitlements, nested(200), openStep, utf16, utf7] + deep

    private static func document(_ body: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">\(body)</plist>
        """
    }

    private static let info = Array(
        document("<dict><key>CFBundleIdentifier</key><string>com.example.app</string></dict>").utf8)

    private static let entitlements = Array(
        document(
            """
            <dict><key>application-identifier</key><string>TEAM.app</string>\
            <key>keychain-access-groups</key><array><string>TEAM.a</string><string>TEAM.b</string></array>\
            <key>com.apple.developer.on-demand-install-capable</key><false/><key>keychain-deny</key><true/>\
            <key>x</key><integer>3</integer><key>y</key><real>1.5</real><key>z</key><data>AAEC</data>\
            <key>d</key><date>2001-01-01T00:00:00Z</date></dict>
            """
        ).utf8)

    private static func nested(_ depth: Int) -> [UInt8] {
        Array(document(arrays(depth)).utf8)
    }

    private static let openStep = Array("{ CFBundleIdentifier = \"com.example.app\"; list = ((((a), b))); }".utf8)

    private static let utf16 = asUTF16("<array><array></array></array>")
    private static let utf7 = asUTF7("<array><array></array></array>")

    /// Deep enough to end a parser's stack, in forms in which "<array" does not show.
    private static let deep = [
        Array(repeating: UInt8(ascii: "("), count: 60_000), asUTF16(arrays(20_000)), asUTF7(arrays(20_000)),
    ]

    private static func arrays(_ depth: Int) -> String {
        String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
    }

    private static func asUTF16(_ body: String) -> [UInt8] {
        [0xFF, 0xFE] + document(body).utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    private static func asUTF7(_ body: String) -> [UInt8] {
        let hidden = body.utf8.flatMap { byte in
            switch byte {
            case UInt8(ascii: "<"): Array("+ADw-".utf8)
            case UInt8(ascii: ">"): Array("+AD4-".utf8)
            default: [byte]
            }
        }
        return Array("<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist version=\"1.0\">".utf8) + hidden
            + Array("</plist>".utf8)
    }
}
