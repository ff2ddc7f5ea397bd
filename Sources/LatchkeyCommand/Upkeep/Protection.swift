internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What protects the secrets now: the weakest link, in plain words
/// (architecture section 2: said by `status`, the first `set` and the README).
struct Protection: Sendable {
    private let status: KeychainStatus
    private let session: SessionInformation

    init(_ status: KeychainStatus, _ session: SessionInformation) {
        self.status = status
        self.session = session
    }

    var sentence: String {
        session.isTemporary ? Self.temporary : "\(atRest) \(now)\(besides)"
    }

    /// What a restore set aside, or left where it was broken off and nobody could remove it
    /// (FORMATS.md, "Backup"), opens by what it had.
    private var besides: String {
        let former = FolderContent.names(at: status.dataDirectory).filter {
            $0.hasPrefix("replaced-") || $0 == "restore.new"
        }
        guard let first = former.sorted().first else { return "" }
        let more = former.count > 1 ? ", and \(former.count - 1) more" : ""
        return " A keychain that `latchkey restore` left lies in it as well, as it was protected then: "
            + "remove \(PrintableText.escaped(first))\(more) when you need it no more."
    }

    private var isLocked: Bool { status.hasPasscode && !status.openClasses.contains(.whenUnlocked) }

    private static let temporary =
        "This keychain is temporary: it is encrypted only with a key that lies beside it, and `latchkey temp` "
        + "destroys both when its command ends."

    /// While it is open nothing stands between the user's own programs.
    private var now: String {
        let programs = "any program that runs as you can read what this command stores"
        guard status.hasPasscode else { return "While it is open, \(programs)." }
        if status.slots.contains("tpm2"), status.startRefusal == nil {
            return "It unlocks by itself, by this machine's TPM, when its programs start: \(programs)."
        }
        return isLocked
            ? "It is locked now; once it is unlocked, \(programs)."
            : "It is unlocked now, until `latchkey lock` or a restart: \(programs)."
    }

    private var opensByLogin: Bool { status.slots.contains("login") }

    /// What opens the slots.
    private var credentials: String {
        var ways = ["your passcode"]
        if status.slots.contains("recovery") { ways.append("your recovery code") }
        if opensByLogin { ways.append("your login password") }
        if status.slots.contains("tpm2") { ways.append("this machine's TPM") }
        if status.slots.contains("credential") { ways.append("a credential that was handed out") }
        return ways.count == 1 ? ways[0] : ways.dropLast().joined(separator: ", ") + " or " + ways[ways.count - 1]
    }

    private var weakest: String { opensByLogin ? "the weaker of passcode and login password" : "the passcode" }

    /// Strength of the whole is the weakest protector and slot.
    private var atRest: String {
        let softwareOnly = status.protectors.contains("software-file") || status.protectors.isEmpty
        switch (softwareOnly, status.hasPasscode) {
        case (true, false):
            return "The secrets are encrypted, but their key lies in a file beside them and there is no passcode: "
                + "whoever gets a copy of \(folder) can open it; only file permissions keep others out."
        case (true, true):
            return "A copy of \(folder) opens only with \(credentials), and is as strong as \(weakest) "
                + "(items stored as always accessible open without)."
        case (false, false) where hasSecurityKey:
            return "The key is bound to \(hardware): a copy of \(folder) opens nowhere without, "
                + "but there is no passcode, so whoever has both opens it."
        case (false, true) where hasSecurityKey:
            return "A copy of \(folder) opens only with \(hardware), and with \(credentials)."
        case (false, false):
            return "The key is bound to this machine's hardware: a copy of \(folder) opens nowhere else, "
                + "but there is no passcode, so on this machine it opens by itself."
        case (false, true):
            return "A copy of \(folder) opens only on this machine and with \(credentials)."
        }
    }

    private var hasSecurityKey: Bool { status.protectors.contains("fido2") }

    private var hardware: String {
        status.protectors.contains("tpm2") ? "this machine's hardware or a security key" : "a security key"
    }

    private var folder: String { PrintableText.escaped(status.dataDirectory) }
}
