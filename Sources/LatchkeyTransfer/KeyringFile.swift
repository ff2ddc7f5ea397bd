internal import KeychainCrypto
internal import KeychainPlatform
internal import LatchkeyImport
internal import SecretServiceReach

/// Opens what gnome-keyring encrypted.
enum KeyringFile {
    static func open(
        _ file: GnomeKeyringFile, _ password: borrowing SecretBytes
    ) throws(ImportFailure) -> SharedSecret {
        guard file.rounds <= KeyringCipher.mostRounds else {
            throw ImportFailure(
                .wrongSource, "this keyring's file asks for \(file.rounds) rounds of a hash, which no keyring has",
                "Try a backup of it.")
        }
        do throws(CryptoError) {
            return SharedSecret(
                try KeyringCipher.open(file.sealed.bytes, password: password, salt: file.salt, rounds: file.rounds))
        } catch {
            throw ImportFailure(
                .wrongSource, "the keyring does not open with this password, or its file was changed",
                "Try again: of the keyring \u{201c}login\u{201d} it is the password of the login, or the one before it was changed."
            )
        }
    }
}

/// What the name of a keyring's file says of the collection that it is.
struct KeyringFileName {
    let collection: String
    let isDefault: Bool

    private static let ending = ".keyring"
    /// Beside the files, with the name of the one that is the default (gnome-keyring 42,
    /// pkcs11/secret-store/gkm-secret-module.c).
    private static let defaultName = "default"

    /// - Parameters:
    ///   - path: absolute.
    ///   - label: names it where the file's name does not (standard input).
    init(_ path: String, orLabel label: String) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let file = String(path[slash...].dropFirst())
        let name = file.hasSuffix(Self.ending) ? String(file.dropLast(Self.ending.count)) : label
        collection = CollectionName.element(name.isEmpty ? "keyring" : name)
        isDefault = !name.isEmpty && Self.defaultKeyring(in: String(path[..<slash])) == name
    }

    private static func defaultKeyring(in folder: String) -> String? {
        do throws(SystemCallError) {
            guard case .file(let text) = try NamedSource.read("\(folder)/\(defaultName)", atMost: 4096) else {
                return nil
            }
            return String(decoding: text.insecureArray(), as: UTF8.self).split(separator: "\n").first.map(String.init)
        } catch { return nil }
    }
}
