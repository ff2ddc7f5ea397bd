/// A damaged copy that could not be written again: the store opens from the
/// other copy all the same, and doctor says so.
struct RepairFailure: Hashable, Sendable {
    let fileName: String
    let error: KeybagError
}
