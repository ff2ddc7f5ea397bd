package import KeychainPlatform

/// Something that shows a form to a person and takes what is typed into it.
package protocol PersonScreen: AnyObject {
    /// What it is called where it fails.
    var name: String { get }
    /// What it can show.
    var repertoire: ForeignText.Repertoire { get }
    /// Of a line.
    var width: LineWidth { get }

    /// Shows the form and waits for what is typed.
    func ask(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) -> SecretBytes

    /// Shows words and waits until they were read.
    func tell(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure)

    /// Whether what is told stays until somebody has read it.
    var waitsForReader: Bool { get }

    /// Takes away what is shown; nothing is left running.
    func close()
}

extension PersonScreen {
    package var waitsForReader: Bool { true }
}

/// Why nothing was typed.
package enum PromptFailure: Error, Hashable, Sendable {
    /// A person said no.
    case canceled
    case timedOut
    /// Whoever asked has ended, or we were told to.
    case calledOff
    /// More was typed than any passcode has.
    case tooLong
    /// It cannot show anything here; another way may.
    case unable(why: String)
    /// It is no program that can be spoken with.
    case broken(AssuanFault)
}

extension AssuanFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lineTooLong, .tooManyLines: "it says too much"
        case .unknownLine, .badEscape, .badCode: "it does not speak Assuan"
        case .ended: "it ended without an answer"
        case .deaf: "it does not listen"
        }
    }
}
