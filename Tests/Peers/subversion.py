"""svn keeps a server's password (its store "gnome-keyring", which is libsecret), with a
svnserve on loopback. Debian: subversion."""

import socket
import time

from session import Session

CONF = "[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nrealm = peers\n"


def run(session: Session) -> None:
    repository = session.work / "repository"
    session.build("svnadmin", "create", repository)
    (repository / "conf/svnserve.conf").write_text(CONF)
    (repository / "conf/passwd").write_text("[users]\nalice = geheim ä\nbob = von bob\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    session.start(["svnserve", "-d", "--foreground", "--listen-host=127.0.0.1", f"--listen-port={port}", "-r", str(repository)])
    time.sleep(0.5)
    url = f"svn://127.0.0.1:{port}/"

    def svn(*words: str, **more):
        return session.run("svn", *words, "--non-interactive", "--config-option=config:auth:password-stores=gnome-keyring",
                           "--config-option=servers:global:store-passwords=yes", **more)

    session.claim("without a password nobody comes in", svn("ls", url).returncode, 1)
    done = svn("ls", url, "--username=alice", "--password=geheim ä")
    session.claim("with one alice does", (done.returncode, done.stderr), (0, ""))
    done = svn("ls", url)
    session.claim("and the next time without it", (done.returncode, done.stderr), (0, ""))
    said = session.run("secret-tool", "search", "--all", "domain", f"<svn://127.0.0.1:{port}> peers")
    session.claim("it is in the keychain", "secret = geheim ä" in said.stdout, True)
    session.claim("and in no file", [p for p in session.home.rglob("*") if p.is_file() and b"geheim" in p.read_bytes()], [])
    done = svn("ls", url, "--username=bob", "--password=von bob")
    session.claim("another user's is kept beside it", (done.returncode, svn("ls", url, "--username=bob").returncode,
                                                        svn("ls", url, "--username=alice").returncode), (0, 0, 0))
    session.lock()
    done = svn("ls", url, "--username=alice")
    session.claim("of a locked keychain it gets none, and ends", done.returncode, 1)
    session.unlock()
    session.claim("once it is open it does", svn("ls", url, "--username=alice").returncode, 0)
    done = session.run("svn", "auth", "--show-passwords", "--config-option=config:auth:password-stores=gnome-keyring")
    session.claim("svn auth lists it", "Username: alice" in done.stdout, True)
    done = session.run("svn", "auth", "--remove", "alice")
    session.claim("svn auth --remove ends well", done.returncode, 0)
