/// The version of this source tree; `--version` and the hello say it.
package enum LatchkeyVersion {
    package static let text = "0.1.0"
    /// What a daemon says whose program is no longer the one that is installed, whatever that
    /// one's version is.
    package static let replaced = text + ", replaced since"
}
