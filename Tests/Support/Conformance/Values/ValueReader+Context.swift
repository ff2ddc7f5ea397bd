internal import Foundation
internal import KeychainAuthentication

extension ValueReader {
    /// An LAContext, as a program would have made and used it before the call.
    func context(_ json: JSONValue) throws -> LAContext {
        let known: Set<String> = ["preauthenticated", "invalidated", "interactionNotAllowed"]
        let unknown = Set((json.object ?? [:]).keys).subtracting(known)
        guard unknown.isEmpty else { throw CorpusError("unknown member of an laContext: \(unknown.sorted())") }
        let context = LAContext()
        if json["preauthenticated"]?.bool == true { try authenticate(context) }
        if json["interactionNotAllowed"]?.bool == true { context.interactionNotAllowed = true }
        if json["invalidated"]?.bool == true { context.invalidate() }
        return context
    }

    private func authenticate(_ context: LAContext) throws {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var failure: (any Error)?
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a case of the corpus") { _, error in
            unsafe failure = error
            done.signal()
        }
        done.wait()
        if let failure = unsafe failure { throw CorpusError("the context was not authenticated: \(failure)") }
    }
}
