internal import KeychainPlatform
internal import MessageBus

/// Reads out KWallet by the interface of its daemon (KDE Frameworks 5.103,
/// org.kde.KWallet.xml, kwalletd.cpp).
struct WalletReader {
    private let bus: BusClient
    private let destination: BusClient.Destination
    private let name: String
    /// What a person may take to answer; nil: nobody can be asked.
    private let patience: Duration?

    /// What KWallet shows a person as the program that asks.
    private static let program = BusValue.string("latchkey")
    private static let interface = "org.kde.KWallet"

    static func open(_ client: SessionClient, askingFor patience: Duration?) throws(ReadingFailure) -> WalletReader {
        for number in ["6", "5"] {
            let service = "org.kde.kwalletd\(number)"
            guard let path = ObjectPath("/modules/kwalletd\(number)"), let owner = try client.owner(of: service) else {
                continue
            }
            return WalletReader(
                bus: client.bus, destination: BusClient.Destination(owner, path, interface), name: "kwalletd\(number)",
                patience: patience)
        }
        throw ReadingFailure(
            "KWallet does not run in this session (neither org.kde.kwalletd6 nor org.kde.kwalletd5)",
            "Start it, for example with kwalletmanager5, then try again.")
    }

    private func call(
        _ member: String, _ arguments: [BusValue] = [], within patience: Duration = SessionClient.patience,
        textIsSecret: Bool = false
    ) throws(BusError) -> BusValue {
        let answer = try bus.call(member, of: destination, arguments, within: patience, textIsSecret: textIsSecret)
        guard let value = answer.first else { throw Self.strange }
        return value
    }

    private static let strange = BusError(.failed, "the answer is not what the interface of KWallet says")

    // MARK: Wallets

    func read(into lines: inout KeyringLines) throws(ReadingFailure) {
        let (wallets, own) = try wallets()
        lines.begin(name)
        for wallet in wallets {
            do throws(BusError) {
                guard let handle = try open(wallet) else {
                    lines.flaw(wallet, Self.howToOpen)
                    continue
                }
                defer { close(handle) }
                try read(wallet == own ? "" : wallet, handle, &lines)
            } catch {
                lines.flaw(wallet, "the wallet cannot be read (\(error.name): \(error.text))")
            }
        }
    }

    private static let howToOpen =
        "the wallet is closed, or this program is not let in; open it in KWalletManager and allow \u{201c}latchkey\u{201d}, "
        + "then import again"

    /// All of them, and the one that programs use unless they name another.
    private func wallets() throws(ReadingFailure) -> (all: [String], own: String?) {
        do throws(BusError) {
            guard let all = try call("wallets").texts else { throw Self.strange }
            return (all.sorted(), try call("localWallet").text)
        } catch {
            throw ReadingFailure("KWallet does not tell its wallets", error)
        }
    }

    /// nil where it is closed and nobody can be asked, or that person declined.
    private func open(_ wallet: String) throws(BusError) -> BusValue? {
        let isOpen = try call("isOpen", [.string(wallet)]).flag ?? false
        // Where it is open KWallet may still ask whether this program is let in.
        guard isOpen || patience != nil else { return nil }
        let handle = try call(
            "open", [.string(wallet), .int64(0), Self.program], within: patience ?? SessionClient.patience)
        guard let number = handle.integer else { throw Self.strange }
        return number < 0 ? nil : handle
    }

    private func close(_ handle: BusValue) {
        // It closes with our connection at the latest.
        do throws(BusError) { _ = try call("close", [handle, .boolean(false), Self.program]) } catch {}
    }

    // MARK: Entries

    private func read(_ wallet: String, _ handle: BusValue, _ lines: inout KeyringLines) throws(BusError) {
        guard let folders = try call("folderList", [handle, Self.program]).texts else { throw Self.strange }
        for folder in folders.sorted() {
            guard let names = try call("entryList", [handle, .string(folder), Self.program]).texts else {
                throw Self.strange
            }
            for name in names.sorted() {
                do throws(BusError) {
                    let place = [handle, .string(folder), .string(name), Self.program]
                    guard let entry = try entry(place, wallet, folder, name) else {
                        lines.flaw("\(folder)/\(name)", "an entry of a kind that nobody knows")
                        continue
                    }
                    lines.entry(entry)
                } catch {
                    lines.flaw("\(folder)/\(name)", "the entry cannot be read (\(error.text))")
                }
            }
        }
    }

    /// The numbers of KWallet::Wallet::EntryType (kwallet.h).
    private func entry(
        _ place: [BusValue], _ wallet: String, _ folder: String, _ name: String
    ) throws(BusError) -> WalletEntry? {
        let (kind, value): (WalletEntry.Kind, BusValue)
        switch try call("entryType", place).integer {
        case 1: (kind, value) = (.password, try call("readPassword", place, textIsSecret: true))
        case 2: (kind, value) = (.stream, try call("readEntry", place))
        case 3: (kind, value) = (.map, try call("readMap", place))
        default: return nil
        }
        guard let secret = value.secret else { throw Self.strange }
        return WalletEntry(wallet: wallet, folder: folder, name: name, kind: kind, value: secret)
    }
}
