/// What became of the place of files that a running program has open: they go with it.
package enum PlaceFault: String, Sendable, Hashable, CaseIterable {
    /// Nothing lies there any more.
    case gone
    /// Something else lies there.
    case replaced
    /// What lies there is damaged, and cannot be written again.
    case damaged
}
