internal import Foundation
internal import KeychainPlatform
internal import KeychainTestSupport

/// A login session's bus in its runtime folder, which starts programs by the names
/// that are asked for.
package final class SessionBus: Sendable {
    package static let isInstalled = DisplayPrograms.areWanted && DisplayPrograms.areThere("/usr/bin/dbus-daemon")
    /// Whom pinentry-gnome3 has ask: GNOME's shell, or this where it is not there.
    package static let gnomePrompter = "/usr/libexec/gcr-prompter"

    package static let pinentry = "/usr/bin/pinentry-gnome3"

    package let runtimeFolder: String
    private let server: DisplayServer
    private let folder: TemporaryDirectory

    /// - Parameters:
    ///   - prompter: what is started once somebody wants a person to be asked; nil: no
    ///     such name is known.
    ///   - environment: of what it starts.
    package init(prompter: String?, environment: [String: String]) throws {
        folder = try TemporaryDirectory("session")
        runtimeFolder = try folder.folder("runtime").path
        let services = try folder.folder("services").path
        if let prompter {
            let name = "org.gnome.keyring.SystemPrompter"
            try "[D-BUS Service]\nName=\(name)\nExec=\(prompter)\n"
                .write(toFile: "\(services)/\(name).service", atomically: true, encoding: .utf8)
        }
        try Self.configuration(runtimeFolder, services)
            .write(toFile: folder.path("bus.conf"), atomically: true, encoding: .utf8)
        let variables = environment.merging([
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder.path, "XDG_RUNTIME_DIR": runtimeFolder,
            // No settings and no screen readers of a desktop that is not there.
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
        ]) { first, _ in first }
        server = try DisplayServer(
            "/usr/bin/dbus-daemon",
            ["--config-file=\(folder.path("bus.conf"))", "--nofork", "--nopidfile", "--print-address=1"],
            environment: variables.map { "\($0.key)=\($0.value)" })
    }

    /// What a program of the login session has in its environment, beside the display.
    package var environment: [String: String] {
        ["XDG_RUNTIME_DIR": runtimeFolder, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(runtimeFolder)/bus"]
    }

    /// dbus-daemon(1), CONFIGURATION FILE.
    private static func configuration(_ runtimeFolder: String, _ services: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(runtimeFolder)/bus</listen>
          <servicedir>\(services)</servicedir>
          <policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
          </policy>
        </busconfig>
        """
    }
}
