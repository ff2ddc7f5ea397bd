package import KeychainPlatform

/// The ways to ask a person, best first.
package struct PromptWays {
    package let screens: [any PersonScreen]

    /// - Parameter calledOffBy: each readable once there is nobody to ask for any more.
    /// - Throws: where there is no way at all, and why.
    package init(
        from place: CallerPlace, in places: PromptPlaces, calledOffBy: [Descriptor]
    ) throws(NobodyToAsk) {
        var screens: [any PersonScreen] = []
        if let session = place.display {
            for path in places.graphicalPrograms where TrustedPath.isExecutableOfOurs(path) {
                screens.append(Pinentry(.graphical(path, on: session), calledOffBy: calledOffBy))
            }
        }
        if let terminal = place.terminal {
            for path in places.terminalPrograms(for: place.variables) where TrustedPath.isExecutableOfOurs(path) {
                let program = Pinentry.Program.onTerminal(path, on: terminal, place.variables)
                screens.append(Pinentry(program, on: terminal.device, calledOffBy: calledOffBy))
            }
        }
        if screens.isEmpty, let agent = PasswordAgent(in: places, calledOffBy: calledOffBy) { screens.append(agent) }
        guard !screens.isEmpty else { throw Self.refusal(place) }
        self.screens = screens
    }

    private static func refusal(_ place: CallerPlace) -> NobodyToAsk {
        if place.display == nil, let why = place.noTerminal { return why }
        if place.terminal != nil, !place.variables.movesCursor {
            return NobodyToAsk(
                "this terminal moves no cursor (TERM=dumb): pinentry-tty can ask here, and is not installed")
        }
        return NobodyToAsk(
            "no program that asks is installed: pinentry-gnome3 or pinentry-qt for a display, pinentry-curses for a terminal"
        )
    }
}
