internal import Foundation
internal import KeychainServices

/// One case on one keychain: makes the calls, compares what comes back.
struct CaseRun {
    private let keychain: any KeychainUnderTest
    private var reader: ValueReader
    private var context: CaseContext

    /// What a step gave.
    struct Answer {
        var status: OSStatus
        var object: AnyObject? = nil

        static var success: Answer { Answer(status: errSecSuccess) }
    }

    /// The first difference of a case.
    struct Difference {
        let step: Int
        let call: String
        let expected: String
        let got: String
    }

    init(_ conformanceCase: ConformanceCase, _ keychain: any KeychainUnderTest, _ fixtures: Fixtures) {
        self.keychain = keychain
        reader = ValueReader(fixtures: fixtures)
        context = conformanceCase.context
    }

    /// nil: every call did what it must.
    mutating func run(_ steps: [ConformanceCase.Step]) -> Difference? {
        for (index, step) in steps.enumerated() {
            do {
                if let found = try run(step, number: index + 1) { return found }
            } catch {
                return Difference(
                    step: index + 1, call: step.call, expected: "a step that can be made", got: "\(error)")
            }
        }
        return nil
    }

    private mutating func run(_ step: ConformanceCase.Step, number: Int) throws -> Difference? {
        try step.checkFields()
        let answer = try answer(to: step)
        guard step.expected.permits(answer.status) else {
            let reason = answer.status == errSecSuccess ? "" : " (\(Self.text(answer.status)))"
            return Difference(
                step: number, call: step.call, expected: "\(step.expected)", got: "status \(answer.status)\(reason)")
        }
        if let name = step.save { reader.saved.keep(answer.object, as: name) }
        // What came back beside one of several statuses is bound only if it is success.
        if case .anyOf = step.expected, answer.status != errSecSuccess, step.result?["none"] == nil { return nil }
        guard let wanted = step.result else { return nil }
        let matcher = Matcher(reader: reader, now: keychain.now)
        return try matcher.difference(wanted, answer.object).map {
            Difference(step: number, call: step.call, expected: "\(wanted)", got: $0)
        }
    }

    private static func text(_ status: OSStatus) -> String {
        SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "unknown"
    }

    private mutating func answer(to step: ConformanceCase.Step) throws -> Answer {
        if let change = DeviceChange(call: step.call, step.fields) {
            try keychain.change(change)
            return .success
        }
        return switch step.call {
        case "add", "copy", "update", "delete":
            try keychain.calling { try ItemCall(step, reader).perform() }
        case "setContext": try become(step)
        case "accessControlCreate": try makeAccessControl(step)
        case "randomCopyBytes": try randomBytes(step)
        case "deleteAllWithAccessGroups": try purge(step)
        case "corruptItem", "corruptMetadataClassKey", "corruptDatabase", "restartDaemon": try hook(step)
        default: throw CorpusError("unknown call \(step.call)")
        }
    }

    private mutating func become(_ step: ConformanceCase.Step) throws -> Answer {
        guard let members = step["context"], members.object != nil else {
            throw CorpusError("setContext without context")
        }
        context = context.replacing(with: CaseContext(members))
        try keychain.become(context)
        return .success
    }

    private func purge(_ step: ConformanceCase.Step) throws -> Answer {
        try keychain.become(context.granting("com.apple.private.uninstall.deletion"))
        let answer = try keychain.calling { try GroupPurge(step).perform() }
        try keychain.become(context)
        return answer
    }

    private func makeAccessControl(_ step: ConformanceCase.Step) throws -> Answer {
        let (object, status) = try reader.makeAccessControl(.object(step.fields))
        return Answer(status: status, object: object)
    }

    private func randomBytes(_ step: ConformanceCase.Step) throws -> Answer {
        guard let count = step["count"]?.integer, count >= 0 else { throw CorpusError("randomCopyBytes without count") }
        // One byte at least, so that there is a place to point to.
        let place = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(max(count, 1)), alignment: 1)
        defer { unsafe place.deallocate() }
        guard let start = place.baseAddress else { throw CorpusError("no memory") }
        let status = unsafe SecRandomCopyBytes(kSecRandomDefault, Int(count), start)
        return Answer(status: status, object: unsafe NSData(bytes: start, length: Int(count)))
    }

    private func hook(_ step: ConformanceCase.Step) throws -> Answer {
        switch step.call {
        case "corruptItem":
            try keychain.corrupt(try keychain.calling { try RowSearch(step["match"], reader).references() })
        case "corruptMetadataClassKey":
            guard let name = step["accessible"]?.string else { throw CorpusError("corruptMetadataClassKey: no class") }
            try keychain.corruptMetadataKey(of: KeyName.text(name) ?? name)
        case "corruptDatabase": try keychain.corruptDatabase()
        default: keychain.restart()
        }
        return .success
    }
}
