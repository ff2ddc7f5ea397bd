"""dbus-broker as the session's bus, in place of dbus-daemon: what clients and the service notice of it.

Debian: systemd, flatpak. dbus-broker is unpacked and not installed: that would make it the bus of this machine and of
all logins. It speaks to a journal, and has systemd's manager start programs: the first is played, in a namespace of
its own (scripts/test-secret-service-peers); the second is real, which needs root.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dbus
import dbus.bus
import flatpak
import libsecret
import secret_tool
import secretstorage_many
from session import BUILT, GNOME_KEYRING, NAME, PATH, PATIENCE, Session, unpacked

NEEDED = [*flatpak.NEEDED, "systemd-socket-activate", "secret-tool"]
SYSTEMD = "/usr/lib/systemd/systemd"
# unshare(2)
NEW_CONTROL_GROUPS = 0x02000000
SERVICE = "latchkey-secret-service.service"


def missing() -> str | None:
    """Why this cannot be tried here."""
    gone = [program for program in NEEDED if not shutil.which(program)]
    return f"{', '.join(gone)} not installed" if gone else None


def start_bus(session: Session) -> None:
    from machine import mount

    # The launcher has the broker's path built in.
    mount("overlay", "/usr/bin", "overlay", 0, f"lowerdir={unpacked('dbus-broker')}/usr/bin:/usr/bin")
    # Without a journal's socket it does not begin.
    mount("tmpfs", "/run/systemd", "tmpfs")
    os.mkdir("/run/systemd/journal")
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind("/run/systemd/journal/socket")
    threading.Thread(target=listen, args=[journal], daemon=True).start()
    command = [str(BUILT / "latchkey-secret-service")] if session.ours else GNOME_KEYRING
    (session.folder / f"services/{NAME}.service").write_text(
        f"[D-BUS Service]\nName={NAME}\nExec={shutil.which(command[0])} {' '.join(command[1:])}\n")
    start_broker(session)


def start_broker(session: Session) -> None:
    # It listens nowhere by itself, and connects to its own bus.
    known = ["-E", "XDG_RUNTIME_DIR", "-E", "DBUS_SESSION_BUS_ADDRESS"]
    session.broker = session.start(
        ["systemd-socket-activate", *known, "-l", session.address.removeprefix("unix:path="),
         "dbus-broker-launch", "--scope", "user", f"--config-file={session.folder}/bus.conf"])


def listen(journal: socket.socket) -> None:
    """What is not read would have it wait."""
    while journal.recv(1 << 16):
        pass


def run(session: Session) -> None:
    stores(session)
    who_asked(session)
    ends(session)
    unstarted(session)
    under_a_manager(session)
    # What those claim of dbus-daemon.
    for peer in (secretstorage_many, libsecret, secret_tool):
        peer.run(session)
    if session.ours:
        session.lock()
        said = session.at_a_terminal("secret-tool", "lookup", "place", "broker")
        session.claim("a prompt on the client's terminal opens it", "of the broker" in said.partition("Passcode: ")[2])


def stores(session: Session) -> None:
    session.claim("secret-tool stores", secret_tool.store(session, "Mine", "of the broker", "place", "broker"), 0)
    session.claim("and finds it", found(session), "of the broker")
    session.end(session.service)
    session.eventually(lambda: not session.bus.name_has_owner(NAME), "the service keeps its name")
    session.start_service()
    session.claim("also a service that was started again", found(session), "of the broker")


def found(session: Session) -> str | None:
    return secret_tool.lookup(session, "place", "broker")


def who_asked(session: Session) -> None:
    if not session.ours:
        return
    asked = {line["for"] for line in flatpak.log(session) if line["event"] == "add"}
    session.claim("the log says for whom", asked, {"/usr/bin/secret-tool"})
    told = session.run(BUILT / "latchkey", "doctor").stdout
    session.claim("doctor says which process serves", f"which process {session.service.pid} serves" in told)


def open_sessions(session: Session) -> set[str]:
    """Their names, of all programs."""
    tree = session.call("DBus.Introspectable", f"{PATH}/session").Introspect()
    return {node.get("name") for node in xml.etree.ElementTree.fromstring(tree).findall("node")}


def ends(session: Session) -> None:
    client = dbus.bus.BusConnection(session.address)
    service = dbus.Interface(client.get_object(NAME, PATH, introspect=False), "org.freedesktop.Secret.Service")
    opened = service.OpenSession("plain", dbus.String("", variant_level=1))[1].rsplit("/", 1)[1]
    session.claim("a program has a session", opened in open_sessions(session))
    client.close()
    session.eventually(lambda: opened not in open_sessions(session), "a session stays when its program has gone")
    session.claim("which ends with it", opened in open_sessions(session), False)


def unstarted(session: Session) -> None:
    """Without a manager the broker starts nobody, and says so at once."""
    session.end(session.service)
    session.eventually(lambda: not session.bus.name_has_owner(NAME), "the service keeps its name")
    done = session.run("secret-tool", "lookup", "place", "broker")
    session.claim("without a manager nobody is started, which the program hears", (done.returncode, done.stderr),
                  (1, "secret-tool: Could not activate remote peer: unit failed.\n"))
    session.start_service()
    session.claim("and once the service is there it is found", found(session), "of the broker")


# A manager

def under_a_manager(session: Session) -> None:
    if os.getuid() != 0 or "0::" not in Path("/proc/self/cgroup").read_text():
        print("-- dbus-broker under systemd: left out, it needs root and control groups of version 2", flush=True)
        return
    from machine import libc, mount

    session.end(session.service)
    session.end(session.broker)
    address = Path(session.address.removeprefix("unix:path="))
    address.unlink()
    groups = Path("/sys/fs/cgroup")
    subprocess.run(["umount", "-R", groups], check=True)
    mount("cgroup", groups, "cgroup2")
    outside = os.open(groups, os.O_RDONLY)
    own = session.folder.name
    os.mkdir(own, dir_fd=outside)
    tell(outside, f"{own}/cgroup.procs", os.getpid())
    try:
        # Seen from within, everything lies where a login has it.
        if libc.unshare(NEW_CONTROL_GROUPS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        # Still held open.
        subprocess.run(["umount", "--lazy", groups], check=True)
        mount("cgroup", groups, "cgroup2")
        managers = groups / f"user.slice/user-{os.getuid()}.slice/user@{os.getuid()}.service"
        managers.mkdir(parents=True)
        (managers / "cgroup.procs").write_text(str(os.getpid()))
        managed(session)
        if session.ours:
            elsewhere(session)
    finally:
        tell(outside, "cgroup.procs", os.getpid())
        tell(outside, f"{own}/cgroup.kill", 1)
        events = os.open(f"{own}/cgroup.events", os.O_RDONLY, dir_fd=outside)
        session.eventually(lambda: b"populated 0" in os.pread(events, 100, 0), "what the manager started stays")
        for path, folders, _, folder in os.fwalk(own, topdown=False, dir_fd=outside):
            for name in folders:
                os.rmdir(name, dir_fd=folder)
        os.rmdir(own, dir_fd=outside)
    address.unlink(missing_ok=True)
    start_broker(session)
    session.eventually(session.connected, "the bus never listened again")
    session.start_service()


def tell(folder: int, name: str, what: int) -> None:
    with open(os.open(name, os.O_WRONLY, dir_fd=folder), "w") as file:
        file.write(f"{what}")


def managed(session: Session) -> None:
    os.mkdir("/run/systemd/system")
    units = Path(session.environment["XDG_CONFIG_HOME"]) / "systemd/user"
    units.mkdir(parents=True)
    # As `systemctl --user enable dbus-broker` does.
    (units / "dbus.service").symlink_to(unpacked("dbus-broker") / "usr/lib/systemd/user/dbus-broker.service")
    start_manager(session, session.environment)
    bus = process_of(session, "org.freedesktop.DBus")
    session.claim("the manager's bus is the broker", Path(f"/proc/{bus}/comm").read_text(), "dbus-broker-lau\n")
    if session.ours:
        session.latchkey("secret-service", "enable")
    session.claim("nobody serves", session.bus.name_has_owner(NAME), False)
    done = session.run("secret-tool", "lookup", "place", "nowhere")
    session.claim("who asks has it started", (done.returncode, done.stderr), (1, ""))
    session.claim("and it stays", session.bus.name_has_owner(NAME))
    if not session.ours:
        return
    session.claim("as the unit", active(session), "active")
    session.claim("and finds what there was", found(session), "of the broker")
    with_flatpak(session)
    session.run("systemctl", "--user", "stop", SERVICE)
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(found, [session] * 16))
    session.claim("16 who ask at once, eight at a time, have it started", told, ["of the broker"] * 16)
    os.kill(process_of(session, NAME), signal.SIGKILL)
    session.claim("who asks when it was killed as well", found(session), "of the broker")
    session.latchkey("secret-service", "disable")


def start_manager(session: Session, environment: dict[str, str]) -> None:
    command = [SYSTEMD, "--user", "--log-target=console"]
    session.manager = session.start(command, env=environment, stdout=subprocess.DEVNULL)
    session.eventually(session.connected, "the manager has no bus")


def elsewhere(session: Session) -> None:
    """A manager that does not know where the person's data are, and so its bus."""
    session.run("systemctl", "--user", "exit")
    session.manager.wait(PATIENCE)
    start_manager(session, {name: value for name, value in session.environment.items() if name != "XDG_DATA_HOME"})
    session.latchkey("secret-service", "enable")
    said = session.run(BUILT / "latchkey", "doctor").stdout
    file = session.data / f"dbus-1/services/{NAME}.service"
    told = f"starts another for {NAME}, and does not look at {file}: it was started without XDG_DATA_HOME"
    session.claim("doctor says where its bus does not look", told in said)
    session.latchkey("secret-service", "disable")


def with_flatpak(session: Session) -> None:
    """Systemd has each application in a scope of its own, and starts the portal."""
    flatpak.install(session)
    flatpak.at_the_socket(session)
    first = flatpak.secret(session, flatpak.ONE)
    session.claim("the manager's portal gets an application its secret", (first[0], len(first[1])), ("0", 64))
    session.claim("the same each time", flatpak.secret(session, flatpak.ONE), first)
    asked = {line["account"] for line in flatpak.log(session)
             if line["event"] == "add" and line["for"] == flatpak.portal.PORTAL}
    session.claim("under the application's name", asked, {flatpak.ONE})


def process_of(session: Session, name: str) -> int:
    bus = session.bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus", introspect=False)
    return int(bus.GetConnectionUnixProcessID(name, dbus_interface="org.freedesktop.DBus"))


def active(session: Session) -> str:
    return session.run("systemctl", "--user", "is-active", SERVICE).stdout.strip()


if __name__ == "__main__":
    sys.exit("run scripts/test-secret-service-peers dbus_broker")
