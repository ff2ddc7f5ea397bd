/// What a keybag is opened for.
package enum KeybagPurpose: Sendable {
    case use
    /// To see whether it opens: whoever looks may yet go back to another one, so that no
    /// device destroys what this one says is to go.
    case inspection
}
