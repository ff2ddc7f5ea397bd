internal import KeychainPlatform
internal import LatchkeyImport

extension FuzzTarget {
    /// A keyring's file of gnome-keyring. What is encrypted in one is read as if it had been
    /// opened: whoever made the file may know its password.
    static let keyringFile = FuzzTarget("keyring-file", seeds: { KeyringSeeds.files }) { bytes throws(Finding) in
        let document: ImportedDocument
        do throws(ImportFailure) {
            let file = try GnomeKeyringFile.parse(SharedSecret(SecretBytes(copying: bytes)))
            document = try file.items(in: file.sealed, collection: "login", isDefault: true)
        } catch {
            return try claim(!error.message.isEmpty && !error.advice.isEmpty, "refused without a word")
        }
        try KeyringProperty.holds(document, bytes.count)
    }

    /// One that has no password.
    static let keyringText = FuzzTarget("keyring-text", seeds: { KeyringSeeds.texts }) { bytes throws(Finding) in
        let source = SourceText(SecretBytes(copying: bytes))
        let document: ImportedDocument
        do throws(ImportFailure) {
            document = try SourceReader.gnomeKeyringText(source, collection: "open", isDefault: false)
        } catch {
            return try claim(!error.message.isEmpty && !error.advice.isEmpty, "refused without a word")
        }
        try KeyringProperty.holds(document, source.count)
    }

    /// What latchkey-secret-service says of another keyring, and in it the maps of KWallet.
    static let keyringLines = FuzzTarget("keyring-lines", seeds: { KeyringSeeds.lines }) { bytes throws(Finding) in
        let document: ImportedDocument
        do throws(ImportFailure) {
            document = try SourceReader.keyringLines(SecretBytes(copying: bytes), .kwallet)
        } catch {
            // The words of another program's failure are its own.
            return
        }
        try KeyringProperty.holds(document, bytes.count)
    }
}

enum KeyringProperty {
    /// Nothing is there that the source does not hold.
    static func holds(_ document: ImportedDocument, _ limit: Int) throws(Finding) {
        try claim(document.serviceItems.count + document.entries.count <= limit, "items out of nothing")
        for item in document.serviceItems {
            try claim(item.value.secret().count <= limit, "a value out of nothing")
            for pair in item.attributes {
                // A number of 4 bytes has up to 10 digits; an item that names no schema gets one.
                try claim(
                    pair.name == "xdg:schema" || pair.name.utf8.count + pair.value.utf8.count <= limit + 10,
                    "an attribute out of nothing")
            }
        }
        for entry in document.entries { try claim(entry.password.secret().count <= limit, "a value out of nothing") }
    }
}

enum KeyringSeeds {
    private static func number(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    private static func text(_ text: String) -> [UInt8] { number(UInt32(text.utf8.count)) + Array(text.utf8) }
    private static let none = number(.max)

    /// As gnome-keyring writes it (docs/file-format.txt), but for the encryption.
    static let files: [[UInt8]] = [
        GnomeKeyringFile.mark + [0, 0, 0, 0] + text("Login") + number(0) + number(1) + number(0) + number(1)
            + number(0) + number(0) + number(1000) + Array(1...8) + [UInt8](repeating: 0, count: 16) + hashed
            + number(UInt32(opened.count)) + opened,
        GnomeKeyringFile.mark + [0, 1, 0, 0],
    ]

    private static let hashed =
        number(1) + number(7) + number(0x100) + number(2) + text("user") + number(0) + text("0123456789abcdef")
        + text("port") + number(1) + number(80)

    private static let opened: [UInt8] = {
        let item = text("Label") + text("secret") + number(0) + number(5) + number(0) + number(6) + none
        let attributes = number(2) + text("user") + number(0) + text("alice") + text("port") + number(1) + number(80)
        let access = number(1) + number(7) + text("name") + text("/usr/bin/x") + none + number(0)
        let whole = item + [UInt8](repeating: 0, count: 16) + attributes + access
        return whole + [UInt8](repeating: 0, count: 16 - whole.count % 16)
    }()

    static let texts: [[UInt8]] = [
        """

        [keyring]
        display-name=Op\\sen
        ctime=0

        [1:attribute0]
        name=user
        type=string
        value=al\\nice

        [1]
        item-type=1
        display-name=L
        secret=a = b
        mtime=1600000000
        ctime=1600000000

        [2]
        binary-secret=ff00

        """, "# x\n[keyring]\n[1]\nsecret=\\",
    ].map { Array($0.utf8) }

    static let lines: [[UInt8]] = [
        #"{"latchkey-keyring":1,"provider":"x"}"# + "\n"
            + #"{"collection":"login","label":"L","isDefault":true}"# + "\n"
            + #"{"item":"1","in":"login","label":"L","attributes":[["a","b"]],"created":1600000000,"modified":1,"contentType":"text/plain","value":"AAEC"}"#
            + "\n"
            + #"{"entry":"e","folder":"f","wallet":"","kind":"map","value":"AAAAAQAAAAIAYQAAAAIAYg=="}"# + "\n"
            + #"{"flaw":"p","reason":"r"}"# + "\n" + #"{"leftOut":"w","count":2,"why":"y"}"# + "\n" + #"{"end":2}"#
            + "\n",
        #"{"failure":"f","advice":"a"}"# + "\n",
    ].map { Array($0.utf8) }
}
