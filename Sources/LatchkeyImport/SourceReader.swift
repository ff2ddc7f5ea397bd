package import KeychainPlatform

/// What a person names as the source, told apart by what is in it.
package enum SourceContent: ~Copyable {
    case folder(path: String)
    /// Opened by a program of the system, which is given the path.
    case keePass(path: String)
    case onePassword(path: String)
    case json(SourceText)
    case csv(SourceText)
    /// A file of `latchkey export`, encrypted or not.
    case latchkey(SecretBytes)
    case gnomeKeyring(SharedSecret)
    case gnomeKeyringText(SourceText)

    /// First bytes of files of `latchkey export`: encrypted, and in the clear.
    package static let encryptedMark = Array("LKEXPORT".utf8)
    package static let plainMark = Array("{\"latchkey-export\":".utf8)

    /// "Signature" of KeePass 2 and, in its last byte, of KeePass 1 (KeePass, "KDBX 4").
    private static let keePassMark: [UInt8] = [0x03, 0xd9, 0xa2, 0x9a, 0x67, 0xfb, 0x4b, 0xb5]
    private static let oldKeePassMark: [UInt8] = [0x03, 0xd9, 0xa2, 0x9a, 0x65, 0xfb, 0x4b, 0xb5]
    /// RFC 9580, section 6.2.
    private static let encryptedTextMark = Array("-----BEGIN PGP MESSAGE".utf8)
    /// gnome-keyring's user.keystore (gnome-keyring 42, pkcs11/gnome2-store/gkm-gnome2-file.c).
    private static let keyStoreMark = Array("Gnome Keyring Store 2\n\r\0".utf8)
    /// A local file header of ZIP (APPNOTE.TXT, section 4.3.7).
    private static let zipMark: [UInt8] = [0x50, 0x4b, 0x03, 0x04]

    /// - Parameter path: absolute; only for what a program has to open itself.
    package static func detect(_ source: consuming NamedSource, path: String) throws(ImportFailure) -> SourceContent {
        switch consume source {
        case .folder: return .folder(path: path)
        case .file(let bytes): return try detect(bytes, path: path)
        }
    }

    private static func detect(_ bytes: consuming SecretBytes, path: String) throws(ImportFailure) -> SourceContent {
        let start = (0..<min(32, bytes.count)).map { bytes[$0] }
        if start.starts(with: keePassMark) { return .keePass(path: path) }
        if start.starts(with: zipMark) { return .onePassword(path: path) }
        if start.starts(with: encryptedMark) || start.starts(with: plainMark) { return .latchkey(bytes) }
        if start.starts(with: GnomeKeyringFile.mark) { return .gnomeKeyring(SharedSecret(bytes)) }
        if start.starts(with: oldKeePassMark) {
            throw ImportFailure(
                .wrongSource, "this is a database of KeePass 1 (KDB)", "Convert it to KDBX with KeePassXC first.")
        }
        if start.starts(with: keyStoreMark) {
            throw ImportFailure(
                .wrongSource, "this is where gnome-keyring has keys and certificates, and no passwords",
                "Give a file that ends in .keyring.")
        }
        if path.hasSuffix(".gpg") || start.starts(with: encryptedTextMark) {
            throw ImportFailure(
                .wrongSource, "this is a file that gpg encrypted",
                "Name the folder of the password store that holds it, or decrypt it and import what comes out.")
        }
        let text = SourceText(bytes)
        switch text.firstMark {
        case nil:
            throw ImportFailure(.wrongSource, "the source is empty", "Give the file that the other program exported.")
        case UInt8(ascii: "{"): return .json(text)
        case UInt8(ascii: "<"): throw refusal(ofXML: text)
        case UInt8(ascii: "[") where GnomeKeyringText.isOne(text): return .gnomeKeyringText(text)
        case UInt8(ascii: "[") where isList(text): return .json(text)
        default: return .csv(text)
        }
    }

    /// Whether a text that begins with a bracket is a list of JSON, and no name of a column.
    private static func isList(_ text: SourceText) -> Bool {
        let blanks = Array(" \t\n\r".utf8)
        let marks = (0..<min(512, text.count)).lazy.map { text.content.bytes[$0] }.filter { !blanks.contains($0) }
        return marks.dropFirst().first.map { Array("]{[\"".utf8).contains($0) } ?? false
    }

    /// KeePass and KeePassXC write their databases in the clear, as this.
    private static func refusal(ofXML text: SourceText) -> ImportFailure {
        let start = SecretText(TextSlice(text.content, 0..<min(512, text.count))).text
        guard start.contains("<KeePassFile") else {
            return ImportFailure(
                .wrongSource, "this is XML, which is not read",
                "Export from the other program as CSV, and import that.")
        }
        return ImportFailure(
            .wrongSource, "this is the XML export of a KeePass database, in the clear",
            "Give the database itself (.kdbx), and remove this file.")
    }

    /// What `--format` may say of it.
    package var formats: [SourceFormat] {
        switch self {
        case .folder: [.passwordStore]
        case .keePass: [.keePass]
        case .onePassword: [.onePassword]
        case .json: [.bitwardenJSON, .onePassword]
        case .csv: SourceFormat.ofCSV
        case .latchkey: [.latchkey]
        case .gnomeKeyring: [.gnomeKeyring]
        case .gnomeKeyringText: [.gnomeKeyring]
        }
    }

    /// - Throws: where `format` is given and the content cannot be of it.
    package func check(_ format: SourceFormat?) throws(ImportFailure) {
        guard let format, !formats.contains(format) else { return }
        throw ImportFailure(
            .wrongSource,
            "the source is not of the format \(format.name): by its content it may be "
                + formats.map(\.name).joined(separator: ", "),
            "Leave --format out, or name one of: \(formats.map(\.rawValue).joined(separator: ", "))")
    }
}

/// Reads what other programs export.
package enum SourceReader {
    /// - Parameters:
    ///   - collection: what the file's name says that its collection is called.
    ///   - isDefault: whether programs store there that name no other.
    package static func gnomeKeyringText(
        _ text: SourceText, collection: String, isDefault: Bool
    ) throws(ImportFailure) -> ImportedDocument {
        try GnomeKeyringText.read(text, collection: collection, isDefault: isDefault)
    }

    /// What latchkey-secret-service read out of another keyring.
    package static func keyringLines(
        _ lines: consuming SecretBytes, _ format: SourceFormat
    ) throws(ImportFailure) -> ImportedDocument {
        try KeyringLines.read(SourceText(lines), format)
    }

    package static func csv(_ text: SourceText, _ format: SourceFormat?) throws(ImportFailure) -> ImportedDocument {
        try CSVSource.read(text, as: format)
    }

    package static func json(_ text: SourceText, _ format: SourceFormat?) throws(ImportFailure) -> ImportedDocument {
        let root = try JSONNode.whole(text)
        switch JSONExport(root) {
        case .bitwarden:
            try check(format, is: .bitwardenJSON)
            return try BitwardenSource.read(root)
        case .onePassword:
            try check(format, is: .onePassword)
            return try OnePasswordSource.read(root) { _ in
                .failure(ImportFailure(.wrongSource, "files lie in the 1PUX archive only", ""))
            }
        case .foreign(let program, let advice):
            throw ImportFailure(.wrongSource, "this is an export of \(program), which is not read as JSON", advice)
        case .unknown:
            if case .array = root {
                throw ImportFailure(
                    .wrongSource, "this JSON is a list, which is the export of no program that is known",
                    "Give an export of Bitwarden (items) or export.data of 1Password (accounts).")
            }
            let names = root.members.prefix(8).map { "\u{201c}\(PrintableName.shown($0.name))\u{201d}" }
            throw ImportFailure(
                .wrongSource, "this JSON is of no known format; its members: \(names.joined(separator: ", "))",
                "Give an export of Bitwarden (items) or export.data of 1Password (accounts).")
        }
    }

    private static func check(_ format: SourceFormat?, is seen: SourceFormat) throws(ImportFailure) {
        guard let format, format != seen else { return }
        throw ImportFailure(
            .wrongSource, "by its members this is \(seen.name)",
            "Leave --format out, or say: --format \(seen.rawValue)")
    }

    package static func onePassword(_ path: String) throws(ImportFailure) -> ImportedDocument {
        try OnePasswordArchive(path).read()
    }

    /// - Parameter keyFile: what is in the key file; nil where there is none.
    package static func keePass(
        _ path: String, password: borrowing SecretBytes, keyFile: SharedSecret?
    ) throws(ImportFailure) -> ImportedDocument {
        try KeePassSource.read(path, password: password, keyFile: keyFile)
    }

    package static func passwordStore(
        _ folder: String, variable: (String) -> String?, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(ImportFailure) -> ImportedDocument {
        try PasswordStoreSource.read(folder, variable: variable, progress: progress)
    }
}
