/// The number behind ERR: a gpg_error_t, of which the low 16 bits are the code and
/// the rest says who reports it (gpg-error.h, GPG_ERR_CODE_MASK).
package struct AssuanCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package enum Meaning: Hashable, Sendable {
        /// A person said no.
        case canceled
        /// Nobody said anything.
        case timedOut
        /// It could not ask: no display, a window that is too small, another locale.
        case other(UInt16)
    }

    /// gpg-error.h: GPG_ERR_TIMEOUT 62, GPG_ERR_CANCELED 99, GPG_ERR_NOT_CONFIRMED
    /// 114, GPG_ERR_FULLY_CANCELED 198.
    package var meaning: Meaning {
        switch UInt16(truncatingIfNeeded: rawValue) {
        case 62: .timedOut
        case 99, 114, 198: .canceled
        case let code: .other(code)
        }
    }
}
