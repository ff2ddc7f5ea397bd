import Foundation
import ImplicitByFile
import ImplicitByFlag
import Security

/// Modules none of whose files imports Security.
func foundationBringsSecurity() throws {
    expect(ImplicitByFile.tokenRoundTrip() == errSecSuccess)
    expect(ImplicitByFlag.tokenRoundTrip() == errSecSuccess)
    #if canImport(Security)
        let present = true
    #else
        let present = false
    #endif
    expect(present)
}
