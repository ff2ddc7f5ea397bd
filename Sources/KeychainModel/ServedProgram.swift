/// Whom a program says that it makes a call for: one that reached it over a session's bus,
/// say. It is the program's word, and grants nothing; the audit record repeats it.
package struct ServedProgram: Sendable, Hashable {
    /// Of its executable; empty where that could not be told.
    package let path: String
    /// By its bare number, which may be another's by now.
    package let process: Int32

    /// Unicode scalars of a path that are kept.
    package static let longestPath = 512

    /// - Parameter path: cut where it is longer.
    package init(path: String, process: Int32) {
        self.path = path.cut(toScalars: Self.longestPath)
        self.process = process
    }
}
