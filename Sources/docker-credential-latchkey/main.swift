internal import CredentialHelpers

let helper = HelperProgram.system("docker-credential-latchkey")
helper.exit(DockerCredentialProgram(helper).run)
