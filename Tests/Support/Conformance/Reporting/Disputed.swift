/// What the corpus may ask for and the project decided otherwise, with the page
/// that decides; each is a row of COMPATIBILITY.md. Such a case runs, and its
/// difference is shown, but does not fail the run; one that passes does, so that
/// the table stays true.
package struct Disputed: Sendable {
    package let reason: String
    private let applies: @Sendable (ConformanceCase.Step) -> Bool

    package static let table: [Disputed] = [
        Disputed(reason: "SecItemDelete takes kSecMatchLimit All and One: source-compat.md, section 2") { step in
            let limits: [JSONValue] = ["kSecMatchLimitAll", "kSecMatchLimitOne"].map { .object(["const": .string($0)]) }
            return step.call == "delete" && step.expected == .exactly(-50)
                && limits.contains(step["query"]?["kSecMatchLimit"] ?? .null)
        },
        Disputed(reason: "an add that would store nothing is refused: decisions.md, \"Who sees what\"") { step in
            let query = step["query"]
            return step.call == "add" && step.expected == .exactly(0)
                && (query?["kSecMatchLimit"] ?? query?["kSecUseItemList"]) != nil
        },
    ]

    /// Why a difference in this case would not count; nil: it would.
    package static func reason(for conformanceCase: ConformanceCase) -> String? {
        table.first { entry in conformanceCase.steps.contains { entry.applies($0) } }?.reason
    }
}
