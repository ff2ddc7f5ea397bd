import KeychainModel
import Testing

@testable import LatchkeyCommand

/// Every error says what happened, why, and what to do.
func expectRemedy(_ error: KeychainError?, _ location: SourceLocation = #_sourceLocation) {
    guard let error else {
        Issue.record("there is no error", sourceLocation: location)
        return
    }
    let remedy = Advice.line(for: error.reason)
    #expect(!remedy.contains("a fault of Latchkey"), "\(error)", sourceLocation: location)
    #expect(error.reason.explanation.count > 15, sourceLocation: location)
}

/// Holds an error against what is: status, reason and a remedy.
func expect(
    _ error: KeychainError?, _ status: Status, _ reason: Reason, _ note: String = "", _ ledger: Ledger? = nil,
    _ location: SourceLocation = #_sourceLocation
) {
    if error?.status != status || error?.reason != reason {
        ledger?.count { $0.wrongAnswers += 1 }
        Issue.record("\(note): \(String(describing: error)) where \(status), \(reason) is true", sourceLocation: location)
    }
    expectRemedy(error, location)
}
