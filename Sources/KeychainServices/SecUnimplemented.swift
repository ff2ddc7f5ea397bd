import Foundation

/// The one answer of functions that are declared, so that code compiles, and
/// not offered yet: `errSecUnimplemented`, and no result.
enum Unimplemented {
    /// What a function that returns a status answers.
    static var status: OSStatus { errSecUnimplemented }

    /// The error that says what is missing.
    ///
    /// - Parameter missing: What was asked for, to stand before "is not offered
    ///   yet".
    static func error(_ missing: String) -> CFError {
        NSError(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: "Latchkey: \(missing) is not offered yet."])
    }

    /// Leaves the error where a function that returns an object was told to.
    static func fill(_ pointer: UnsafeMutablePointer<Unmanaged<CFError>?>?, with missing: String) {
        unsafe pointer?.pointee = Unmanaged.passRetained(error(missing))
    }
}
