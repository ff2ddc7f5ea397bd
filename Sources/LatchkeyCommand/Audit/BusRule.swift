internal import KeychainModel
internal import KeychainPlatform
internal import SecretServiceReach

/// Who reaches an item over the session's bus, where it is in a collection of the Secret
/// Service (docs/secret-service-policy.md).
enum BusRule: Sendable, Hashable {
    case everybody
    /// The keychain is none that is served over the bus.
    case notServed
    /// These programs alone; none: nobody.
    case kept(for: [String], by: String)
    /// Nobody, until the policy is one.
    case refused(why: String)

    /// By the policy of the user.
    ///
    /// - Parameter lookup: by which programs of the Secret Service find it; nil: no such
    ///   program stored it.
    init(of item: StoredItem, _ lookup: LookupAttributes?) {
        guard let file = PolicyFile.ofUser() else {
            self = .everybody
            return
        }
        do throws(PolicyFile.Fault) {
            self = BusRule(of: item, lookup, by: try file.policy(), in: file.path)
        } catch { self = .refused(why: "\(error)") }
    }

    init(of item: StoredItem, _ lookup: LookupAttributes?, by policy: SecretServicePolicy, in path: String) {
        let implied = item.kind == .internet ? LookupSchema.network : LookupSchema.generic
        let schema = lookup.map { $0[LookupSchema.attribute] ?? LookupSchema.generic } ?? implied
        let subjects = [item.collection.map { SecretServicePolicy.Subject.collection($0) }, .schema(schema)]
        let allowed = subjects.compactMap { $0 }.compactMap(policy.allowed)
        guard let first = allowed.first else {
            self = .everybody
            return
        }
        self = .kept(for: allowed.dropFirst().reduce(first) { $0.intersection($1) }.sorted(), by: path)
    }

    /// The same reader as the policy has it.
    func narrowing(_ reader: Readers.Reader, of item: StoredItem) -> Readers.Reader {
        guard let collection = item.collection else { return reader }
        // The bus is one way of two; the other is a call of the daemon.
        let isLogin = collection == CollectionName.login
        let besides = isLogin ? reader.who : "every program of this user that no sandbox holds"
        switch self {
        case .everybody: return reader
        case .notServed:
            return Readers.Reader(
                who: besides,
                rule: isLogin
                    ? "the group \"latchkey\" may be named by all of them"
                    : "the group of a collection may be named by all of them",
                canBePosedAs: true)
        case .kept(let programs, let path):
            let isTold = !isLogin && !programs.isEmpty
            let over = isTold ? "\(programs.joined(separator: ", ")) over your session bus, and " : ""
            return Readers.Reader(
                who: over + besides,
                rule: "\(reader.rule); over the session bus \(path) leaves it to "
                    + (programs.isEmpty ? "nobody" : programs.joined(separator: ", ")),
                canBePosedAs: true)
        case .refused(let why):
            return Readers.Reader(
                who: besides, rule: "\(reader.rule); over the session bus nobody is given anything: \(why)",
                canBePosedAs: true)
        }
    }
}

extension StoredItem {
    /// The collection of the Secret Service that it is in; nil: none.
    var collection: String? {
        let group = AccessGroup(group ?? "")
        if group == .latchkey { return CollectionName.login }
        guard group.isCollection else { return nil }
        return String(group.name.dropFirst(AccessGroup.secretService.name.count + 1))
    }
}
