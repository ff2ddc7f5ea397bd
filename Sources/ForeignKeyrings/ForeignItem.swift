internal import KeychainPlatform

/// An item of a Secret Service, with its value.
struct ForeignItem {
    /// As it stands in its object's path.
    let name: String
    /// Likewise.
    let collection: String
    let label: String
    let attributes: [(name: String, value: String)]
    /// Seconds since 1970-01-01T00:00:00Z.
    let created: UInt64?
    let modified: UInt64?
    let contentType: String
    let value: SharedSecret
}

/// An entry of KWallet, with its value.
struct WalletEntry {
    /// KWallet::Wallet::EntryType (KDE Frameworks 5.103, kwallet.h).
    enum Kind: String {
        case password
        case stream
        /// A QMap of QString to QString, as QDataStream writes it.
        case map
    }

    let wallet: String
    let folder: String
    let name: String
    let kind: Kind
    let value: SharedSecret
}
