internal import CredentialHelpers
internal import KeychainPlatform

let program = DockerCredentialProgram(.system("docker-credential-latchkey"))
ProcessEnvironment.exit(program.run(Array(CommandLine.arguments.dropFirst())))
