internal import Foundation
internal import Synchronization

/// Runs a corpus in both modes, a few cases at a time.
package struct ConformanceRun: Sendable {
    private let corpus: Corpus
    private let modes: [Mode]
    private let programs: String

    /// Cases at a time: most of a case is waiting for the disk and for processes.
    private static let width = 6

    /// - Parameter programs: the folder with the daemon for tests and the enclave.
    package init(_ corpus: Corpus, modes: [Mode] = Mode.allCases, programs: String) {
        self.corpus = corpus
        self.modes = modes
        self.programs = programs
    }

    package func report() -> ConformanceReport {
        let outcomes = Mutex([[Mode: ConformanceReport.Outcome]](repeating: [:], count: corpus.cases.count))
        inParallel(corpus.cases.count) { index in
            let found = self.outcomes(of: corpus.cases[index])
            outcomes.withLock { $0[index] = found }
        }
        var report = ConformanceReport(modes: modes, unreadable: corpus.unreadable)
        for (one, found) in zip(corpus.cases, outcomes.withLock({ $0 })) { report.add(one, found) }
        return report
    }

    private func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let cases = Mutex(0..<count)
        let crew = DispatchGroup()
        for _ in 0..<Self.width {
            DispatchQueue.global().async(group: crew) {
                while let index = cases.withLock({ $0.popFirst() }) { body(index) }
            }
        }
        crew.wait()
    }

    private func outcomes(of conformanceCase: ConformanceCase) -> [Mode: ConformanceReport.Outcome] {
        if let reason = Pending(conformanceCase) {
            return Dictionary(uniqueKeysWithValues: modes.map { ($0, .pending(reason)) })
        }
        return Dictionary(
            uniqueKeysWithValues: modes.map { mode in
                // The shipped enclave has no finger to look at.
                let waits = mode == .daemon && conformanceCase.looksAtBiometry
                return (mode, waits ? .pending(.biometry) : outcome(of: conformanceCase, mode))
            })
    }

    private func outcome(of conformanceCase: ConformanceCase, _ mode: Mode) -> ConformanceReport.Outcome {
        guard let difference = difference(in: conformanceCase, mode) else { return .passed }
        return Disputed.reason(for: conformanceCase).map { .disputed(reason: $0, difference: difference) }
            ?? .failed(difference)
    }

    /// nil: the case passes.
    private func difference(in conformanceCase: ConformanceCase, _ mode: Mode) -> String? {
        do {
            let keychain = try keychain(for: conformanceCase.context, mode)
            defer { keychain.close() }
            try prepare(keychain, for: conformanceCase)
            var run = CaseRun(conformanceCase, keychain, corpus.fixtures)
            return run.run(conformanceCase.steps).map {
                "step \($0.step) (\($0.call)): expected \($0.expected), got \($0.got)"
            }
        } catch {
            return "the keychain did not start: \(error)"
        }
    }

    private func prepare(_ keychain: any KeychainUnderTest, for conformanceCase: ConformanceCase) throws {
        if conformanceCase.looksAtBiometry { try keychain.change(.enrolBiometry) }
        guard conformanceCase.looksAtPasscode, conformanceCase.context.passcodeSet else { return }
        try keychain.change(.setPasscode)
        let state = conformanceCase.context.deviceState
        if state != "unlocked", let change = DeviceChange(call: "setState", ["state": .string(state)]) {
            try keychain.change(change)
        }
    }

    private func keychain(for context: CaseContext, _ mode: Mode) throws -> any KeychainUnderTest {
        switch mode {
        case .inProcess: try InProcessKeychain(context)
        case .daemon: try DaemonKeychain(context, programs: programs)
        }
    }
}
