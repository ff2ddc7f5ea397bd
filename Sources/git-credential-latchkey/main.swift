internal import CredentialHelpers

let helper = HelperProgram.system("git-credential-latchkey")
helper.exit(GitCredentialProgram(helper).run)
