import Foundation
import KeychainAuthentication
import KeychainModel
import Testing

/// How callers look at an error, whether it was thrown as LAError or as NSError.
@Suite struct LAErrorTests {
    static let thrown: [any Error] = [
        LAError(.userCancel), NSError(domain: LAErrorDomain, code: -2),
        LAError(_nsError: NSError(domain: LAErrorDomain, code: -2)),
    ]

    @Test(arguments: thrown) func isCaughtByItsCode(_ error: any Error) {
        do { throw error } catch LAError.userCancel { return } catch { Issue.record(error) }
    }

    @Test(arguments: thrown) func isCaughtAsAnotherCodeNever(_ error: any Error) {
        do { throw error } catch LAError.systemCancel { Issue.record(error) } catch {}
    }

    @Test(arguments: thrown) func isCaughtAsLAError(_ error: any Error) {
        do { throw error } catch let error as LAError {
            #expect(error.code == .userCancel && error.errorCode == -2)
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: thrown) func isCaughtAsNSError(_ error: any Error) {
        do { throw error } catch let error as NSError {
            #expect(error.code == -2 && error.domain == "com.apple.LocalAuthentication")
            #expect(error.code == LAError.Code.userCancel.rawValue && error.code == LAError.userCancel.rawValue)
        }
    }

    @Test(arguments: thrown) func isCast(_ error: any Error) {
        #expect((error as? LAError)?.code == .userCancel)
        #expect((error as NSError).code == LAError.Code.userCancel.rawValue)
        #expect(error as? LAError == LAError(.userCancel))
        #expect(LAError.Code(rawValue: error._code) == .userCancel)
        #expect((error as NSError) as? LAError == LAError(.userCancel))
        switch error {
        case LAError.authenticationFailed, LAError.passcodeNotSet: Issue.record(error)
        case LAError.userCancel: break
        default: Issue.record(error)
        }
    }

    @Test func anErrorOfAnotherDomainIsNone() {
        let other: any Error = NSError(domain: NSPOSIXErrorDomain, code: -2)
        #expect(other as? LAError == nil && (other as NSError) as? LAError == nil)
        if case LAError.userCancel = other { Issue.record(other) }
    }

    @Test func aNumberWithoutANameTrapsNowhere() {
        let strange = NSError(domain: LAErrorDomain, code: -1001)
        #expect((strange as any Error) as? LAError == nil)
        #expect(LAError(_nsError: strange).code == .authenticationFailed)
        #expect((LAError(_nsError: strange) as NSError).code == -1001)
    }

    @Test func userInfoIsKept() {
        let error: any Error = LAError(.notInteractive, userInfo: [NSLocalizedDescriptionKey: "why"])
        #expect(error.localizedDescription == "why" && (error as NSError).localizedDescription == "why")
    }

    /// LAPublicDefines.h.
    @Test func numbersAreApples() {
        let numbers: [(LAError.Code, Int32, Int32)] = [
            (.authenticationFailed, -1, kLAErrorAuthenticationFailed), (.userCancel, -2, kLAErrorUserCancel),
            (.userFallback, -3, kLAErrorUserFallback), (.systemCancel, -4, kLAErrorSystemCancel),
            (.passcodeNotSet, -5, kLAErrorPasscodeNotSet),
            (.biometryNotAvailable, -6, kLAErrorBiometryNotAvailable),
            (.biometryNotEnrolled, -7, kLAErrorBiometryNotEnrolled), (.biometryLockout, -8, kLAErrorBiometryLockout),
            (.appCancel, -9, kLAErrorAppCancel), (.invalidContext, -10, kLAErrorInvalidContext),
            (.companionNotAvailable, -11, kLAErrorCompanionNotAvailable),
            (.watchNotAvailable, -11, kLAErrorWatchNotAvailable),
            (.biometryNotPaired, -12, kLAErrorBiometryNotPaired),
            (.biometryDisconnected, -13, kLAErrorBiometryDisconnected),
            (.invalidDimensions, -14, kLAErrorInvalidDimensions), (.notInteractive, -1004, kLAErrorNotInteractive),
        ]
        for (code, number, constant) in numbers { #expect(code.rawValue == Int(number) && number == constant) }
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1)
        #expect(LAPolicy.deviceOwnerAuthentication.rawValue == 2)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch.rawValue == 3)
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch.rawValue == 4)
        #expect(LABiometryType.touchID.rawValue == 1 && LABiometryType.faceID.rawValue == 2)
        #expect(LAAccessControlOperation.useKeyKeyExchange.rawValue == 5)
        #expect(LACredentialType.applicationPassword.rawValue == 0)
    }
}
