"""Our own helper for docker, by the claims that are made of Debian's, and by docker itself."""

from docker_credential_secretservice import Helper, claims, locked
from session import BUILT, Session


def run(session: Session) -> None:
    # It knows no other keychain.
    if session.ours:
        helper = Helper(session, BUILT / "docker-credential-latchkey")
        claims(helper)
        locked(helper, "the keychain is locked; `latchkey unlock` opens it.", {3})
