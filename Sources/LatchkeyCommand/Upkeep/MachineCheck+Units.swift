internal import KeychainPlatform

extension MachineCheck {
    /// Units of `latchkey install` that start something else than it would write now.
    func unitFindings() -> [MachineFinding] {
        do throws(CommandFailure) {
            guard surroundings.userManager.program != nil else { return [] }
            let units = try UserUnits.wanted(dataDirectory, in: surroundings)
            var findings: [MachineFinding] = []
            for name in UserUnits.names {
                guard case .different(let text?) = try units.state(name), try UserUnits.isOurs(units.path(name)) == true
                else { continue }
                let started = text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
                findings.append(
                    MachineFinding(
                        what: "\(units.path(name)) is not what this version writes"
                            + (started.map { "; it has \($0)" } ?? ""),
                        command: "latchkey install --user --replace", mend: .byHand))
            }
            return findings
        } catch {
            // Without a daemon to start, or a place for units, there is nothing to compare.
            return []
        }
    }
}
