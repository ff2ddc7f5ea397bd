internal import KeychainPlatform

/// Somebody who answers systemd's questions for passwords.
enum WatchingAgent {
    /// The kernel keeps 15 bytes of a program's name; the arguments tell the agents
    /// that ask (on the console, for plymouth, on a terminal) from the one that only
    /// tells everybody to start one (--wall).
    private static let program = "systemd-tty-ask-password-agent"
    private static let asking: Set<String> = ["--watch", "--query"]

    /// Whether we may put a question and an agent of root's or ours runs. In doubt
    /// there is none.
    static func isSeen(in places: PromptPlaces) -> Bool {
        guard isOurs(places.passwordQuestions) else { return false }
        return FolderContent.names(at: places.processes).contains { name in
            Int32(name) != nil && isAgent("\(places.processes)/\(name)")
        }
    }

    private static func isOurs(_ folder: String) -> Bool {
        do throws(SystemCallError) {
            let status = try FileStatus(at: FilePath(folder), followingLink: false)
            return status.isDirectory && status.userID == ProcessEnvironment.effectiveUserID
                && status.mode & 0o022 == 0
        } catch { return false }
    }

    private static func isAgent(_ folder: String) -> Bool {
        let (arguments, status) = (read("\(folder)/cmdline"), read("\(folder)/status"))
        guard let users = ProcessUsers.parse(status),
            users.effective == 0 || users.effective == ProcessEnvironment.effectiveUserID
        else { return false }
        let words = arguments.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard let first = words.first, first.split(separator: "/").last.map(String.init) == program else {
            return false
        }
        return !words.contains("--wall") && words.contains(where: asking.contains)
    }

    private static func read(_ path: String) -> [UInt8] {
        do throws(SystemCallError) {
            return try Descriptor.look(at: FilePath(path), .reading).readStart(atMost: 8 * 1024)
        } catch { return [] }  // it has ended, or is not for us to see
    }
}
