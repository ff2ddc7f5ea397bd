internal import KeychainModel

/// An item that is what git asks for.
///
/// What git stored is good for its protocol and path; what a person stored and that names
/// neither, for https and every path: nobody's password goes over the network in the clear
/// because of what was left out. A mail server's goes to git-send-email and git-imap-send where
/// the person named its protocol: those encrypt as they are set up, whatever the protocol.
struct GitMatch: Sendable {
    let item: HelperItem

    /// nil where it is not.
    init?(_ item: HelperItem, _ request: GitCredentialRequest) {
        guard item.origin == .git || item.origin == .person, !item.isNegative else { return nil }
        // Whatever else it says of itself: a person may not have thought of who listens.
        let isForMail = Self.mailSchemes.contains(request.scheme) && item.scheme == request.scheme
        guard item.origin == .git || request.scheme == "https" || isForMail else { return nil }
        if let schemeOfOther = item.attributes.lookup?["protocol"], schemeOfOther != request.scheme { return nil }
        self.item = item
        guard item.itemClass == .internetPassword else {
            guard item.service.hasSameBytes(as: request.place.address) || item.origin == .person else { return nil }
            return
        }
        let scheme = item.hasProtocol ? item.scheme : "https"
        guard scheme == request.scheme,
            ServerPlace.isSamePort(item.port, request.place.server.port, scheme: request.scheme),
            hasPath(of: request)
        else { return nil }
    }

    /// git-send-email(1), git-imap-send(1).
    private static let mailSchemes: Set = ["smtp", "imap", "imaps"]

    /// A generic password that was found by git's lookup attributes.
    init?(filedElsewhere item: HelperItem, _ request: GitCredentialRequest) {
        guard item.origin == .git, !item.isNegative, let lookup = item.attributes.lookup else { return nil }
        // The search is for what the request names; what it does not name the item may not have either.
        let (server, port) = (request.place.server.host, request.place.server.port)
        guard (lookup["server"] ?? "").hasSameBytes(as: server), lookup["port"] == port.map({ "\($0)" }) else {
            return nil
        }
        self.item = item
    }

    private func hasPath(of request: GitCredentialRequest) -> Bool {
        guard let path = request.place.path else { return item.origin == .git || item.path.isEmpty }
        return isPath(path) || item.origin == .person && item.path.isEmpty
    }

    private func isPath(_ path: String) -> Bool {
        ServerPlace.plain(item.path).utf8.elementsEqual(ServerPlace.plain(path).utf8)
    }

    /// Also where the item's own account is but a digest of its lookup attributes.
    var account: String { item.attributes.lookup?["user"] ?? item.account }

    /// The name as git is told it; nil: it has none. An empty one of git's own password is one.
    var username: String? { account.isEmpty && !(item.origin == .git && kind == .password) ? nil : account }

    var kind: GitSecret.Kind { GitSecret.Kind(attribute: item.authenticationType) }

    /// Whether what git stores for the request replaces what is here: its own alone. A
    /// server that takes anything (a public repository) has git store anything.
    func isPlace(of request: GitCredentialRequest) -> Bool {
        guard item.origin == .git else { return false }
        guard item.itemClass == .internetPassword else { return true }
        return isPath(request.place.path ?? "")
    }

    /// The path that was asked for before others, then what was changed last, then git's own.
    static func isBetter(for request: GitCredentialRequest) -> (GitMatch, GitMatch) -> Bool {
        func rank(_ match: GitMatch) -> Int {
            let isThere = match.item.itemClass == .genericPassword || match.isPath(request.place.path ?? "")
            return isThere ? 0 : 1
        }
        return { one, other in
            let (first, second) = (rank(one), rank(other))
            guard first == second else { return first < second }
            guard one.item.modified == other.item.modified else { return one.item.modified > other.item.modified }
            return one.item.origin == .git && other.item.origin != .git
        }
    }

    /// The services of generic passwords that are meant: what git stored where there is no
    /// internet password, and for https what a person named after the server.
    static func services(for request: GitCredentialRequest) -> [String] {
        let server = request.place.server.text
        return [request.place.address] + (request.scheme == "https" && !server.isEmpty ? [server] : [])
    }

    /// The service of the item with the end and the token of a password.
    static func serviceBeside(_ item: HelperItem) -> String {
        let name: String =
            item.itemClass == .internetPassword
            ? ServerPlace(
                scheme: item.scheme, server: ServerName(host: item.server, port: item.port), path: item.path
            ).address : item.service
        let type = item.authenticationType
        return "git-credential-latchkey " + (type.isEmpty ? "" : "\(type) ") + name
    }
}
