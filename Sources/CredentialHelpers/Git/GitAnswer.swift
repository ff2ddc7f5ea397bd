internal import KeychainPlatform

/// What a helper tells git: a username and what proves it, or of a password that has
/// ended what may bring the next one.
struct GitAnswer: Sendable {
    /// nil: it says nothing of it, and git asks.
    let username: String?
    /// nil: it has ended.
    let secret: GitSecret?
    let extras: GitExtras

    /// In git's own order: what depends on a capability after it.
    var text: SharedSecret {
        var head = ""
        if case .authorization(let type)? = secret?.kind { head += "capability[]=authtype\nauthtype=\(type)\n" }
        if let username { head += "username=\(username)\n" }
        let key: String =
            switch secret?.kind {
            case .password?: "password="
            case .authorization?: "credential="
            case nil: ""
            }
        var rest = extras
        // Of what is not given it says nothing.
        if secret == nil { rest.expiry = nil }
        let tail = rest.lines
        let count = secret.map { $0.value.bytes.count + key.utf8.count + 1 } ?? 0
        var writer = SecretWriter(byteCount: head.utf8.count + count + tail.bytes.count)
        writer.append(head)
        if let secret {
            writer.append(key)
            writer.append(secret.value.bytes)
            writer.append("\n")
        }
        writer.append(tail.bytes)
        return SharedSecret(writer.finish())
    }
}
