internal import KeychainCrypto
internal import KeychainPlatform
internal import MessageBus

/// Reads out a Secret Service (freedesktop.org "Secret Service API Draft", 0.2). Values come
/// encrypted for one session, as every client's; nothing of the service is changed, but for
/// a lock that a person opens for it and that is closed again.
struct ServiceReader {
    private let provider: ServiceProvider
    private let bus: BusClient
    /// What a person may take to answer; nil: nobody can be asked.
    private let patience: Duration?
    private let session: ObjectPath
    private let cipher: SessionCipher

    private static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    private static let root = ObjectPath("/org/freedesktop/secrets") ?? .none
    private static let service = "org.freedesktop.Secret.Service"
    private static let collection = "org.freedesktop.Secret.Collection"
    private static let item = "org.freedesktop.Secret.Item"
    private static let prompt = "org.freedesktop.Secret.Prompt"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let sessionCollection = "session"

    /// Values that are asked for at once.
    private static let mostTogether = 32

    init(_ provider: ServiceProvider, _ client: SessionClient, askingFor patience: Duration?) throws(ReadingFailure) {
        (self.provider, bus, self.patience) = (provider, client.bus, patience)
        do throws(BusError) {
            let exchange = try Self.exchange()
            let answer = try client.bus.call(
                "OpenSession", of: Self.destination(provider, Self.root, Self.service),
                [.string(Self.algorithm), .variant(.bytes(SharedSecret(SecretBytes(copying: exchange.publicValue))))],
                within: SessionClient.patience)
            guard answer.count == 2, let theirs = answer[0].content?.secret, let path = answer[1].objectPath else {
                throw Self.strange
            }
            session = path
            cipher = try Self.cipher(exchange, theirs)
        } catch {
            throw ReadingFailure("\(provider.name) opens no session for secrets", error)
        }
    }

    private static func exchange() throws(BusError) -> OakleyExchange {
        do throws(CryptoError) { return try OakleyExchange() } catch { throw noMemory }
    }

    private static func cipher(_ exchange: OakleyExchange, _ theirs: SharedSecret) throws(BusError) -> SessionCipher {
        do throws(CryptoError) { return SessionCipher(key: try exchange.key(with: theirs.bytes)) } catch {
            throw BusError(.invalidArguments, "the public value is none")
        }
    }

    private static let strange = BusError(.failed, "the answer is not what the Secret Service API says")
    private static let noMemory = BusError(.noMemory, "there is no memory")

    // MARK: Calls

    private static func destination(
        _ provider: ServiceProvider, _ path: ObjectPath, _ interface: String
    ) -> BusClient.Destination { BusClient.Destination(provider.connection, path, interface) }

    private func call(
        _ member: String, _ interface: String, at path: ObjectPath, _ arguments: [BusValue] = []
    ) throws(BusError) -> [BusValue] {
        try bus.call(
            member, of: Self.destination(provider, path, interface), arguments, within: SessionClient.patience)
    }

    private func properties(_ interface: String, at path: ObjectPath) throws(BusError) -> [String: BusValue] {
        let answer = try call("GetAll", Self.properties, at: path, [.string(interface)])
        guard let pairs = answer.first?.propertyPairs else { throw Self.strange }
        return Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
    }

    // MARK: Collections

    func read(into lines: inout KeyringLines) throws(ReadingFailure) {
        let (paths, standard) = try collections()
        lines.begin(provider.name)
        for path in paths {
            do throws(BusError) { try read(path, isDefault: path == standard, &lines) } catch {
                lines.flaw(Self.name(of: path), "the collection cannot be read (\(error.name): \(error.text))")
            }
        }
    }

    private func read(_ path: ObjectPath, isDefault: Bool, _ lines: inout KeyringLines) throws(BusError) {
        let described = try properties(Self.collection, at: path)
        let items = described["Items"]?.objectPaths ?? []
        guard Self.name(of: path) != Self.sessionCollection else {
            if !items.isEmpty {
                lines.leftOut(
                    "items of the collection \u{201c}session\u{201d}", items.count, why: "they end with the session")
            }
            return
        }
        let name = Self.name(of: path)
        let label = described["Label"]?.text ?? name
        lines.collection(name, label, isDefault: isDefault)
        // Another may have the same label, and items are named by the path.
        let title = label.isEmpty || label == name ? name : "\(label) (\(name))"
        guard described["Locked"]?.flag == true else { return try read(items, of: path, &lines) }
        let lock: Lock
        do throws(BusError) { lock = try unlock(path) } catch {
            return lines.flaw(title, "the collection cannot be unlocked (\(error.name): \(error.text))")
        }
        switch lock {
        case .open:
            // As it was found, also where the reading ends early.
            defer { relock(path) }
            // Of a locked one not every service tells the items.
            let items = try properties(Self.collection, at: path)["Items"]?.objectPaths ?? items
            try read(items, of: path, &lines)
        case .closed(let why): lines.flaw(title, why)
        }
    }

    private func collections() throws(ReadingFailure) -> (all: [ObjectPath], standard: ObjectPath?) {
        do throws(BusError) {
            guard let all = try properties(Self.service, at: Self.root)["Collections"]?.objectPaths else {
                throw Self.strange
            }
            let standard = try call("ReadAlias", Self.service, at: Self.root, [.string("default")]).first?.objectPath
            return (all, standard)
        } catch {
            throw ReadingFailure("\(provider.name) does not tell its collections", error)
        }
    }

    private static func name(of path: ObjectPath) -> String {
        path.text.split(separator: "/").last.map(String.init) ?? ""
    }

    // MARK: Locks

    private enum Lock {
        case open
        case closed(why: String)
    }

    private func unlock(_ path: ObjectPath) throws(BusError) -> Lock {
        let answer = try call("Unlock", Self.service, at: Self.root, [.paths([path])])
        guard answer.count == 2, let unlocked = answer[0].objectPaths, let prompt = answer[1].objectPath else {
            throw Self.strange
        }
        if unlocked.contains(path) { return .open }
        guard let patience, prompt != .none else { return .closed(why: Self.howToUnlock) }
        let destination = Self.destination(provider, prompt, Self.prompt)
        try bus.follow("Completed", of: destination)
        _ = try bus.call("Prompt", of: destination, [.string("")], within: SessionClient.patience)
        guard let completed = try bus.next("Completed", of: destination, within: patience)
        else {
            _ = try bus.call("Dismiss", of: destination, within: SessionClient.patience)
            return .closed(why: "nobody unlocked the collection when its program asked for the password")
        }
        return completed.first?.flag == false ? .open : .closed(why: "unlocking the collection was declined")
    }

    private static let howToUnlock =
        "the collection is locked and nobody can be asked here; unlock it in the program that has it "
        + "(gnome-keyring: seahorse, or log in anew), then import again"

    private func relock(_ path: ObjectPath) {
        // What the person who unlocked it finds open is no reason to fail.
        do throws(BusError) { _ = try call("Lock", Self.service, at: Self.root, [.paths([path])]) } catch {}
    }

    // MARK: Items

    private func read(
        _ items: [ObjectPath], of collection: ObjectPath, _ lines: inout KeyringLines
    ) throws(BusError) {
        for start in stride(from: 0, to: items.count, by: Self.mostTogether) {
            let some = Array(items[start..<min(start + Self.mostTogether, items.count)])
            let secrets = try secrets(of: some)
            for path in some {
                do throws(BusError) {
                    guard let secret = secrets[path] else { throw Self.withoutValue }
                    lines.item(try item(path, of: collection, secret))
                } catch {
                    lines.flaw(
                        "\(Self.name(of: collection))/\(Self.name(of: path))", "the item cannot be read (\(error.text))"
                    )
                }
            }
        }
    }

    private static let withoutValue = BusError(.failed, "its value is not given out")

    private func secrets(of items: [ObjectPath]) throws(BusError) -> [ObjectPath: [BusValue]] {
        let answer = try call("GetSecrets", Self.service, at: Self.root, [.paths(items), .path(session)])
        guard case .array(_, let entries)? = answer.first else { throw Self.strange }
        var found: [ObjectPath: [BusValue]] = [:]
        for case .entry(.path(let path), .structure(let secret)) in entries { found[path] = secret }
        return found
    }

    /// - Parameter secret: (oayays)
    private func item(
        _ path: ObjectPath, of collection: ObjectPath, _ secret: [BusValue]
    ) throws(BusError) -> ForeignItem {
        guard secret.count == 4, let vector = secret[1].secret, let bytes = secret[2].secret else { throw Self.strange }
        let value: SharedSecret
        do throws(CryptoError) {
            value = SharedSecret(try cipher.decrypt(bytes.bytes, vector: vector.bytes.insecureArray()))
        } catch { throw BusError(.failed, "its value does not decrypt") }
        let described = try properties(Self.item, at: path)
        return ForeignItem(
            name: Self.name(of: path), collection: Self.name(of: collection), label: described["Label"]?.text ?? "",
            attributes: described["Attributes"]?.textPairs ?? [], created: described["Created"]?.moment,
            modified: described["Modified"]?.moment, contentType: secret[3].text ?? "text/plain", value: value)
    }
}
