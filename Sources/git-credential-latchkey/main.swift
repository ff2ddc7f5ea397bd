internal import CredentialHelpers
internal import KeychainPlatform

let program = GitCredentialProgram(.system("git-credential-latchkey"))
ProcessEnvironment.exit(program.run(Array(CommandLine.arguments.dropFirst())))
