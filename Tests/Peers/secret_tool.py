"""secret-tool, where `make test` does not go: search of what is locked, lock, many at once."""

from concurrent.futures import ThreadPoolExecutor

from session import Session


def secret_tool(session: Session, *arguments: str, typed: str | bytes = ""):
    return session.run("secret-tool", *arguments, typed=typed)


def store(session: Session, label: str, secret: str, *attributes: str) -> int:
    return secret_tool(session, "store", f"--label={label}", *attributes, typed=secret).returncode


def lookup(session: Session, *attributes: str) -> str | None:
    done = secret_tool(session, "lookup", *attributes)
    return done.stdout if done.returncode == 0 else None


def run(session: Session) -> None:
    searches(session)
    at_once(session)
    locked(session)


def secrets(session: Session, *arguments: str) -> list[str]:
    said = secret_tool(session, "search", *arguments).stdout
    return sorted(line.split(" = ", 1)[1] for line in said.splitlines() if line.startswith("secret = "))


def searches(session: Session) -> None:
    for user in ("alice", "bob"):
        store(session, f"{user}'s", f"of {user}", "place", "mail", "user", user)
    session.claim("search finds one", len(secrets(session, "place", "mail")), 1)
    session.claim("search --all finds both", secrets(session, "--all", "place", "mail"), ["of alice", "of bob"])
    session.claim("search --all --unlock finds both", secrets(session, "--all", "--unlock", "place", "mail"),
                  ["of alice", "of bob"])
    session.claim("search of nothing ends well", secret_tool(session, "search", "--all", "--unlock", "place", "none").stdout,
                  "")
    # It reads no more than 8 KiB.
    text = "line\n" * 1500
    store(session, "long", text, "place", "long")
    session.claim("1500 lines stay", lookup(session, "place", "long"), text)
    secret_tool(session, "clear", "place", "mail")
    session.claim("clear takes all that match", secrets(session, "--all", "place", "mail"), [])


def at_once(session: Session) -> None:
    """Each program has a connection, a session and a key of its own."""
    with ThreadPoolExecutor(8) as threads:
        stored = list(threads.map(
            lambda number: store(session, "m", f"secret {number}", "place", "many", "number", str(number)), range(32)))
        found = list(threads.map(lambda number: lookup(session, "place", "many", "number", str(number)), range(32)))
    session.claim("32 stores, eight at once, succeed", stored, [0] * 32)
    session.claim("and each is found", found, [f"secret {number}" for number in range(32)])
    secret_tool(session, "clear", "place", "many")


def locked(session: Session) -> None:
    store(session, "Mine", "before", "place", "locked")
    session.lock()
    for option in ((), ("--all",), ("--all", "--unlock")):
        done = secret_tool(session, "search", *option, "place", "locked")
        session.claim(f"search {' '.join(option)} of a locked keychain tells no secret, at once".replace("  ", " "),
                      (done.returncode, "before" in done.stdout + done.stderr), (0, False))
    session.claim("lookup has none", lookup(session, "place", "locked"), None)
    session.claim("store fails", store(session, "New", "new", "place", "new"), 1)
    session.claim("clear takes nothing", secret_tool(session, "clear", "place", "locked").returncode, 1)
    # Debian's secret-tool 0.20.5 frees the path twice once it has its answer, with gnome-keyring as well.
    done = secret_tool(session, "lock", "--collection=login")
    session.claim("lock of what is locked ends", done.returncode == 124, False)
    session.unlock()
    session.claim("once it is open everything is there", lookup(session, "place", "locked"), "before")
    session.claim("and nothing that was refused", lookup(session, "place", "new"), None)
