/// The version of this source tree; `--version` and the hello say it.
package enum LatchkeyVersion {
    package static let text = "0.1.0"
}
