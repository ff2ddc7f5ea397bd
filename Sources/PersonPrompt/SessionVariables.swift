/// What is taken over of a process's environment, each variable only where its
/// value is one that a login session of this machine and user has. All others, and
/// whatever else the program chose, stay behind.
package struct SessionVariables: Hashable, Sendable {
    /// The number of a local X server: "0" of ":0" or ":0.1".
    package private(set) var displayNumber: UInt32?
    /// The name of a socket in the runtime folder.
    package private(set) var waylandName: String?
    package private(set) var authorityFile: String?
    package private(set) var runtimeFolder: String?
    /// Without the bus's own number, which programs that the bus started have behind it.
    package private(set) var busAddress: String?
    package private(set) var terminalType: String?
    /// What LC_ALL, LC_CTYPE and LANG say together (locale(7)).
    package private(set) var language: String?

    package init() {}

    /// - Parameter entries: NAME=value each; the first of a name counts, as in getenv(3).
    package init(_ entries: [[UInt8]]) {
        var values: [String: String] = [:]
        for entry in entries {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), entry.count <= 4096,
                let text = String(validating: entry, as: UTF8.self)
            else { continue }
            let name = String(decoding: entry[..<equals], as: UTF8.self)
            if values[name] == nil { values[name] = String(text.dropFirst(name.count + 1)) }
        }
        displayNumber = values["DISPLAY"].flatMap(Self.displayNumber)
        waylandName = values["WAYLAND_DISPLAY"].flatMap { Self.isName($0) ? $0 : nil }
        // Without the variable the file is there (Xau(3), XauFileName).
        authorityFile = (values["XAUTHORITY"] ?? values["HOME"].map { $0 + "/.Xauthority" })
            .flatMap { Self.isPath($0) ? $0 : nil }
        runtimeFolder = values["XDG_RUNTIME_DIR"].flatMap { Self.isPath($0) ? $0 : nil }
        busAddress = values["DBUS_SESSION_BUS_ADDRESS"].map(Self.withoutNumber)
        terminalType = values["TERM"].flatMap { Self.isName($0) ? $0 : nil }
        language = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { values[$0] }.first { !$0.isEmpty }
            .flatMap { Self.isName($0) ? $0 : nil }
    }

    /// Whether its terminal moves a cursor about: not Emacs's shell and tasks of editors, which
    /// show lines (terminfo(5), the entry "dumb"; pinentry-curses draws there all the same).
    package var movesCursor: Bool { terminalType != "dumb" }

    /// Whether its terminal shows UTF-8 (the codeset of a locale's name, locale(7)).
    package var isUTF8: Bool {
        guard let codeset = language?.split(separator: ".", maxSplits: 1).dropFirst().first else { return false }
        let name = codeset.split(separator: "@").first ?? codeset
        return ["utf8", "utf-8"].contains(name.lowercased())
    }

    /// The locale in which what is typed comes: that of the terminal where it names
    /// another codeset. Where nothing is said, or C, terminals of today send UTF-8.
    package var typedLanguage: String {
        guard let language, !isUTF8, language != "C", language != "POSIX" else { return "C.UTF-8" }
        return language
    }

    /// `unix:path=P,guid=G` (D-Bus Specification, "Server Addresses"): dbus-daemon says the whole
    /// of it to what it starts, a login says the path alone.
    private static func withoutNumber(_ address: String) -> String {
        let parts = address.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("guid="), parts[1].utf8.count == 37,
            parts[1].dropFirst(5).allSatisfy(\.isHexDigit)
        else { return address }
        return String(parts[0])
    }

    /// `:N` and `:N.S`, as X(7) has them; a display of another machine is none of
    /// this login session.
    private static func displayNumber(_ text: String) -> UInt32? {
        guard text.first == ":" else { return nil }
        let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy(isNumber), let number = UInt32(parts[0]) else {
            return nil
        }
        return number
    }

    private static func isNumber(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// No slash, and nothing that a program could take for anything but a name.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "._@+-".utf8.contains($0) }
    }

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 1024 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
            && !text.split(separator: "/").contains("..")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
