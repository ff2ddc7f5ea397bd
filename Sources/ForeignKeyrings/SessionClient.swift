internal import KeychainPlatform
internal import MessageBus

/// The session's bus as a source is read over it.
struct SessionClient {
    let bus: BusClient

    /// What a program may take for an answer that no person has to give.
    static let patience = Duration.seconds(30)

    init() throws(ReadingFailure) {
        do throws(SessionBusFailure) { bus = try BusClient.user() } catch {
            throw ReadingFailure(
                "there is no session bus (\(error))",
                "Run it in the session of the desktop, where DBUS_SESSION_BUS_ADDRESS is set; "
                    + "gnome-keyring's files can be imported without: ~/.local/share/keyrings/*.keyring")
        }
    }

    /// What the kernel calls the process behind a name, in 15 bytes; empty where nobody can say.
    func program(of name: String) -> String {
        do throws(BusError) {
            guard let process = try bus.process(of: name) else { return "" }
            return Self.name(of: process)
        } catch { return "" }
    }

    private static func name(of process: UInt32) -> String {
        do throws(SystemCallError) {
            guard case .file(let text) = try NamedSource.read("/proc/\(process)/comm", atMost: 64) else { return "" }
            return String(decoding: text.insecureArray(), as: UTF8.self).split(separator: "\n").first.map(String.init)
                ?? ""
        } catch { return "" }
    }

    func owner(of name: String) throws(ReadingFailure) -> String? {
        do throws(BusError) { return try bus.owner(of: name) } catch {
            throw ReadingFailure("the session bus does not answer", error)
        }
    }
}
