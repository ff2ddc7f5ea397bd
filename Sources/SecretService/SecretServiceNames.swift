package import MessageBus

/// Names of the Secret Service (freedesktop.org "Secret Service API Draft", 0.2).
package enum SecretServiceNames {
    package static let bus = "org.freedesktop.secrets"
    package static let root = ObjectPath("/org/freedesktop/secrets") ?? .none

    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let session = "org.freedesktop.Secret.Session"
    static let masterPassword = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
    static let portal = "org.freedesktop.impl.portal.Secret"
    static let portalRequest = "org.freedesktop.impl.portal.Request"
    static let portalRoot = ObjectPath("/org/freedesktop/portal/desktop") ?? .none
    static let prompt = "org.freedesktop.Secret.Prompt"
    static let properties = "org.freedesktop.DBus.Properties"
    static let introspection = "org.freedesktop.DBus.Introspectable"

    static let collections = root.appending("collection")
    static let aliases = root.appending("aliases")
    static let sessions = root.appending("session")
    static let prompts = root.appending("prompt")

    /// Folders of objects.
    static let branches: Set<ObjectPath> = [
        collections, aliases, sessions, .none, ObjectPath("/org") ?? .none, ObjectPath("/org/freedesktop") ?? .none,
        ObjectPath("/org/freedesktop/portal") ?? .none,
    ]
}

extension BusError {
    private static func secret(_ name: String, _ text: String) -> BusError {
        BusError(name: "org.freedesktop.Secret.Error." + name, text: text)
    }

    static let isLocked = secret("IsLocked", "the keychain is locked; `latchkey unlock` opens it")
    static let noSession = secret("NoSession", "there is no such session")
    /// For a path where nothing is, as GDBus answers on behalf of gnome-keyring: it is what
    /// clients look for.
    static func noObject(_ path: ObjectPath) -> BusError { BusError(.unknownMethod, "there is no object \(path)") }
    /// For an item or collection that a call names and that is not there.
    static func noSuchObject(_ path: ObjectPath) -> BusError { secret("NoSuchObject", "there is no object \(path)") }
}
