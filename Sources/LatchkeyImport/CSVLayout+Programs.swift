extension CSVLayout {
    /// LastPass, "Export your data": of a secure note the address is `http://sn`.
    static let lastPass = CSVLayout(
        format: .lastPass,
        required: [
            "url": .address, "username": .account, "password": .value, "extra": .note, "name": .label,
            "grouping": .folder,
        ],
        optional: ["totp": .oneTimeSecret, "fav": mark],
        encoded: ["name", "extra", "grouping", "username", "password"])

    /// Dashlane, credentials.csv.
    static let dashlane = CSVLayout(
        format: .dashlane,
        required: [
            "username": .account, "username2": .account, "title": .label, "password": .value, "note": .note,
            "url": .address,
        ],
        optional: [
            "username3": .account, "category": .folder, "otpurl": .oneTimeSecret, "otpsecret": .oneTimeSecret,
        ],
        late: ["username2", "username3"])

    /// NordPass: rows of cards, identities, notes and folders stand among the passwords.
    static let nordPass = CSVLayout(
        format: .nordPass,
        required: [
            "name": .label, "url": .address, "username": .account, "password": .value, "note": .note,
        ],
        optional: ["additional_urls": .address, "folder": .folder, "type": .kind],
        telling: ["cardholdername"], addresses: .furtherInJSON)

    /// Proton Pass: times are seconds since 1970; a login has a user name, an address of
    /// mail, or both.
    static let protonPass = CSVLayout(
        format: .protonPass,
        required: [
            "type": .kind, "name": .label, "url": .address, "username": .account, "password": .value,
            "createtime": .creationDate, "modifytime": changed,
        ],
        optional: ["email": .account, "note": .note, "totp": .oneTimeSecret, "vault": .folder],
        dates: .seconds, addresses: .joinedWithCommas, late: ["email"])

    /// KeePassXC, "Export to CSV"; before 2.7 without the columns that are not required.
    static let keePassXC = CSVLayout(
        format: .keePassXC,
        required: [
            "group": .folder, "title": .label, "username": .account, "password": .value, "url": .address,
            "notes": .note,
        ],
        optional: ["totp": .oneTimeSecret, "icon": mark, "last modified": changed, "created": .creationDate],
        dates: .iso)
}
