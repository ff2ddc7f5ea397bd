"""git's own helper for libsecret, built from what Debian's git brings along, called by git
itself: `git credential`, and clones over HTTP with a password.
"""

import shutil
import sys

from session import ROOT, Session

sys.path.insert(0, str(ROOT / "scripts/pages"))

from git_server import USER, PlainGitServer  # noqa: E402

SOURCES = "/usr/share/doc/git/contrib/credential/libsecret"
HOST = "git.example.org"


class Git:
    """git in a session, with the helper and nobody to ask."""

    def __init__(self, session: Session):
        self.session = session
        shutil.copytree(SOURCES, session.work / "libsecret")
        session.build("make", "-s", "-C", "libsecret")
        helper = session.work / "libsecret/git-credential-libsecret"
        session.build("git", "config", "--global", "credential.helper", helper)

    def __call__(self, *arguments, typed="", **changes):
        return self.session.run("git", *arguments, typed=typed, GIT_TERMINAL_PROMPT="0", **changes)

    def credential(self, verb: str, **fields) -> dict[str, str]:
        """What git makes of these fields; empty where it has nothing."""
        typed = "".join(f"{name}={value}\n" for name, value in fields.items()) + "\n"
        done = self("credential", verb, typed=typed)
        if done.returncode == 124:
            return {"hangs": verb}
        return dict(line.split("=", 1) for line in done.stdout.splitlines())

    def password(self, **fields) -> str | None:
        return self.credential("fill", **{"protocol": "https", "host": HOST, **fields}).get("password")

    def approve(self, password: str, **fields) -> None:
        self.credential("approve", **{"protocol": "https", "host": HOST, "username": USER, **fields}, password=password)


def run(session: Session) -> None:
    git = Git(session)
    passwords(session, git)
    places(session, git)
    if session.ours:
        command_line(session, git)
    clones(session, git)
    locked(session, git)


def passwords(session: Session, git: Git) -> None:
    session.claim("nothing is found in an empty keychain", git.password(), None)
    git.approve("first")
    session.claim("what was approved is filled in", git.password(), "first")
    session.claim("with its user", git.credential("fill", protocol="https", host=HOST).get("username"), USER)
    session.same_in_latchkey("latchkey get has it too", "first", "--internet", HOST, USER)
    git.approve("zweites é 密")
    session.claim("a second approval replaces it", git.password(), "zweites é 密")
    session.claim("and leaves one item", len(session.items()), 1)
    session.claim("of another user nothing is filled in", git.password(username="bob"), None)
    git.approve("bob's", username="bob")
    session.claim("users are told apart", (git.password(username=USER), git.password(username="bob")),
                  ("zweites é 密", "bob's"))
    git.credential("reject", protocol="https", host=HOST, username="bob", password="bob's")
    session.claim("what was rejected is gone", git.password(username="bob"), None)
    session.claim("and nothing else", git.password(), "zweites é 密")


def places(session: Session, git: Git) -> None:
    """Ports, protocols and paths are told apart. What names none finds any of them."""
    ports = {port: f"ports.example.org:{port}" for port in (8443, 9443)}
    for port, host in ports.items():
        git.approve(f"at {port}", host=host)
    session.claim("ports are told apart", [git.password(host=host) for host in ports.values()], ["at 8443", "at 9443"])
    session.claim("nothing is at a third", git.password(host="ports.example.org:7443"), None)
    git.approve("in the clear", protocol="http")
    session.claim("protocols are told apart", (git.password(protocol="http"), git.password()),
                  ("in the clear", "zweites é 密"))
    git("config", "--global", "credential.useHttpPath", "true")
    host = "paths.example.org"
    for path in ("one.git", "two.git"):
        git.approve(f"of {path}", host=host, path=path)
    session.claim("paths are told apart", [git.password(host=host, path=path) for path in ("one.git", "two.git")],
                  ["of one.git", "of two.git"])
    session.claim("none is another's", git.password(host=host, path="three.git"), None)
    git("config", "--global", "--unset", "credential.useHttpPath")
    item = session.call("Secret.Service").SearchItems({"object": "one.git"})[0][0]
    session.claim("it is labelled as git labels it", str(session.read(item, "Item", "Label")),
                  f"Git: https://{host}/one.git")
    held = {str(name): str(value) for name, value in session.read(item, "Item", "Attributes").items()}
    session.claim("and has the attributes that git gave it", held, {
        "xdg:schema": "org.gnome.keyring.NetworkPassword", "user": USER, "protocol": "https", "server": host,
        "object": "one.git"})


def command_line(session: Session, git: Git) -> None:
    session.latchkey("set", "--internet", "code.example.net", "carol", typed="by hand")
    filled = git.credential("fill", protocol="https", host="code.example.net")
    session.claim("what latchkey set stored is filled in", (filled.get("username"), filled.get("password")),
                  ("carol", "by hand"))
    git.credential("approve", protocol="https", host="code.example.net", username="carol", password="by git")
    session.same_in_latchkey("and git replaces it in its place", "by git", "code.example.net", "carol")
    git.credential("reject", protocol="https", host="code.example.net", username="carol", password="by git")
    gone = session.run(ROOT / ".build/debug/latchkey", "get", "code.example.net", "carol")
    session.claim("and takes it away", gone.returncode, 1)


def clones(session: Session, git: Git) -> None:
    server = PlainGitServer(session.work / "server", "clone me")
    url = f"http://127.0.0.1:{server.port}/project.git"
    session.claim("without a password a clone fails", git("clone", url, "none").returncode, 128)
    ask = session.work / "ask"
    ask.write_text('#!/bin/sh\ncase $1 in User*) echo alice ;; *) echo "clone me" ;; esac\n')
    ask.chmod(0o700)
    session.claim("git asks once", git("clone", url, "asked", GIT_ASKPASS=str(ask)).returncode, 0)
    session.claim("and then no more", git("clone", url, "unasked").returncode, 0)
    session.same_in_latchkey("latchkey has what was typed", "clone me", "--internet", "127.0.0.1", USER)
    push = ["-C", "unasked", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    session.claim("a fetch asks neither", git(*push, "fetch", "--all").returncode, 0)
    server.password = "changed"
    session.claim("a password that is not taken any more fails", git("clone", url, "stale").returncode, 128)
    found = git.password(protocol="http", host=f"127.0.0.1:{server.port}")
    session.claim("and git has it forgotten", found, None)


def locked(session: Session, git: Git) -> None:
    session.lock()
    session.claim("of a locked keychain nothing is filled in, at once", git.credential(
        "fill", protocol="https", host=HOST), {})
    session.unlock()
    session.claim("once it is open everything is there", git.password(username=USER), "zweites é 密")
