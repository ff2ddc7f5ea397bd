internal import ArgumentParser
internal import CredentialHelpers
internal import KeychainModel
internal import KeychainPlatform

struct CredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Write a secret in the form in which another program asks for it.",
        discussion: """
            A HELPER GIVES ITS SECRET TO WHOEVER RUNS IT, as `latchkey get` does.

            For git there is git-credential-latchkey, for docker docker-credential-latchkey.
            """,
        subcommands: [AWSCommand.self, KubernetesCommand.self])
}

/// What both forms have.
struct CredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When it ends, as 2030-01-31T00:00:00Z; without it, it is asked for each time.", valueName: "time"))
    var expiration: String?

    @OptionGroup var place: GroupOption

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if let expiration, Timestamp(text: expiration) == nil {
            throw ValidationError("--expiration is a time in UTC, as 2030-01-31T00:00:00Z.")
        }
    }

    func keychain(_ surroundings: Surroundings) throws(CommandFailure) -> CommandKeychain {
        try surroundings.requireKeychain(store.dataDirectory)
        return try CommandKeychain.open(store, reach: place.reach, in: surroundings)
    }

    static func write(_ object: SecretObject?, _ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard let object else {
            throw CommandFailure(
                .usage, "a secret is no text in UTF-8, which JSON cannot have", "Name another item.")
        }
        try printing { () throws(SystemCallError) in try surroundings.console.write(object.line) }
        return .done
    }
}

struct AWSCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "aws",
        abstract: "For credential_process of the AWS command line and SDKs.",
        discussion: """
            The item's account is the access key's id and its secret the secret key.

            \(ReferenceHelp.text)

            EXAMPLES
              latchkey set aws AKIAIOSFODNN7EXAMPLE       # asks for the secret key
              latchkey credential aws aws/AKIAIOSFODNN7EXAMPLE

            In ~/.aws/config:
              [default]
              credential_process = latchkey credential aws aws/AKIAIOSFODNN7EXAMPLE

            \(GroupOption.help)

            It writes {"Version": 1, "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"}; the last two \
            where they are named.
            """)

    @Argument(help: "SERVICE/KEY-ID")
    var reference: String

    @Option(
        name: .customLong("session-token"),
        help: ArgumentHelp("The item with the session's token.", valueName: "reference"))
    var sessionToken: String?

    @OptionGroup var options: CredentialOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reference = try SecretReference.read(reference)
        let token =
            if let sessionToken { Optional(try SecretReference.read(sessionToken)) } else { SecretReference?.none }
        let keychain = try options.keychain(surroundings)
        let item = try keychain.findOne(
            reference.name, advice: "Name the key's id: SERVICE/KEY-ID", choosing: .reference)
        guard !item.account.isEmpty else {
            throw CommandFailure(
                .usage, "the item has no account, which is the key's id", "Store it as: latchkey set SERVICE KEY-ID")
        }
        let credential = AWSCredential(
            keyID: item.account, secretKey: try keychain.value(of: item),
            sessionToken: try token?.secret(in: keychain, surroundings), expiration: options.expiration)
        return try CredentialOptions.write(credential.object, surroundings)
    }
}

struct KubernetesCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "kubernetes",
        abstract: "For exec plugins of kubectl and other Kubernetes clients.",
        discussion: """
            Writes a token or, with --certificate and --key, a certificate and its key in PEM.

            \(ReferenceHelp.text)

            EXAMPLES
              latchkey set cluster admin                  # asks for the token
              kubectl config set-credentials admin --exec-command=latchkey \\
                --exec-api-version=client.authentication.k8s.io/v1 \\
                --exec-interactive-mode=Never \\
                --exec-arg=credential --exec-arg=kubernetes --exec-arg=cluster/admin

            \(GroupOption.help)

            It writes an ExecCredential of client.authentication.k8s.io/v1, or of v1beta1 where KUBERNETES_EXEC_INFO \
            asks for that.
            """)

    @Argument(help: "SERVICE/ACCOUNT of the token")
    var reference: String?

    @Option(help: ArgumentHelp("The item with the certificate.", valueName: "reference"))
    var certificate: String?

    @Option(help: ArgumentHelp("The item with its key.", valueName: "reference"))
    var key: String?

    @OptionGroup var options: CredentialOptions

    mutating func validate() throws {
        guard reference != nil, certificate == nil, key == nil else {
            if reference == nil, certificate != nil, key != nil { return }
            throw ValidationError("Name the token, or --certificate and --key.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let wanted = try [reference, certificate, key].compactMap { $0 }.map { text throws(CommandFailure) in
            try SecretReference.read(text)
        }
        let keychain = try options.keychain(surroundings)
        let secrets = try wanted.map { reference throws(CommandFailure) in
            try reference.secret(in: keychain, surroundings)
        }
        let proof: KubernetesCredential.Proof =
            secrets.count == 1 ? .token(secrets[0]) : .certificate(secrets[0], key: secrets[1])
        let request = ProcessEnvironment.variable(KubernetesCredential.variable)
        guard let credential = KubernetesCredential(proof, expiration: options.expiration, for: request) else {
            throw CommandFailure(
                .usage, "\(KubernetesCredential.variable) asks for a version that there is not here",
                "Name client.authentication.k8s.io/v1 as its apiVersion.")
        }
        return try CredentialOptions.write(credential.object, surroundings)
    }
}
