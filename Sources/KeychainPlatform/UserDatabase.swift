@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// The accounts of this machine (passwd(5)).
///
/// A static program cannot ask the C library for them: glibc would load the modules that
/// nsswitch.conf(5) names (libnss_systemd, libnss_sss), which bring a second C library
/// along and end the program by a segmentation fault. It reads /etc/passwd, which comes first
/// nearly everywhere, and has getent(1), a program of the machine's own, look for whom that
/// does not list.
package struct UserDatabase: Sendable {
    /// One line of it.
    package struct Account: Sendable, Hashable {
        package let name: String
        package let userID: UInt32
        package let home: String
    }

    /// How an account is asked for.
    package enum Key: Sendable, Hashable {
        case userID(UInt32)
        /// - Precondition: a name of ours, no option of getent's.
        case name(String)

        fileprivate var text: String {
            switch self {
            case .userID(let number): "\(number)"
            case .name(let name): name
            }
        }

        fileprivate func isMet(by account: Account) -> Bool {
            switch self {
            case .userID(let number): account.userID == number
            case .name(let name): account.name == name
            }
        }
    }

    /// Where accounts lie that need no module.
    let file: String
    /// Asks all sources of the machine.
    let getent: String
    let clock: any KeychainClock

    /// The machine's.
    package static var machine: UserDatabase {
        UserDatabase(file: "/etc/passwd", getent: "/usr/bin/getent", clock: SystemClock())
    }

    package init(file: String, getent: String, clock: any KeychainClock) {
        (self.file, self.getent, self.clock) = (file, getent, clock)
    }

    /// How long the machine's sources (a directory server) may take.
    private static let patience: Duration = .seconds(5)
    /// What an account may take up, and what getent may write.
    private static let longestLine = 64 * 1024

    /// The account; nil where there is none, or its source does not answer.
    package subscript(_ key: Key) -> Account? {
        if lk_is_static() == 0 { return named(key) }
        return listed(key) ?? asked(key)
    }

    /// By the C library.
    private func named(_ key: Key) -> Account? {
        unsafe Self.filled { entry, buffer, size, found in
            switch key {
            case .userID(let number): unsafe getpwuid_r(number, entry, buffer, size, found)
            case .name(let name): unsafe getpwnam_r(name, entry, buffer, size, found)
            }
        }
    }

    /// In the file.
    func listed(_ key: Key) -> Account? {
        guard let stream = unsafe fopen(file, "re") else { return nil }
        defer { unsafe fclose(stream) }
        return unsafe Self.first(in: stream, key)
    }

    /// By getent, which is killed where it does not end.
    func asked(_ key: Key) -> Account? {
        do throws(ToolRun.Failure) {
            let run = try ToolRun.run(
                getent, ["passwd", key.text], environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"],
                input: SecretBytes(count: 0), output: .upTo(Self.longestLine),
                patience: .until(Deadline(after: Self.patience, on: clock)))
            guard run.status == 0 else { return nil }
            var line = run.output.insecureArray()
            return unsafe line.withUnsafeMutableBytes { bytes -> Account? in
                guard let stream = unsafe fmemopen(bytes.baseAddress, bytes.count, "r") else { return nil }
                defer { unsafe fclose(stream) }
                return unsafe Self.first(in: stream, key)
            }
        } catch { return nil }
    }

    private static func first(in stream: UnsafeMutablePointer<FILE>, _ key: Key) -> Account? {
        while true {
            let account = unsafe filled { entry, buffer, size, found in
                unsafe fgetpwent_r(stream, entry, buffer, size, found)
            }
            guard let account else { return nil }
            // Lines of NIS, which no account has.
            if key.isMet(by: account), !account.name.hasPrefix("+"), !account.name.hasPrefix("-") { return account }
        }
    }

    private typealias Filling = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    private static func filled(_ fill: Filling) -> Account? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>? = nil
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: longestLine)
        defer { unsafe buffer.deallocate() }
        guard unsafe fill(&entry, buffer, longestLine, &found) == 0, unsafe found != nil,
            let name = unsafe entry.pw_name, let home = unsafe entry.pw_dir
        else { return nil }
        return unsafe Account(name: String(cString: name), userID: entry.pw_uid, home: String(cString: home))
    }
}
