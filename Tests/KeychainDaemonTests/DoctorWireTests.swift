import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

@Suite struct DoctorWireTests {
    /// The client's deadline starts anew with every message, so a long look is
    /// no silence.
    @Test func progressIsNoAnswerYetAndTheReportIs() throws {
        var report = DoctorReport()
        report.items = [.key: 3]
        report.brakeIsOn = true
        report.brakeSince = 1.5
        report.setAsideFiles = ["keychain.db.damaged-1"]
        report.isIntact = false
        report.inspection = InspectionCounts()
        report.salvage = SalvageCounts()
        var decoder = AnswerDecoder(number: 7)
        let progress = EncodedMessage.progress(number: 7)
        let answer = EncodedMessage.doctor(report, number: 7)
        let isFirstTheLast = try decoder.take(progress.header, tail: progress.tail)
        let isSecondTheLast = try decoder.take(answer.header, tail: answer.tail)
        #expect(!isFirstTheLast && isSecondTheLast)
        #expect(decoder.answer.doctor == report)
    }

    @Test(arguments: DoctorTask.allCases) func tasksSurviveTheWire(_ task: DoctorTask) throws {
        let request = KeychainRequest(.doctor(task))
        let decoded = try KeychainRequest.decode(header: request.encoded(number: 1), tail: SecretBytes(count: 0))
        #expect(decoded.request.operation == .doctor(task))
    }
}
