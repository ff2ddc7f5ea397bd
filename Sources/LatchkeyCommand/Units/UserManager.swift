internal import KeychainPlatform

/// systemd's manager of this user's services, asked through systemctl(1), which is
/// found by an absolute path.
package struct UserManager: Sendable {
    /// Where systemctl may be, the first that nobody else can replace; nil: where systems have it.
    /// (An array here is made at every start of `latchkey`.)
    package var programs: [String]?
    package var units: Units
    /// One question; a manager that does not answer keeps nobody waiting longer.
    package var patience: Duration = .seconds(20)

    /// Where its units for this user lie: systemd.unit(5), "User Unit Search Path".
    package enum Units: Sendable, Hashable {
        /// XDG_CONFIG_HOME if that is absolute, else .config of the passwd home.
        case usersOwn
        case named(String)
    }

    package init(units: Units) { self.units = units }

    /// Found when it is asked for: the name service is slow. nil for a user without
    /// a home.
    var unitFolder: String? {
        if case .named(let folder) = units { return folder }
        let config: String?
        if let home = ProcessEnvironment.variable("XDG_CONFIG_HOME"), home.hasPrefix("/") {
            config = home
        } else {
            config = ProcessEnvironment.passwdHome.map { $0 + "/.config" }
        }
        return config.map { $0 + "/systemd/user" }
    }

    /// nil where there is no systemd.
    var program: String? {
        (programs ?? ["/usr/bin/systemctl", "/bin/systemctl"]).first(where: TrustedPath.isExecutableOfOurs)
    }

    /// Whether it did what it was told; false also where no manager answers.
    func does(_ arguments: String..., by clock: any KeychainClock) -> Bool {
        guard let program else { return false }
        do throws(ToolRun.Failure) {
            let run = try ToolRun.run(
                program, ["--user", "--no-ask-password"] + arguments, environment: environment,
                input: SecretBytes(count: 0), output: .ignored,
                patience: .until(Deadline(after: patience, on: clock)))
            return run.status == 0
        } catch {
            return false
        }
    }

    /// What systemctl needs to find the manager; a session begun by su(1) or cron
    /// lacks the variable, and the folder is where pam_systemd(8) makes it.
    private var environment: [String] {
        var environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]
        for name in ["HOME", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"] {
            if let value = ProcessEnvironment.variable(name) { environment.append("\(name)=\(value)") }
        }
        let usual = "/run/user/\(ProcessEnvironment.effectiveUserID)"
        if let runtime = ProcessEnvironment.variable("XDG_RUNTIME_DIR") {
            environment.append("XDG_RUNTIME_DIR=\(runtime)")
        } else if PrivateDirectory.isUsable(usual) {
            environment.append("XDG_RUNTIME_DIR=\(usual)")
        }
        return environment
    }
}
