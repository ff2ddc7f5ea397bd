/// The keys of one store, in the two states that they can be in.
///
/// ``Locked`` has what hangs on the root key alone: the class keys of "always"
/// and the index key. ``Unlocked`` has the bag key's class keys as well.
enum Keybag {}
