/// Why nobody is asked on behalf of a process: the words behind `nobodyToAsk`.
package struct NobodyToAsk: Error, Hashable, Sendable, CustomStringConvertible {
    package let why: String

    package init(_ why: String) { self.why = why }

    package var description: String { why }
}
