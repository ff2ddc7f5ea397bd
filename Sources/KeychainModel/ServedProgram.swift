/// Whom a program says that it makes a call for: one that reached it over a session's bus,
/// say. It is the program's word, and grants nothing; the audit record repeats it.
package struct ServedProgram: Sendable, Hashable {
    /// By what its process was known when it was looked at.
    package enum Evidence: UInt32, Sendable, CaseIterable {
        /// A bare number, which may be another's by now.
        case number = 0
        /// A process descriptor (pidfd_open(2)): no other process, also where the number is
        /// used again.
        case descriptor = 1
        /// A process descriptor of one that had ended: whoever asked was another.
        case ended = 2

        /// - Parameter number: as messages have it; one that this version does not know is
        ///   worth a bare number.
        package init(number: UInt32) { self = Evidence(rawValue: number) ?? .number }
    }

    /// Of its executable; empty where that could not be told.
    package let path: String
    /// 0 where that could not be told either.
    package let process: Int32
    package let evidence: Evidence

    /// Unicode scalars of a path that are kept.
    package static let longestPath = 512

    /// - Parameter path: cut where it is longer.
    package init(path: String, process: Int32, evidence: Evidence = .number) {
        self.path = path.cut(toScalars: Self.longestPath)
        self.process = process
        self.evidence = evidence
    }

    /// The same program as any process.
    package var ofAnyProcess: ServedProgram { ServedProgram(path: path, process: 0, evidence: evidence) }
}
