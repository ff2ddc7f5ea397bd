internal import KeychainPlatform

/// Where on this machine is what a prompt needs. Tests name folders of their own.
package struct PromptPlaces: Sendable {
    package var processes = "/proc"
    package var terminals = "/dev"
    /// X servers listen here (X(7)); made by root, sticky.
    package var displays = "/tmp/.X11-unix"
    /// What the login made for the user (pam_systemd(8)).
    package var runtimeFolder = "/run/user/\(ProcessEnvironment.effectiveUserID)"

    /// In order; /usr/bin/pinentry is whatever the machine's owner chose.
    package var graphicalPrograms = [
        "/usr/bin/pinentry-gnome3", "/usr/bin/pinentry-qt", "/usr/bin/pinentry-gtk-2", "/usr/bin/pinentry",
    ]
    package var terminalPrograms = ["/usr/bin/pinentry-curses", "/usr/bin/pinentry-tty", "/usr/bin/pinentry"]

    package var passwordAgentProgram = "/usr/bin/systemd-ask-password"
    /// systemd.io, "Password Agents": questions for agents lie here.
    package var passwordQuestions = "/run/systemd/ask-password"

    package init() {}

    /// Those that can be read on its terminal, in order.
    func terminalPrograms(for variables: SessionVariables) -> [String] {
        // By its name: what /usr/bin/pinentry is nobody says before it draws.
        variables.movesCursor ? terminalPrograms : terminalPrograms.filter { $0.hasSuffix("/pinentry-tty") }
    }
}
