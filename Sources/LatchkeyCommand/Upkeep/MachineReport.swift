internal import KeychainPlatform

/// What `latchkey doctor` says of the machine around the store.
struct MachineReport: Sendable {
    /// What protects the secrets now.
    var protection: String?
    /// What daemon and enclave do to themselves.
    var measures: ProcessMeasures?
    private var findings: [MachineFinding] = []
    private var fixed: [String] = []

    mutating func take(_ found: [MachineFinding], fixing: Bool) throws(CommandFailure) {
        for finding in found {
            guard fixing else {
                findings.append(finding)
                continue
            }
            do throws(SystemCallError) {
                if try finding.fix() { fixed.append(finding.what) } else { findings.append(finding) }
            } catch {
                throw CommandFailure(
                    .unavailable, "\(PrintableText.escaped(finding.what)), and that cannot be mended (\(error))",
                    finding.command ?? "Look at it by hand.")
            }
        }
    }

    var text: String {
        guard let protection else { return "" }
        var lines = ["", protection] + (measures?.lines ?? []).map(PrintableText.escaped)
        for finding in findings {
            lines.append("- \(PrintableText.escaped(finding.what))")
            if let command = finding.command { lines.append("    \(PrintableText.escaped(command))") }
        }
        lines += fixed.map { "mended: \(PrintableText.escaped($0))" }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: [(String, JSONValue)] {
        [
            ("protection", JSONValue(protection)), ("measures", measures?.json ?? .array([])),
        ] + jsonOfFindings
    }

    var jsonOfFindings: [(String, JSONValue)] {
        [("findings", .array(findings.map(\.json))), ("fixed", .strings(fixed))]
    }
}
