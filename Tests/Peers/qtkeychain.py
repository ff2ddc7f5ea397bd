"""qtkeychain, which Qt programs use (qtkeychain.cpp): libsecret by its asynchronous calls."""

from session import ROOT, Session

# qtkeychain, keychain.h
NOTHING, FOUND_NOTHING = 0, 1


def run(session: Session) -> None:
    program = session.work / "qtkeychain"
    flags = session.run("pkg-config", "--cflags", "--libs", "Qt5Core").stdout.split()
    session.build("g++", "-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-o", program,
                  ROOT / "Tests/Peers/qtkeychain.cpp", *flags, "-lqt5keychain")

    def job(verb: str, key: str, typed: str = "") -> tuple[int, str]:
        # By the desktop's name it chooses libsecret; elsewhere it may ask KWallet.
        done = session.run(program, verb, "Cloud", key, typed=typed, XDG_CURRENT_DESKTOP="GNOME")
        return done.returncode, done.stdout

    session.claim("nothing is found in an empty keychain", job("read", "alice"), (FOUND_NOTHING, ""))
    session.claim("a password is written", job("write", "alice", "geheim é 密"), (NOTHING, ""))
    session.claim("and read", job("read", "alice"), (NOTHING, "geheim é 密"))
    job("write", "alice", "another")
    session.claim("a second one replaces it", (job("read", "alice"), len(session.items())), ((NOTHING, "another"), 1))
    job("write-bytes", "token", "bytes \x01\x02")
    session.claim("bytes stay", job("read-bytes", "token"), (NOTHING, "bytes \x01\x02"))
    session.claim("keys are told apart", job("read", "alice"), (NOTHING, "another"))
    session.claim("what is deleted is gone", (job("delete", "token"), job("read-bytes", "token")),
                  ((NOTHING, ""), (FOUND_NOTHING, "")))
    session.lock()
    status, said = job("read", "alice")
    session.claim("of a locked keychain nothing is read, at once", (status not in (NOTHING, 124), said), (True, ""))
    status, _ = job("write", "bob", "new")
    session.claim("and nothing written", status not in (NOTHING, 124))
    session.unlock()
    session.claim("once it is open everything is there", job("read", "alice"), (NOTHING, "another"))
    session.claim("and nothing that was refused", job("read", "bob"), (FOUND_NOTHING, ""))
