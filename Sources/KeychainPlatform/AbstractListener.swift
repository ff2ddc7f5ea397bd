@_implementationOnly import CLatchkeyPlatform
internal import Glibc

/// Who listens on a stream socket whose name is no file (unix(7), "abstract"). The
/// name belongs to whoever takes it first.
package enum AbstractListener: Hashable, Sendable {
    case nobody
    case user(UInt32)

    /// - Throws: where that cannot be said, as with a listener that takes nobody.
    package init(at name: String) throws(SystemCallError) {
        var user: UInt32 = 0
        let result = unsafe lk_abstract_listener(name, &user)
        if result == -ECONNREFUSED {
            self = .nobody
        } else {
            _ = try checked("connect", result)
            self = .user(user)
        }
    }
}
