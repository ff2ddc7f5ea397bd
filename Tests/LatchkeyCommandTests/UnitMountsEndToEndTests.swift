import Foundation
import KeychainTestSupport
import Testing

/// A program in a mount namespace of root's making, before a daemon outside, and the other way
/// about: the real programs in a control group as systemd makes it for a system service.
@Suite(.enabled(if: RunningKernel.mayMount, "mounts control groups"))
struct UnitMountsEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    /// `groups` is version 2 of the control groups, in which `unit COMMAND…` runs in a service.
    private func run(_ script: String) throws -> BuiltPrograms.Outcome {
        let prologue = """
            set -eu; groups=$HOME/groups; mkdir "$groups"; mount -t cgroup2 none "$groups"
            service=$groups/system.slice/latchkey-test-$$.service; mkdir -p "$service"
            unit() { sh -c 'echo $$ >"$0/cgroup.procs"; exec unshare -m "$@"' "$service" "$@"; }
            said() { "$@" latchkey status | grep -E '^(This program|Groups)'; }
            plain() { "$@"; }
            printf secret | latchkey set mail

            """
        let epilogue = """

            latchkey lock --stop >"$HOME/said" 2>&1 || true
            rmdir "$service" || true
            """
        return try programs.run("/usr/bin/unshare", ["-m", "sh", "-c", prologue + script + epilogue])
    }

    @Test func aUnitsMountsChangeNothing() throws {
        let outcome = try run(
            """
            said plain; said unit; unit latchkey get mail; echo
            latchkey lock --stop >"$HOME/said" 2>&1
            unit latchkey get mail; echo; said plain
            """)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        try #require(outcome.status == 0 && lines.count == 8, "\(outcome.text) \(outcome.errors)")
        #expect(Array(lines[0...1]) == Array(lines[2...3]))
        #expect(lines[1].contains("adhoc."))
        #expect(lines[4] == "secret" && lines[5] == "secret")
        #expect(Array(lines[6...7]) == Array(lines[0...1]), "beside a daemon that the unit started")
    }

    /// As a sandbox's helper makes it: nothing says what is in there.
    @Test func mountsOutsideAUnitHaveNoGroups() throws {
        let outcome = try run("said unshare -m; unshare -m latchkey list --all || echo refused $?")
        let lines = outcome.text.split(separator: "\n").map(String.init)
        // These tests may run in a unit themselves, and their daemon with them.
        let isUnit = (FileManager.default.contents(atPath: "/proc/self/cgroup")).map {
            String(decoding: $0, as: UTF8.self).contains("0::/system.slice/")
        }
        guard isUnit != true else { return }
        try #require(lines.count == 3, "\(outcome.text) \(outcome.errors)")
        #expect(lines[0].contains("adhoc.foreign") && lines[1].hasSuffix(" none"))
        #expect(lines[2] == "refused 4")
    }
}
