// Errors, access groups and protection classes are the same types in the daemon,
// the doors and here.
@_exported public import KeychainModel
