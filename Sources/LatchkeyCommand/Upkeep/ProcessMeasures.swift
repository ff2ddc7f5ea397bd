internal import KeychainPlatform
internal import KeychainProtocol

/// What daemon and enclave do to themselves, as they say and as the kernel shows it, and
/// what the kernel shows of the processes that start programs for them.
struct ProcessMeasures: Sendable {
    struct Measure: Sendable, Hashable {
        let program: String
        let process: Int32
        let name: String
        let isInForce: Bool
        let note: String
        /// For whom a spawner starts programs.
        var owner: String?

        var whose: String { owner.map { "\(program) of \($0)" } ?? program }
    }

    let all: [Measure]

    init(_ status: KeychainStatus, files: HostFiles) {
        let programs = [
            ("latchkeyd", status.daemonProcess, status.daemonMeasures),
            ("latchkey-enclave", status.enclaveProcess, status.enclaveMeasures),
        ]
        let told = programs.flatMap { program, process, measures in
            let kernel = KernelView(of: process, files)
            return measures.map { told in
                let isDenied = told.isInForce && kernel.denies(told.name)
                return Measure(
                    program: program, process: process, name: told.name, isInForce: told.isInForce && !isDenied,
                    note: isDenied ? "the program says that it is in force, and the kernel that it is not" : told.note)
            }
        }
        all = told + programs.filter { !$0.2.isEmpty }.flatMap { Self.spawners(of: $0.1, $0.0, files) }
    }

    /// A spawner answers nobody but its owner: what holds for it is what the kernel shows.
    private static func spawners(of owner: Int32, _ name: String, _ files: HostFiles) -> [Measure] {
        files.names("/proc").compactMap { Int32($0) }.sorted().flatMap { process -> [Measure] in
            let kernel = KernelView(of: process, files)
            guard kernel.isSpawner, kernel.parent == owner else { return [] }
            return [HardeningMeasure.noCoreDumps, .noNewPrivileges, .systemCalls].map { measure in
                let isInForce = kernel.shows(measure.rawValue) ?? false
                return Measure(
                    program: "latchkey-spawner", process: process, name: measure.rawValue, isInForce: isInForce,
                    note: note(on: measure, isInForce: isInForce), owner: name)
            }
        }
    }

    private static func note(on measure: HardeningMeasure, isInForce: Bool) -> String {
        guard isInForce else { return "the kernel shows it" }
        return measure == .systemCalls
            ? "also for what it starts: none that look into other processes or change the kernel" : ""
    }

    // MARK: For people

    /// A line for each process, of what is in force.
    var lines: [String] {
        var processes: [Int32] = []
        for measure in all where !processes.contains(measure.process) { processes.append(measure.process) }
        return processes.compactMap { process in
            let measures = all.filter { $0.process == process && $0.isInForce }
            guard let whose = measures.first?.whose else { return nil }
            let said = measures.map { Self.text($0.name) + ($0.note.isEmpty ? "" : " (\($0.note))") }
            return "\(whose): \(said.joined(separator: ", "))"
        }
    }

    var findings: [MachineFinding] {
        all.filter { !$0.isInForce }.map { measure in
            MachineFinding(
                what: "\(measure.whose) runs without: \(Self.text(measure.name)) (\(measure.note))",
                command: Self.command(for: measure.name), mend: .byHand)
        }
    }

    private static func text(_ name: String) -> String {
        switch HardeningMeasure(rawValue: name) {
        case .noCoreDumps: "no core dumps"
        case .notDumpable: "closed to other programs"
        case .noNewPrivileges: "no new privileges"
        case .noNewCode: "no new code"
        case .files: "no files but its own, no network"
        case .systemCalls: "a list of system calls"
        case .hiddenMemory: "keys in hidden memory"
        // Of a newer version.
        case nil: name
        }
    }

    private static func command(for name: String) -> String {
        switch HardeningMeasure(rawValue: name) {
        case .noNewCode: "uname -r   # Linux 6.3 or newer has PR_SET_MDWE"
        case .files: "cat /sys/kernel/security/lsm   # landlock belongs into lsm= of the kernel's command line"
        case .systemCalls: "grep Seccomp /proc/self/status   # the policy of a container may refuse filters"
        case .hiddenMemory: "secretmem.enable=1   # on the kernel's command line"
        case .noCoreDumps, .notDumpable, .noNewPrivileges, nil:
            "latchkey lock --stop   # the next call starts both anew"
        }
    }

    // MARK: For programs

    var json: JSONValue {
        .array(
            all.map { measure in
                .object([
                    ("program", .string(measure.program)), ("pid", .integer(Int64(measure.process))),
                    ("measure", .string(measure.name)), ("inForce", .bool(measure.isInForce)),
                    ("note", .string(measure.note)),
                ])
            })
    }
}

/// What everybody may see of a process (proc(5)): enough to find a program out that says
/// of itself what is not so.
private struct KernelView {
    private let fields: [String: String]
    private let coreLimit: String?

    init(of process: Int32, _ files: HostFiles) {
        let status = files.text("/proc/\(process)/status") ?? ""
        var fields: [String: String] = [:]
        for line in status.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[String(parts[0])] = String(parts[1].drop { $0 == " " || $0 == "\t" })
        }
        self.fields = fields
        coreLimit = files.text("/proc/\(process)/limits")?.split(separator: "\n")
            .first { $0.hasPrefix("Max core file size") }?.split(separator: " ").dropFirst(4).first.map(String.init)
    }

    /// Its name in the list of processes, of which the kernel keeps 15 bytes.
    var isSpawner: Bool { fields["Name"] == "latchkey-spawne" }
    var parent: Int32? { fields["PPid"].flatMap { Int32($0) } }

    /// Only what is there and says otherwise.
    func denies(_ name: String) -> Bool { shows(name) == false }

    /// nil for what it does not show, of this process or at all.
    func shows(_ name: String) -> Bool? {
        switch HardeningMeasure(rawValue: name) {
        case .systemCalls: fields["Seccomp"].map { $0 == "2" }
        case .noNewPrivileges: fields["NoNewPrivs"].map { $0 == "1" }
        case .noCoreDumps: coreLimit.map { $0 == "0" }
        case .notDumpable, .noNewCode, .files, .hiddenMemory, nil: nil
        }
    }
}
