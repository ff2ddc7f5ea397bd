internal import KeychainPlatform

/// The file in which a person writes a ``SecretServicePolicy``. It is read at each call, so
/// that a change counts from the next one on.
package final class PolicyFile {
    package static let name = "secret-service.policy"

    package let path: String
    private let file: FilePath
    private let folder: FilePath
    /// The path, and what is above it, one by one.
    private let places: [FilePath]
    private var known: (bytes: [UInt8], policy: SecretServicePolicy)?

    /// - Parameter path: absolute.
    package init(_ path: String) {
        self.path = path
        let whole = FilePath(path)
        file = FilePath(bytes: Array(whole.name))
        folder = whole.folder ?? FilePath("/")
        places = Array(sequence(first: whole) { $0.folder })
    }

    /// `latchkey/secret-service.policy` below $XDG_CONFIG_HOME, or ~/.config, also where only
    /// $HOME says what ~ is; nil where nothing does, and nobody could have written one.
    package static func ofUser() -> PolicyFile? {
        let config: String?
        if let home = ProcessEnvironment.variable("XDG_CONFIG_HOME"), home.hasPrefix("/") {
            config = home
        } else {
            let home = ProcessEnvironment.passwdHome ?? ProcessEnvironment.variable("HOME")
            config = home.map { $0 + "/.config" }
        }
        return config.map { PolicyFile("\($0)/latchkey/\(name)") }
    }

    /// Why nobody is given anything.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// What it says; a file that is not there says nothing.
    ///
    /// - Throws: for one that cannot be read, that somebody else could write or take away, or that
    ///   says something else than a policy: whoever wrote it wanted to keep something from
    ///   somebody.
    package func policy() throws(Fault) -> SecretServicePolicy {
        guard let bytes = try read() else {
            known = nil
            return .everybody
        }
        if let known, known.bytes == bytes { return known.policy }
        do throws(SecretServicePolicy.Fault) {
            let policy = try SecretServicePolicy(bytes)
            known = (bytes, policy)
            return policy
        } catch { throw Fault(description: "\(path), \(error)") }
    }

    /// Whether there is a link, at the path or above it, to something that is not there: whoever
    /// made it wants a policy to be read, which may only be away.
    private func leadsNowhere() throws(Fault) -> Bool {
        for place in places {
            do throws(SystemCallError) {
                guard try FileStatus(at: place, followingLink: false).isLink else { return false }
                do throws(SystemCallError) {
                    _ = try FileStatus(at: place, followingLink: true)
                    return false
                } catch {
                    guard error.isNoSuchFile else { throw error }
                    return true
                }
            } catch {
                guard error.isNoSuchFile else { throw Fault(description: "\(place.printable ?? path): \(error)") }
            }
        }
        return false
    }

    private func read() throws(Fault) -> [UInt8]? {
        let (status, bytes, folder): (FileStatus, [UInt8], FileStatus)
        do throws(SystemCallError) {
            // The folder first: the file is then one of this folder, whatever becomes of its name.
            let place = try Descriptor.look(at: self.folder, .folder)
            let file = try Descriptor.look(at: self.file, in: place, .reading)
            (status, bytes) = (try FileStatus(of: file), try readAll(file, atMost: SecretServicePolicy.mostBytes))
            folder = try FileStatus(of: place)
        } catch {
            if error.isNoSuchFile, try !leadsNowhere() { return nil }
            throw Fault(description: "\(path): \(error)")
        }
        guard status.isRegularFile, Self.isOurs(status) else {
            throw Fault(description: "\(path) is no file of yours that nobody else can write (chmod go-w)")
        }
        // Whoever may write there may take it away, and everybody would have everything.
        guard Self.isOurs(folder) else {
            throw Fault(
                description:
                    "\(self.folder.printable ?? path) is no folder of yours that nobody else can write (chmod go-w)")
        }
        return bytes
    }

    private static func isOurs(_ status: FileStatus) -> Bool {
        [0, ProcessEnvironment.effectiveUserID].contains(status.userID) && status.mode & 0o022 == 0
    }
}
