internal import KeychainPlatform

/// The columns of a password manager's CSV.
struct CSVLayout {
    let format: SourceFormat
    /// By their names in lower case: those that tell the format, then the others.
    let required: [String: FieldDestination]
    let optional: [String: FieldDestination]

    func destination(of column: String) -> FieldDestination? { required[column] ?? optional[column] }

    static let all = [apple, chrome, firefox, bitwarden]

    /// Passwords for macOS and iOS, "Export All Passwords": Title, URL, Username,
    /// Password, Notes, OTPAuth.
    private static let apple = CSVLayout(
        format: .apple,
        required: ["title": .label, "url": .address, "username": .account, "password": .value],
        optional: ["notes": .note, "otpauth": .oneTimeSecret])

    /// chrome://password-manager: name, url, username, password, note.
    private static let chrome = CSVLayout(
        format: .chrome,
        required: ["name": .label, "url": .address, "username": .account, "password": .value],
        optional: ["note": .note])

    /// about:logins: times are milliseconds since 1970.
    private static let firefox = CSVLayout(
        format: .firefox,
        required: [
            "url": .address, "username": .account, "password": .value, "httprealm": .securityDomain,
            "guid": .notStored(why: "a number of Firefox's own"),
        ],
        optional: [
            "formactionorigin": .notStored(why: "an item has no place for where a form is sent"),
            "timecreated": .creationDate,
            "timelastused": .notStored(why: "the keychain keeps no date of use"),
            "timepasswordchanged": .notStored(why: "the keychain sets the date of change itself"),
        ])

    /// Bitwarden help, "Condition a Bitwarden .csv": individual vault.
    private static let bitwarden = CSVLayout(
        format: .bitwardenCSV,
        required: ["name": .label, "type": .kind, "login_username": .account, "login_password": .value],
        optional: [
            "folder": .folder, "collections": .folder, "notes": .note, "fields": .note, "login_uri": .address,
            "login_totp": .oneTimeSecret, "favorite": .notStored(why: "a mark of the program's own"),
            "reprompt": .notStored(why: "a mark of the program's own"),
            "archiveddate": .notStored(why: "a mark of the program's own"),
        ])

    /// The layout of a heading, where exactly one fits.
    static func detect(_ columns: [String]) throws(ImportFailure) -> CSVLayout {
        let names = Set(columns)
        let fitting = all.filter { $0.required.keys.allSatisfy(names.contains) }
        // A file without a heading has secrets in its first line: only names that we
        // know are shown.
        let known = columns.filter { name in all.contains { $0.required[name] != nil || $0.optional[name] != nil } }
        let seen =
            "\(columns.count) columns"
            + (known.isEmpty ? ", none of a known name" : ", among them " + known.joined(separator: ", "))
        guard let first = fitting.first else {
            throw ImportFailure(
                .wrongSource, "the columns are of no known format: \(seen)",
                "Give a file with the heading that \(all.map(\.format.name).joined(separator: ", ")) writes.")
        }
        guard fitting.count == 1 else {
            throw ImportFailure(
                .wrongSource,
                "the columns fit \(fitting.map(\.format.name).joined(separator: " and ")) alike: \(seen)",
                "Say which it is: --format \(fitting.map(\.format.rawValue).joined(separator: " or --format "))")
        }
        return first
    }

    static func named(_ format: SourceFormat, _ columns: [String]) throws(ImportFailure) -> CSVLayout? {
        guard let layout = all.first(where: { $0.format == format }) else { return nil }
        let missing = layout.required.keys.filter { !columns.contains($0) }.sorted()
        guard missing.isEmpty else {
            throw ImportFailure(
                .wrongSource, "the heading of \(format.name) has these columns too: \(missing.joined(separator: ", "))",
                "Leave --format out, or give the file as the program exported it.")
        }
        return layout
    }
}

/// Names out of a source, as a message may show them.
enum PrintableName {
    /// Cut, and without what moves a terminal's cursor: a heading that is none may be anything.
    static func shown(_ name: String) -> String {
        let short = name.unicodeScalars.prefix(24).map { scalar -> String in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{fffd}"
            default: String(scalar)
            }
        }
        return short.joined() + (name.unicodeScalars.count > 24 ? "…" : "")
    }
}
