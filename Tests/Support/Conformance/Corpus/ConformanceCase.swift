/// One line of a corpus: calls, and what must come back, from an empty keychain.
package struct ConformanceCase: Sendable {
    package let id: String
    package let topic: String
    package let context: CaseContext
    package let steps: [Step]

    /// One call.
    package struct Step: Sendable {
        package let call: String
        package let expected: ExpectedStatus
        /// The matcher; nil: whatever came back is right.
        package let result: JSONValue?
        package let save: String?
        /// Everything that stands in the step.
        package let fields: [String: JSONValue]

        package subscript(name: String) -> JSONValue? { fields[name] }
    }
}

/// What a call must answer.
package enum ExpectedStatus: Sendable, Hashable, CustomStringConvertible {
    case exactly(Int64)
    case anyOf([Int64])

    package func permits(_ status: Int32) -> Bool {
        switch self {
        case .exactly(let wanted): wanted == Int64(status)
        case .anyOf(let wanted): wanted.contains(Int64(status))
        }
    }

    package var description: String {
        switch self {
        case .exactly(let wanted): "status \(wanted)"
        case .anyOf(let wanted): "status " + wanted.map { "\($0)" }.joined(separator: " or ")
        }
    }
}

/// A case or a value in one that cannot be understood; the case fails.
package struct CorpusError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension ConformanceCase {
    package init(_ json: JSONValue) throws {
        guard let id = json["id"]?.string else { throw CorpusError("a case without id: \(json)") }
        guard let topic = json["topic"]?.string, let steps = json["steps"]?.array else {
            throw CorpusError("\(id): topic or steps missing")
        }
        self.id = id
        self.topic = topic
        context = CaseContext(json["context"] ?? .object([:]))
        self.steps = try steps.map { try Step($0) }
    }
}

extension ConformanceCase.Step {
    init(_ json: JSONValue) throws {
        guard let fields = json.object, let call = json["call"]?.string else {
            throw CorpusError("a step without call: \(json)")
        }
        self.call = call
        self.fields = fields
        expected = try ExpectedStatus(fields["status"] ?? .integer(0))
        result = fields["result"]
        save = fields["save"]?.string
    }
}

extension ConformanceCase.Step {
    /// What the schema lists, and remarks.
    private static let knownFields: Set<String> = [
        "call", "status", "result", "save", "query", "attrs", "merge", "resultPointer", "state", "context", "result_",
        "match", "accessible", "key", "cert", "identity", "peer", "algorithm", "operation", "data", "signature",
        "protection", "flags", "rawFlags", "constraints", "file", "fileData", "options", "backup", "password", "count",
        "groups", "args", "exit", "stdout", "stderr", "note", "comment", "source",
    ]

    /// A field that is not looked at might have been a check.
    func checkFields() throws {
        let unknown = Set(fields.keys).subtracting(Self.knownFields)
        guard unknown.isEmpty else { throw CorpusError("unknown field \(unknown.sorted().joined(separator: ", "))") }
    }
}

extension ExpectedStatus {
    init(_ json: JSONValue) throws {
        if let number = json.integer { self = .exactly(number); return }
        let numbers = json["anyOf"]?.array?.compactMap(\.integer) ?? []
        guard let count = json["anyOf"]?.array?.count, count > 0, numbers.count == count else {
            throw CorpusError("a status of unknown form: \(json)")
        }
        self = .anyOf(numbers)
    }
}
