internal import KeychainPlatform

/// The columns of a password manager's CSV.
struct CSVLayout: Sendable {
    /// How a date is written.
    enum Dates: Sendable { case milliseconds, seconds, iso }

    /// How the columns of addresses are written.
    enum Addresses: Sendable {
        case one
        case joinedWithCommas
        /// A list in JSON where it is not the first column of addresses.
        case furtherInJSON
    }

    let format: SourceFormat
    /// By their names in lower case: those that tell the format, then the others.
    let required: [String: FieldDestination]
    let optional: [String: FieldDestination]
    /// Further ones that tell the format; they have no place of their own.
    var telling: Set<String> = []
    var dates = Dates.milliseconds
    var addresses = Addresses.one
    /// Columns that are taken after all others: they fill a place that is still empty.
    var late: Set<String> = []
    /// Columns in which characters of HTML are written as entities.
    var encoded: Set<String> = []
    /// Whether a heading with columns that are none of these may be its own: too few tell it apart.
    var admitsOthers = true

    private var needed: Set<String> { telling.union(required.keys) }

    private func fits(_ columns: Set<String>) -> Bool {
        needed.isSubset(of: columns) && (admitsOthers || columns.allSatisfy(knows))
    }

    /// What a column that no program names otherwise holds in any of them.
    private static let oneTimeNames: Set<String> = ["totp", "otp", "otpauth", "otpurl", "otpsecret", "2fa"]

    /// nil: a line of the note.
    func destination(of column: String) -> FieldDestination? {
        if let known = required[column] ?? optional[column] { return known }
        let letters = column.filter { !" -_".contains($0) }
        return Self.oneTimeNames.contains(letters) ? .oneTimeSecret : nil
    }

    private func knows(_ column: String) -> Bool { needed.contains(column) || optional[column] != nil }

    /// Whether a line may be the heading of one of them.
    static func isHeading(_ columns: [String]) -> Bool {
        let names = Set(columns)
        return all.contains { $0.fits(names) }
    }

    static let all = [
        apple, chrome, firefox, bitwarden, lastPass, dashlane, nordPass, protonPass, keePassXC, plain,
    ]

    static let mark = FieldDestination.notStored(why: "a mark of the program's own")
    static let changed = FieldDestination.notStored(why: "the keychain sets the date of change itself")

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
            "timepasswordchanged": changed,
        ])

    /// Bitwarden help, "Condition a Bitwarden .csv": individual vault.
    private static let bitwarden = CSVLayout(
        format: .bitwardenCSV,
        required: ["name": .label, "type": .kind, "login_username": .account, "login_password": .value],
        optional: [
            "folder": .folder, "collections": .folder, "notes": .note, "fields": .note, "login_uri": .address,
            "login_totp": .oneTimeSecret, "favorite": mark, "reprompt": mark, "archiveddate": mark,
        ],
        addresses: .joinedWithCommas)

    /// What all of them have: url, username, password, and nothing else.
    private static let plain = CSVLayout(
        format: .plainCSV, required: ["url": .address, "username": .account, "password": .value], optional: [:],
        admitsOthers: false)

    /// The layout of a heading, where exactly one fits; one with all the columns of
    /// another and more goes before it.
    static func detect(_ columns: [String]) throws(ImportFailure) -> CSVLayout {
        let names = Set(columns)
        let possible = all.filter { $0.fits(names) }
        let fitting = possible.filter { layout in
            !possible.contains { $0.needed.isStrictSuperset(of: layout.needed) }
        }
        // A file without a heading has secrets in its first line: only names that we
        // know are shown.
        let known = columns.filter { name in all.contains { $0.knows(name) } }
        let seen =
            (columns.count == 1 ? "1 column" : "\(columns.count) columns")
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
        let missing = layout.needed.subtracting(columns).sorted()
        guard missing.isEmpty else {
            throw ImportFailure(
                .wrongSource, "the heading of \(format.name) has these columns too: \(missing.joined(separator: ", "))",
                "Leave --format out, or give the file as the program exported it.")
        }
        return layout
    }
}
