public import Foundation

// An error that is thrown as LAError is to be caught as NSError and the other way
// round. Foundation on Apple's systems does that for every imported error; on Linux
// the casts of the runtime ask this protocol, which makes NSString and String one.
extension LAError: _ObjectiveCBridgeable {
    /// What the error is as an object.
    public typealias _ObjectiveCType = NSError

    /// For `as NSError`.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// For `as! LAError`.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    /// For `as? LAError`: nil for another domain, and for a number without a name.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Where the compiler knows that it is one.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        source.map(LAError.init(_nsError:)) ?? LAError(.authenticationFailed)
    }
}
