"""A bus of its own with a Secret Service on it, in a home that is thrown away: ours (the
service, a daemon and an enclave from .build/debug), or gnome-keyring, by which what is
claimed here was found to be true of a Secret Service at all.
"""

import contextlib
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import dbus
import dbus.bus

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / ".build/debug"
NAME, PATH = "org.freedesktop.secrets", "/org/freedesktop/secrets"
# No call waits for a person who is not there: what takes longer hangs.
PATIENCE = 60
GNOME_KEYRING = ["gnome-keyring-daemon", "--foreground", "--components=secrets"]
PASSCODE = b"correct horse of the test"

# The limits are those of a session's bus (dbus, session.conf): without them clients that have more
# than 128 calls at work fail.
BUS = """<busconfig><type>session</type><listen>{}</listen><auth>EXTERNAL</auth>
<servicedir>{}</servicedir>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
<allow user="*"/></policy>
<limit name="max_incoming_bytes">1000000000</limit><limit name="max_outgoing_bytes">1000000000</limit>
<limit name="max_message_size">1000000000</limit><limit name="max_completed_connections">100000</limit>
<limit name="max_connections_per_user">100000</limit><limit name="max_match_rules_per_connection">50000</limit>
<limit name="max_replies_per_connection">50000</limit></busconfig>"""


def unpacked(package: str) -> Path:
    """Where a package of Debian's lies whose installation would change this machine."""
    place = ROOT / ".build/peers" / package
    if not place.exists():
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)  # apt fetches as a user of its own
            subprocess.run(["apt-get", "-q", "download", package], cwd=folder, check=True, capture_output=True)
            file, = Path(folder).glob("*.deb")
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", file, f"{folder}/tree"], check=True)
            shutil.move(f"{folder}/tree", place)
    return place


class Session:
    """What one peer is given."""

    def __init__(self, folder: Path, ours: bool, runtime: Path | None = None, start_bus=None):
        """runtime: where a login has its folder, where that counts. start_bus: where the bus is not dbus-daemon's."""
        self.folder, self.ours = folder, ours
        self.start_bus = start_bus or Session.start_daemon
        self.has_passcode = False
        self.results: list[tuple[bool, str, str]] = []
        self.running: list[subprocess.Popen] = []
        for name in ("data", "run", "home", "config", "cache", "work", "services"):
            (folder / name).mkdir(mode=0o700)
        self.home, self.work, self.data = folder / "home", folder / "work", folder / "data"
        self.runtime = runtime or folder / "run"
        self.address = f"unix:path={runtime or folder}/bus"
        # Nothing of whoever runs the test: no display, no real keychain, no git settings.
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime), "XDG_DATA_HOME": str(self.data),
            "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache"),
            "DBUS_SESSION_BUS_ADDRESS": self.address, "GIT_CONFIG_NOSYSTEM": "1",
        }

    def __enter__(self) -> "Session":
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def open(self) -> None:
        (self.folder / "bus.conf").write_text(BUS.format(self.address, self.folder / "services"))
        self.start_bus(self)
        self.eventually(self.connected, "the bus never listened")
        self.start_service()

    def start_daemon(self) -> None:
        self.start(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={self.folder}/bus.conf"])

    def start_system_bus(self) -> None:
        """One with nobody on it, for programs that end without."""
        if "DBUS_SYSTEM_BUS_ADDRESS" in self.environment:
            return
        address, file = f"unix:path={self.folder}/system", self.folder / "system.conf"
        file.write_text((self.folder / "bus.conf").read_text().replace(self.address, address))
        self.start(["dbus-daemon", "--nofork", "--nopidfile", f"--config-file={file}"])
        self.eventually((self.folder / "system").exists, "there is no system bus")
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = address

    def __exit__(self, *_) -> None:
        if self.ours:
            subprocess.run([BUILT / "latchkeyd", "--stop"], env=self.environment, capture_output=True)
        for process in reversed(self.running):
            self.end(process)

    # The service

    def start_service(self) -> None:
        command = [str(BUILT / "latchkey-secret-service")]
        if not self.ours:
            command = [*GNOME_KEYRING, "--unlock"]
        with open(self.folder / "service.log", "ab") as log:
            self.service = self.start(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        self.service.stdin.write(b"" if self.ours else PASSCODE)
        self.service.stdin.close()
        self.eventually(lambda: self.bus.name_has_owner(NAME), "the service never took its name")

    def connected(self) -> bool:
        try:
            self.bus = dbus.bus.BusConnection(self.address)
        except dbus.DBusException:
            return False
        return True

    def start(self, command: list[str], **more) -> subprocess.Popen:
        more = {"stderr": subprocess.DEVNULL, "env": self.environment, **more}
        process = subprocess.Popen(command, start_new_session=True, **more)
        self.running.append(process)
        return process

    @staticmethod
    def end(process: subprocess.Popen) -> None:
        """With what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def eventually(self, happened, what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > until:
                raise SystemExit(f"secret-service-peers: {what}")
            time.sleep(0.05)

    def call(self, interface: str, path: str = PATH) -> dbus.Interface:
        return dbus.Interface(
            self.bus.get_object(NAME, path, introspect=False), f"org.freedesktop.{interface}")

    def read(self, path: str, interface: str, name: str):
        return self.call("DBus.Properties", path).Get(f"org.freedesktop.Secret.{interface}", name)

    def items(self) -> list[str]:
        """The paths of all items of the default collection."""
        return list(self.read(f"{PATH}/aliases/default", "Collection", "Items"))

    # The lock

    def lock(self) -> None:
        """As a person does who has a passcode; nobody is there to be asked afterwards."""
        if self.ours:
            if not self.has_passcode:
                self.latchkey("passcode", "set", typed=PASSCODE)
                self.has_passcode = True
            self.latchkey("lock")
        else:
            self.call("Secret.Service").Lock([dbus.ObjectPath(f"{PATH}/collection/login")])

    def unlock(self) -> None:
        if self.ours:
            self.latchkey("unlock", typed=PASSCODE)
        else:
            self.gnome_keyring.UnlockWithMasterPassword(dbus.ObjectPath(f"{PATH}/collection/login"), self.password())

    def collection(self, label: str) -> str:
        """The path of a new one, which nobody is asked about."""
        properties = dbus.Dictionary({"org.freedesktop.Secret.Collection.Label": label}, signature="sv")
        if self.ours:
            return str(self.call("Secret.Service").CreateCollection(properties, "")[0])
        return str(self.gnome_keyring.CreateWithMasterPassword(properties, self.password()))

    @property
    def gnome_keyring(self) -> dbus.Interface:
        """What it offers where nobody can be asked."""
        return dbus.Interface(
            self.bus.get_object(NAME, PATH, introspect=False), "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")

    def password(self) -> dbus.Struct:
        session = self.call("Secret.Service").OpenSession("plain", dbus.String("", variant_level=1))[1]
        return dbus.Struct(
            (session, dbus.ByteArray(b""), dbus.ByteArray(PASSCODE), "text/plain"), signature="oayays")

    # Programs

    def run(self, *command, typed: bytes | str = b"", **changes) -> subprocess.CompletedProcess:
        """A program that ends by itself; status 124 where it had to be ended."""
        if isinstance(typed, str):
            typed = typed.encode()
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**self.environment, **changes}, cwd=self.work, start_new_session=True)
        try:
            out, errors = process.communicate(typed, timeout=PATIENCE)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, errors = process.communicate()
            status = 124
        return subprocess.CompletedProcess(command, status, out.decode(), errors.decode())

    def at_a_terminal(self, *command: str) -> str:
        """What is on a terminal after a program that ends by itself, for which a person types the passcode."""
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe(command[0], command, {**self.environment, "TERM": "dumb"})
        said, typed, until = b"", False, time.monotonic() + PATIENCE
        while select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
            try:
                said += os.read(terminal, 4096)
            except OSError:  # The other end has gone.
                break
            if not typed and said.endswith(b"Passcode: "):
                typed = True
                os.write(terminal, PASSCODE + b"\n")
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
        return said.decode(errors="replace")

    def build(self, *command) -> None:
        done = self.run(*command)
        if done.returncode:
            raise SystemExit(f"secret-service-peers: {' '.join(map(str, command))}\n{done.stderr}")

    def latchkey(self, *arguments, typed: bytes | str = b"") -> str:
        done = self.run(BUILT / "latchkey", *arguments, typed=typed)
        if done.returncode:
            raise SystemExit(f"secret-service-peers: latchkey {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    # Claims

    def claim(self, what: str, got, wanted=True) -> None:
        told = [text if len(text) < 300 else f"{text[:300]}… ({len(text)})" for text in (repr(wanted), repr(got))]
        self.results.append((got == wanted, what, "" if got == wanted else "wanted {}, got {}".format(*told)))

    def same_in_latchkey(self, what: str, wanted: str, *place: str) -> None:
        """What a person finds, where there is a command line beside the service."""
        if self.ours:
            done = self.run(BUILT / "latchkey", "get", *place)
            self.claim(what, (done.returncode, done.stdout), (0, wanted))
