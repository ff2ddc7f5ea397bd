package import KeychainPlatform

/// A keyring's file as gnome-keyring writes it (gnome-keyring 42, docs/file-format.txt and
/// pkcs11/secret-store/gkm-secret-binary.c). What names its items is encrypted with their
/// values; outside stand hashes of it, which nobody needs here.
package struct GnomeKeyringFile: Sendable {
    package static let mark = Array("GnomeKeyring\n\r\0\n".utf8)

    package let label: String
    package let salt: [UInt8]
    package let rounds: UInt32
    /// What is encrypted, whole blocks of it.
    package let sealed: SharedSecret
    /// Of each item, in the order of the encrypted part.
    private let kinds: [UInt32]

    private static let saltByteCount = 8
    private static let blockByteCount = 16

    /// Reads what stands there in the clear.
    package static func parse(_ content: SharedSecret) throws(ImportFailure) -> GnomeKeyringFile {
        do throws(KeyringBytes.Malformed) {
            if let file = try GnomeKeyringFile(content) { return file }
        } catch {
            throw ImportFailure(
                .wrongSource, "this keyring's file is damaged or cut short", "Try a backup of it.")
        }
        throw ImportFailure(
            .wrongSource, "this keyring's file is of a version that is not known (0.0, AES, MD5 is)",
            "Import it over the bus: latchkey import --from gnome-keyring")
    }

    /// nil for another version, cipher or digest than gnome-keyring has ever written.
    private init?(_ content: SharedSecret) throws(KeyringBytes.Malformed) {
        var bytes = KeyringBytes(content)
        _ = try bytes.take(Self.mark.count)
        for _ in 0..<4 {
            guard try bytes.byte() == 0 else { return nil }
        }
        label = try bytes.text() ?? ""
        // Two dates, flags and a time after which it locks: of the keyring, not of its items.
        _ = try bytes.take(8 + 8 + 4 + 4)
        rounds = try bytes.uint32()
        salt = try bytes.take(Self.saltByteCount).map { content.bytes[$0] }
        _ = try bytes.take(4 * 4)
        kinds = try Self.kinds(&bytes)
        let range = try bytes.take(Int(try bytes.uint32()))
        guard range.count % Self.blockByteCount == 0 else { throw KeyringBytes.Malformed() }
        sealed = SharedSecret(content.bytes.copy(range))
    }

    /// The types of the items; their identifiers and hashes are passed over.
    private static func kinds(_ bytes: inout KeyringBytes) throws(KeyringBytes.Malformed) -> [UInt32] {
        var kinds: [UInt32] = []
        for _ in 0..<(try bytes.uint32()) {
            _ = try bytes.uint32()
            kinds.append(try bytes.uint32())
            for _ in 0..<(try bytes.uint32()) {
                _ = try bytes.bytes()
                // A string's hash is written as a string.
                if try isNumber(&bytes) { _ = try bytes.uint32() } else { _ = try bytes.bytes() }
            }
        }
        return kinds
    }

    private static func isNumber(_ bytes: inout KeyringBytes) throws(KeyringBytes.Malformed) -> Bool {
        switch try bytes.uint32() {
        case 0: return false
        case 1: return true
        default: throw KeyringBytes.Malformed()
        }
    }

    // MARK: Items

    /// Reads the part that was encrypted.
    ///
    /// - Parameters:
    ///   - collection: what the file's name says that its collection is called.
    ///   - isDefault: whether programs store there that name no other.
    package func items(
        in opened: SharedSecret, collection: String, isDefault: Bool
    ) throws(ImportFailure) -> ImportedDocument {
        var document = ImportedDocument(.gnomeKeyring)
        document.collections = [
            ServiceCollection(name: collection, label: label.isEmpty ? collection : label, isDefault: isDefault)
        ]
        var bytes = KeyringBytes(opened)
        do throws(KeyringBytes.Malformed) {
            for (index, kind) in kinds.enumerated() {
                document.add(try Self.item(&bytes, kind, .item(index + 1), collection))
            }
        } catch {
            throw ImportFailure(
                .wrongSource, "item \(document.serviceItems.count + 1) of this keyring's file cannot be read",
                "Nothing was imported; try a backup of it, or: latchkey import --from gnome-keyring")
        }
        return document
    }

    private static func item(
        _ bytes: inout KeyringBytes, _ kind: UInt32, _ place: SourcePlace, _ collection: String
    ) throws(KeyringBytes.Malformed) -> ServiceItem {
        let label = try bytes.text() ?? ""
        let secret = try bytes.bytes() ?? 0..<0
        let (created, modified) = (try bytes.uint64(), try bytes.uint64())
        _ = try bytes.bytes()
        _ = try bytes.take(4 * 4)
        let attributes = try attributes(&bytes)
        try skipAccessList(&bytes)
        return ServiceItem(
            place: place, collection: collection, label: label,
            attributes: GnomeItemKind.attributes(attributes, kind), contentType: ServiceItem.plainText,
            value: SecretText(TextSlice(bytes.content, secret)), created: SourceDate.seconds(created),
            modified: SourceDate.seconds(modified))
    }

    private static func attributes(
        _ bytes: inout KeyringBytes
    ) throws(KeyringBytes.Malformed) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        for _ in 0..<(try bytes.uint32()) {
            let name = try bytes.text() ?? ""
            // Over the bus a number is its digits.
            found.append((name, try isNumber(&bytes) ? "\(try bytes.uint32())" : try bytes.text() ?? ""))
        }
        return found
    }

    /// Which programs asked for an item once: gnome-keyring keeps it and does nothing with it.
    private static func skipAccessList(_ bytes: inout KeyringBytes) throws(KeyringBytes.Malformed) {
        for _ in 0..<(try bytes.uint32()) {
            _ = try bytes.uint32()
            for _ in 0..<3 { _ = try bytes.bytes() }
            _ = try bytes.uint32()
        }
    }
}

/// The type of an item from before there were schemas (gnome-keyring 42,
/// pkcs11/secret-store/gkm-secret-compat.h and .c).
enum GnomeItemKind {
    /// Flags stand in the upper half.
    private static let mask: UInt32 = 0xFFFF
    private static let schemas: [UInt32: String] = [
        0: "org.freedesktop.Secret.Generic", 1: "org.gnome.keyring.NetworkPassword", 2: "org.gnome.keyring.Note",
        3: "org.gnome.keyring.ChainedKeyring", 4: "org.gnome.keyring.EncryptionKey",
        0x100: "org.gnome.keyring.PkStorage",
    ]

    /// With the schema that gnome-keyring says of an item which names none.
    static func attributes(
        _ attributes: [(name: String, value: String)], _ kind: UInt32
    ) -> [(name: String, value: String)] {
        guard !attributes.contains(where: { $0.name == ServiceItem.schema }) else { return attributes }
        let schema = schemas[kind & mask] ?? "org.freedesktop.Secret.Generic"
        return attributes + [(ServiceItem.schema, schema)]
    }
}
