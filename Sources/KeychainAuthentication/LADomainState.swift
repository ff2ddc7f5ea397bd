public import Foundation

/// By what a person could agree, in a form that tells whether it changed.
///
/// Apple's counterpart: the type of the same name (iOS 18), without companions.
public final class LADomainState: NSObject, Sendable {
    /// The part of biometry.
    public let biometry: LADomainStateBiometry

    init(biometry: LADomainStateBiometry) { self.biometry = biometry }

    /// Changes with whatever could agree; nil where nothing can. Here that of
    /// biometry.
    public var stateHash: Data? { biometry.stateHash }
}

/// By which biometry a person could agree, in a form that tells whether it changed.
///
/// Apple's counterpart: the type of the same name (iOS 18).
public final class LADomainStateBiometry: NSObject, Sendable {
    /// What there is to recognize a person by.
    public let biometryType: LABiometryType
    /// Changes when a finger or face is enrolled or removed; nil where none is
    /// enrolled, or where that cannot be told.
    public let stateHash: Data?

    init(biometryType: LABiometryType, stateHash: Data?) {
        self.biometryType = biometryType
        self.stateHash = stateHash
    }
}
