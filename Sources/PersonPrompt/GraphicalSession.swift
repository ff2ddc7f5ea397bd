internal import KeychainPlatform

/// A login session with a display, as the environment of a process names it and
/// the machine confirms it.
///
/// A program may put anything into its environment. What is believed leads to a
/// socket that only root or the user can have made, where the login put it: the
/// compositor in the user's runtime folder, an X server of this machine. A program
/// that runs apart (a sandbox) cannot make either.
package struct GraphicalSession: Hashable, Sendable {
    /// NAME=value for the program that asks, and nothing more.
    package let environment: [String]
    /// Whether a Wayland compositor is the only display.
    package let isWaylandAlone: Bool

    /// Nil where there is none.
    package init?(_ variables: SessionVariables, in places: PromptPlaces) {
        var environment: [String] = []
        var hasDisplay = false
        if variables.runtimeFolder == places.runtimeFolder, PrivateDirectory.isUsable(places.runtimeFolder) {
            environment.append("XDG_RUNTIME_DIR=\(places.runtimeFolder)")
            if let name = variables.waylandName, Self.isSocket("\(places.runtimeFolder)/\(name)") {
                environment.append("WAYLAND_DISPLAY=\(name)")
                hasDisplay = true
            }
            let bus = "unix:path=\(places.runtimeFolder)/bus"
            if variables.busAddress == bus, Self.isSocket("\(places.runtimeFolder)/bus") {
                environment.append("DBUS_SESSION_BUS_ADDRESS=\(bus)")
            }
        }
        if let number = variables.displayNumber, Self.isDisplay("\(places.displays)/X\(number)") {
            environment.append("DISPLAY=:\(number)")
            if let file = variables.authorityFile, Self.isOwnFile(file) { environment.append("XAUTHORITY=\(file)") }
            hasDisplay = true
        }
        guard hasDisplay else { return nil }
        self.environment = environment
        isWaylandAlone = !environment.contains { $0.hasPrefix("DISPLAY=") }
    }

    /// Programs try the name without a file first (libxcb, _xcb_open), which anybody
    /// may have taken where the server did not.
    private static func isDisplay(_ path: String) -> Bool {
        guard isSocket(path) else { return false }
        do throws(SystemCallError) {
            switch try AbstractListener(at: path) {
            case .nobody: return true
            case .user(let user): return isBelieved(user)
            }
        } catch { return false }  // who it is cannot be known
    }

    private static func isBelieved(_ user: UInt32) -> Bool {
        user == 0 || user == ProcessEnvironment.effectiveUserID
    }

    private static func isSocket(_ path: String) -> Bool {
        guard let status = status(path), status.isSocket else { return false }
        return isBelieved(status.userID)
    }

    private static func isOwnFile(_ path: String) -> Bool {
        guard let status = status(path) else { return false }
        return status.isRegularFile && status.userID == ProcessEnvironment.effectiveUserID
    }

    private static func status(_ path: String) -> FileStatus? {
        do throws(SystemCallError) { return try FileStatus(at: FilePath(path), followingLink: false) } catch {
            return nil  // what is not there is no session
        }
    }
}
