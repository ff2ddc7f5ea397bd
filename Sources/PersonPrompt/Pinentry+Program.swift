internal import KeychainPlatform

extension Pinentry.Program {
    /// What every program gets, whatever the caller's environment says.
    private static let baseEnvironment = ["PATH=/usr/bin:/bin"]

    /// For a login session with a display. It is given no terminal: a program that
    /// finds no display must not take another one.
    package static func graphical(_ path: String, on session: GraphicalSession) -> Pinentry.Program {
        // Qt 5 takes X where nothing is said (QGuiApplication), and ends where there is none.
        let platform = session.isWaylandAlone ? ["QT_QPA_PLATFORM=wayland"] : []
        return Pinentry.Program(
            path: path, environment: baseEnvironment + ["LANG=C.UTF-8"] + session.environment + platform,
            // pinentry's manual: nobody else gets the keys while it is shown.
            options: [("grab", nil), ("lc-ctype", "C.UTF-8")], repertoire: .unicode, width: .window)
    }

    /// For a terminal; it is given no display.
    package static func onTerminal(
        _ path: String, on terminal: CallerTerminal, _ variables: SessionVariables
    ) -> Pinentry.Program {
        let language = variables.typedLanguage
        return Pinentry.Program(
            path: path, environment: baseEnvironment + ["LANG=\(language)"],
            options: [
                ("ttyname", terminal.path),
                // DEC's terminal of 1978, which those of today include.
                ("ttytype", variables.terminalType ?? "vt100"),
                ("lc-ctype", language),
            ],
            repertoire: variables.isUTF8 ? .unicode : .ascii, width: .columns(terminal.device.columns))
    }
}
