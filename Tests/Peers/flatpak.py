"""Flatpak itself: applications on a runtime that is made here of a few of the system's own
files, installed for the person alone. What the portal and libsecret in the sandbox do then goes
through the real xdg-dbus-proxy.

Debian: flatpak, xdg-desktop-portal, pinentry-tty, libsecret-1-dev (with GLib's).
"""

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import portal
from session import BUILT, NAME, ROOT, Session

NEEDED = ["flatpak", "xdg-dbus-proxy", "bwrap", "secret-tool", "gcc", portal.PORTAL]
ONE, TWO = "org.example.One", "org.example.Two"
# Whom the bus and so the service sees; it has one for each sandbox.
PROXY = "/usr/bin/xdg-dbus-proxy"
# With these its programs see where the socket is, and that there is a keychain.
FOLDERS = ("--filesystem=xdg-run/latchkey", "--filesystem=xdg-data/latchkey:ro")
PROGRAMS = [Path("/usr/bin/secret-tool"), Path("/usr/bin/timeout")]
PERMISSION = "--talk-name=org.freedesktop.secrets"


def missing() -> str | None:
    """Why this cannot be tried here."""
    gone = [program for program in NEEDED if not shutil.which(program)]
    return f"{', '.join(gone)} not installed" if gone else None


def with_libraries(session: Session, files: Path, *programs: Path) -> None:
    """Programs in the runtime's bin, and what the system's loader loads for them where it would look for it."""
    for program in programs:
        shutil.copy(program, files / "bin")
        for word in session.run("ldd", program).stdout.split():
            if word.startswith("/"):
                # /usr/lib and /lib are one folder, there as here. Swift's lie where no loader looks by itself.
                place = word.removeprefix("/usr")
                if not place.startswith("/lib"):
                    place = f"/lib/{sysconfig.get_config_var('MULTIARCH')}/{Path(word).name}"
                (files / place[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, files / place[1:])


def install(session: Session) -> None:
    """Both applications, from a repository of their own."""
    # Not what is installed on this machine for everybody, but a folder that has nothing.
    everybodys = str(session.work / "everybody's")
    session.build("env", f"FLATPAK_USER_DIR={everybodys}", "flatpak", "--user", "remotes")
    session.environment["FLATPAK_SYSTEM_DIR"] = everybodys
    # Of whoever is not root Flatpak asks there what children may install.
    session.start_system_bus()
    client = session.work / "client"
    flags = session.run("pkg-config", "--cflags", "--libs", "gio-unix-2.0").stdout.split()
    session.build("gcc", "-O", "-o", client, ROOT / "Tests/Peers/flatpak.c", *flags)
    architecture = session.run("flatpak", "--default-arch").stdout.strip()
    platform = f"org.example.Platform/{architecture}/1"
    runtime, repository = session.work / "runtime", session.work / "repository"
    for name in ("usr/bin", "usr/etc", "files"):
        (runtime / name).mkdir(parents=True)
    (runtime / "metadata").write_text(f"[Runtime]\nname=org.example.Platform\nruntime={platform}\nsdk={platform}\n")
    # Flatpak has ldconfig make the sandbox's list of libraries.
    (runtime / "usr/sbin").mkdir()
    shutil.copy("/sbin/ldconfig", runtime / "usr/sbin")
    with_libraries(session, runtime / "usr", client, *PROGRAMS, *([BUILT / "latchkey"] if session.ours else []))
    session.build("flatpak", "build-export", repository, runtime, "1")
    for name in (ONE, TWO):
        application = session.work / name
        for part in ("files", "export"):
            (application / part).mkdir(parents=True)
        (application / "metadata").write_text(
            f"[Application]\nname={name}\nruntime={platform}\nsdk={platform}\ncommand=client\n")
        session.build("flatpak", "build-export", repository, application, "1")
    session.build("flatpak", "--user", "remote-add", "--no-gpg-verify", "here", repository)
    session.build("flatpak", "--user", "install", "-y", "--noninteractive", "here", ONE, TWO)


def within(session: Session, application: str, *command: str, options: tuple[str, ...] = (), typed: str = "",
           patience: int = 30):
    """A program in the sandbox; status 124 where it takes longer."""
    command = (f"{patience}", *command)
    return session.run("flatpak", "run", *options, "--command=timeout", application, *command, typed=typed)


def reach(session: Session, *options: str) -> str:
    return within(session, ONE, "client", "reach", options=options).stdout.strip()


def run(session: Session) -> None:
    install(session)
    by_the_bus(session)
    if session.ours:
        at_the_socket(session)
    asks = portal.start(session)
    first = by_the_portal(session)
    # From here on the log wants a person.
    session.lock()
    locked_by_the_portal(session)
    session.end(asks)
    locked_by_the_bus(session)
    if session.ours:
        at_its_terminal(session)
    else:
        session.unlock()
    portal.start(session)
    session.claim("once it is open the application gets the same secret", secret(session, ONE), first)
    session.claim("and its file is as before", in_its_file(session, ONE, "lookup", "place", "file"), (0, "filed"))


# Where there is no portal libsecret in the sandbox goes to the service.

def tool(session: Session, *arguments: str, permitted: bool = True, typed: str = "") -> tuple[int, str]:
    options = (PERMISSION,) if permitted else ()
    done = within(session, ONE, "secret-tool", *arguments, options=options, typed=typed)
    return done.returncode, done.stdout


def by_the_bus(session: Session) -> None:
    unknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    session.claim("without the permission the service is not there", reach(session), unknown)
    session.claim("also for secret-tool", tool(session, "lookup", "place", "bus", permitted=False), (1, ""))
    session.claim("with it, it is", reach(session, PERMISSION), "reached")
    done = tool(session, "store", "--label=Mine", "place", "bus", typed="by the bus")
    session.claim("secret-tool stores by the proxy", done, (0, ""))
    session.claim("and finds it", tool(session, "lookup", "place", "bus"), (0, "by the bus"))
    outside = session.run("secret-tool", "lookup", "place", "bus")
    session.claim("so does who is in no sandbox", outside.stdout, "by the bus")
    session.run("secret-tool", "store", "--label=Outside", "place", "outside", typed="of the session")
    session.claim("and the application what that one stored", tool(session, "lookup", "place", "outside"),
                  (0, "of the session"))
    if session.ours:
        asked = {line["for"] for line in log(session) if line["event"] == "add"}
        session.claim("the log has the proxy, which is who asked", asked, {PROXY, "/usr/bin/secret-tool"})
        kept(session)


def locked_by_the_bus(session: Session) -> None:
    session.claim("locked, an application finds none by the bus, at once", tool(session, "lookup", "place", "bus"),
                  (1, ""))
    session.claim("and stores none there", tool(session, "store", "--label=New", "place", "new", typed="new")[0], 1)
    if session.ours:
        said = within(session, ONE, "secret-tool", "lookup", "place", "bus", options=(PERMISSION,)).stderr
        session.claim("and is told what helps", "latchkey unlock" in said)


def at_its_terminal(session: Session) -> None:
    """Whoever runs it at a terminal is asked there."""
    said = session.at_a_terminal("flatpak", "run", PERMISSION, "--command=secret-tool", ONE, "lookup", "place", "bus")
    session.claim("at its terminal a person is told who asks", PROXY in said)
    session.claim("and opens it there", "by the bus" in said.partition("Passcode: ")[2])


def log(session: Session) -> list[dict]:
    return [json.loads(line) for line in session.latchkey("log", "--json").splitlines() if line]


def kept(session: Session) -> None:
    """By the policy file a Flatpak is its proxy (docs/secret-service-policy.md)."""
    policy = Path(session.environment["XDG_CONFIG_HOME"]) / "latchkey/secret-service.policy"
    policy.parent.mkdir(mode=0o700)
    policy.write_text("schema org.freedesktop.Secret.Generic /usr/bin/secret-tool\n")
    session.claim("what is kept for another it does not find", tool(session, "lookup", "place", "bus"), (1, ""))
    policy.write_text(f"schema org.freedesktop.Secret.Generic {PROXY}\n")
    session.claim("what is kept for the proxy it does", tool(session, "lookup", "place", "bus"), (0, "by the bus"))
    policy.unlink()


# A program in the sandbox that knows the daemon itself.

def at_the_socket(session: Session) -> None:
    def latchkey(application: str, *words: str, typed: str = "") -> tuple[int, str]:
        done = within(session, application, "latchkey", *words, "site", "me", options=FOLDERS, typed=typed)
        return done.returncode, done.stdout

    group = ["--group", f"flatpak.{ONE}"]
    without = within(session, ONE, "latchkey", "get", "site", "me")
    session.claim("without the folders there is no keychain", without.returncode, 1)
    session.claim("with them the application stores in its own group", latchkey(ONE, "set", *group, typed="its own"),
                  (0, ""))
    session.claim("and reads there", latchkey(ONE, "get", *group), (0, "its own"))
    session.claim("another may not", latchkey(TWO, "get", *group), (4, ""))
    session.claim("nor store there", latchkey(TWO, "set", *group, typed="another's"), (4, ""))
    session.same_in_latchkey("a person finds it there", "its own", *group, "site", "me")
    told = json.loads(session.latchkey("whocan", *group, "site", "me", "--json"))
    session.claim("whocan has its name", told["readers"][0]["who"], f"the Flatpak {ONE}")
    asked = {(line["program"], line["contained"], line["allowed"]) for line in log(session)
             if line["account"] == "me" and line["contained"]}
    session.claim("the log has both applications' names", asked,
                  {(f"flatpak.{ONE}", True, True), (f"flatpak.{TWO}", True, False)})


# Where there is one libsecret keeps a file, whose key is the portal's secret.

def secret(session: Session, application: str) -> tuple[str, bytes, str]:
    """The portal's code, the secret, and whether more may come; or what the application heard instead."""
    done = within(session, application, "client", "secret")
    words = done.stdout[:-1].split(" ")
    if len(words) != 3:
        return f"status {done.returncode}: {done.stdout[-100:]}{done.stderr[-250:]}", b"", ""
    return words[0], bytes.fromhex(words[1]), words[2]


def in_its_file(session: Session, application: str, *arguments: str, typed: str = "") -> tuple[int, str]:
    """Debian's libsecret 0.20.5 listens for the portal's answer once its call has been answered, and waits forever
    where that came first: about one time in ten, with gnome-keyring as well. It has read and written nothing then.
    """
    for _ in range(20):
        done = within(session, application, "secret-tool", *arguments, typed=typed, patience=5)
        if done.returncode != 124:
            break
    return done.returncode, done.stdout


def by_the_portal(session: Session) -> tuple[str, bytes, str]:
    first = secret(session, ONE)
    session.claim("an application gets a secret", (first[0], len(first[1]), first[2]), ("0", 64, "closed"))
    session.claim("the same each time", secret(session, ONE), first)
    other = secret(session, TWO)
    session.claim("another gets another", (other[0], len(other[1]), other[1] != first[1]), ("0", 64, True))
    done = in_its_file(session, ONE, "store", "--label=Mine", "place", "file", typed="filed")
    session.claim("libsecret stores in a file", done, (0, ""))
    session.claim("which is the application's own", keyring(session, ONE).exists())
    session.claim("and finds it when it is run again", in_its_file(session, ONE, "lookup", "place", "file"),
                  (0, "filed"))
    session.claim("the service has no such item", session.run("secret-tool", "lookup", "place", "file").returncode, 1)
    session.claim("another application finds none", in_its_file(session, TWO, "lookup", "place", "file"), (1, ""))
    keyring(session, TWO).parent.mkdir(exist_ok=True)
    keyring(session, TWO).write_bytes(keyring(session, ONE).read_bytes())
    session.claim("nor in a copy of the file", in_its_file(session, TWO, "lookup", "place", "file"), (1, ""))
    if session.ours:
        names = {line["account"] for line in log(session) if line["event"] == "add" and line["for"] == portal.PORTAL}
        session.claim("the log has each application's name", names, {ONE, TWO})
    begin_again(session)
    session.claim("a service and a daemon that were started again give the same", secret(session, ONE), first)
    session.claim("and what is in the file is found", in_its_file(session, ONE, "lookup", "place", "file"),
                  (0, "filed"))
    return first


def locked_by_the_portal(session: Session) -> None:
    code, none, end = secret(session, ONE)
    session.claim("locked, an application gets no secret", (code in ("1", "2"), none), (True, b""))
    session.claim("and libsecret finds nothing in its file", in_its_file(session, ONE, "lookup", "place", "file"),
                  (1, ""))
    done = in_its_file(session, ONE, "store", "--label=New", "place", "new", typed="new")
    session.claim("and stores nothing", done, (1, ""))
    if session.ours:
        session.claim("the pipe for the secret is closed all the same", end, "closed")


def keyring(session: Session, application: str) -> Path:
    return session.home / f".var/app/{application}/data/keyrings/default.keyring"


def begin_again(session: Session) -> None:
    session.end(session.service)
    session.eventually(lambda: not session.bus.name_has_owner(NAME), "the service keeps its name")
    if session.ours:
        session.run(BUILT / "latchkeyd", "--stop")
    session.start_service()


if __name__ == "__main__":
    sys.exit("run scripts/test-secret-service-peers flatpak")
