import Testing

@testable import Enclave
@testable import KeychainPlatform

@Suite struct AdmissionTests {
    private func peer(_ pid: Int32, uid: UInt32 = 1000) -> SenderCredentials {
        SenderCredentials(pid: pid, uid: uid, gid: 0)
    }

    @Test func onlyTheOwnUserIsAdmitted() {
        var admission = Admission(userID: 1000, limit: 2)
        #expect(admission.admit(peer(1, uid: 0)) == .foreignUser)
        #expect(admission.admit(peer(1, uid: 1001)) == .foreignUser)
        #expect(admission.count == 0)
        #expect(admission.process == nil)
    }

    @Test func aProcessOfAForeignNamespaceIsNot() {
        var admission = Admission(userID: 1000, limit: 2)
        #expect(admission.admit(peer(0)) == .unknownProcess)
        #expect(admission.admit(peer(-1)) == .unknownProcess)
    }

    @Test func oneProcessAtATime() {
        var admission = Admission(userID: 1000, limit: 3)
        #expect(admission.admit(peer(7)) == .admitted)
        #expect(admission.admit(peer(8)) == .otherProcess)
        #expect(admission.admit(peer(7)) == .admitted)
        admission.left()
        #expect(admission.admit(peer(8)) == .otherProcess)
        admission.left()
        #expect(admission.admit(peer(8)) == .admitted)
    }

    @Test func notWithoutLimit() {
        var admission = Admission(userID: 1000, limit: 2)
        #expect(admission.admit(peer(7)) == .admitted)
        #expect(admission.admit(peer(7)) == .admitted)
        #expect(admission.admit(peer(7)) == .tooMany)
        admission.left()
        #expect(admission.admit(peer(7)) == .admitted)
    }
}
