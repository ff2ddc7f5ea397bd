"""Roots without systemd, bus, display and XDG_RUNTIME_DIR, made of what is installed
here, and programs run in them. `enter` puts this process into namespaces of its own:
mounts, processes, network (loopback alone), and as an ordinary user a user namespace.
When it ends, so does every process that it started.
"""

import ctypes
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)
# mount(2)
READ_ONLY, NO_SETUID, BIND, REMOUNT, RECURSIVE = 1, 2, 4096, 32, 16384
DEADLINE = 60  # seconds for one block
USER = 1000


def enter(*arguments: str, network: bool = False) -> None:
    """Runs this script once more with these arguments, in namespaces of its own."""
    flags = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private"]
    if not network:
        flags.append("--net")
    if os.getuid() != 0:
        # One user is all that an ordinary user may map; it keeps its capabilities for the mounts.
        flags += ["--user", f"--map-user={USER}", f"--map-group={USER}", "--keep-caps"]
    python = ["/usr/bin/python3", "-B", os.path.abspath(sys.argv[0])]
    sys.exit(subprocess.run(["unshare", *flags, *python, *arguments], stdin=subprocess.DEVNULL).returncode)


def reap_orphans() -> None:
    """The first process of the namespace takes in orphans, as an init does; the rest goes on in a child."""
    worker = os.fork()
    if worker == 0:
        return
    while True:
        ended, status = os.wait()
        if ended == worker:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def mount(source: str, target: Path | str, kind: str = "none", flags: int = 0, options: str = "") -> None:
    if libc.mount(source.encode(), str(target).encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def bind(source: str, target: Path, writable: bool = False) -> None:
    if os.path.isdir(source):
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(source, target, flags=BIND | RECURSIVE)
    if writable:
        return
    # What was locked on the original must be locked on the copy (mount_namespaces(7)).
    kept = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}
    options = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        options[fields[4].replace("\\040", " ")] = fields[5].split(",")
    locked = sum(bit for name, bit in kept.items() if name in options.get(str(target), []))
    mount("none", target, flags=BIND | REMOUNT | READ_ONLY | locked)


def start_network() -> None:
    """Loopback up; ports below 1024 for everyone, as in a machine whose root started the servers."""
    with socket.socket() as probe:
        fcntl.ioctl(probe, 0x8914, struct.pack("16sh", b"lo", 0x41))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
    Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")


class Failure(Exception):
    pass


def must(condition: object, what: str, instead: object = "") -> None:
    if not condition:
        raise Failure(f"{what}: {instead}" if instead != "" else what)


def claim(condition: object, what: str, instead: object = "") -> None:
    """For whoever reads along: what holds is said, too."""
    must(condition, what, instead)
    print(f"ok    {what}", flush=True)


class Machine:
    """A root below `folder`, with a user alice, and the programs of `installed` in its /usr/local."""

    def __init__(self, folder: Path, *, hosts: list[str] = (), bare: bool = False, named: bool = True):
        self.folder = folder
        folder.mkdir(parents=True)
        mount("tmpfs", folder, "tmpfs", NO_SETUID, "mode=755")
        for name in ("dev", "etc", "home", "proc", "root", "run", "tmp", "usr/local", "var/lib"):
            (folder / name).mkdir(parents=True)
        (folder / "tmp").chmod(0o1777)
        self.devices()
        mount("proc", folder / "proc", "proc")
        self.busybox() if bare else self.debian()
        people = "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n"
        if named:
            people += f"alice:x:{USER}:{USER}::/home/alice:/bin/{'sh' if bare else 'bash'}\n"
            self.home = folder / "home/alice"
            self.home.mkdir(mode=0o700)
            self.give(self.home)
        (folder / "etc/passwd").write_text(people)
        (folder / "etc/group").write_text("root:x:0:\n" + (f"alice:x:{USER}:\n" if named else ""))
        (folder / "etc/hosts").write_text("127.0.0.1 localhost " + " ".join(hosts) + "\n")
        (folder / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")
        os.chmod(folder / "home", 0o755)

    def give(self, path: Path) -> None:
        if os.getuid() == 0:
            os.chown(path, USER, USER)

    def devices(self) -> None:
        for name in ("null", "zero", "full", "random", "urandom", "tty"):
            bind(f"/dev/{name}", self.folder / "dev" / name, writable=True)
        (self.folder / "dev/pts").mkdir()
        mount("devpts", self.folder / "dev/pts", "devpts", options="newinstance,ptmxmode=0666,mode=620")
        (self.folder / "dev/ptmx").symlink_to("pts/ptmx")
        for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
            (self.folder / "dev" / name).symlink_to(f"/proc/self/{target}")

    def debian(self) -> None:
        for name in os.listdir("/usr"):
            if name not in ("local", "src") and os.path.isdir(f"/usr/{name}"):
                bind(f"/usr/{name}", self.folder / "usr" / name)
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if os.path.islink(f"/{name}"):
                (self.folder / name).symlink_to(os.readlink(f"/{name}"))
            elif os.path.isdir(f"/{name}"):
                bind(f"/{name}", self.folder / name)
        bind("/etc/alternatives", self.folder / "etc/alternatives")

    def busybox(self) -> None:
        (self.folder / "bin").mkdir()
        shutil.copy("/bin/busybox", self.folder / "bin/busybox")
        for applet in subprocess.check_output(["/bin/busybox", "--list"], text=True).split():
            if applet != "busybox":
                (self.folder / "bin" / applet).symlink_to("busybox")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        place = self.folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)

    # Running

    def environment(self, more: dict[str, str] = {}) -> dict[str, str]:
        own = {"HOME": "/home/alice", "USER": "alice", "LOGNAME": "alice"} if hasattr(self, "home") else {"HOME": "/"}
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", **own, **more}

    def become(self, user: int | None, directory: str, on_terminal: bool = False):
        def prepare() -> None:
            if on_terminal:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.chroot(self.folder)
            os.chdir(directory)
            os.umask(0o022)
            if os.getuid() == 0 and user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            elif os.getuid() != 0:
                libc.prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT_CLEAR_ALL: the program has no capability

        return prepare

    def start(self, command: list[str], *, user: int | None = USER, env: dict[str, str] | None = None,
              directory: str = "/", on_terminal: bool = False, **more) -> subprocess.Popen:
        return subprocess.Popen(
            command, env=env if env is not None else self.environment(), start_new_session=True,
            preexec_fn=self.become(user, directory, on_terminal), **more)

    def run(self, command: list[str], *, input: str | None = None, expect: int | None = 0, **more) -> str:
        """What it writes, both ways; no terminal. Its status must be `expect`, unless that is None."""
        process = self.start(
            command, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, **more)
        try:
            said, _ = process.communicate(input, timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failure(f"no end after {DEADLINE} s: {' '.join(command)}") from None
        if expect is not None and process.returncode != expect:
            raise Failure(f"status {process.returncode} instead of {expect}: {' '.join(command)}\n{said}")
        return said

    def shell(self, text: str, **more) -> str:
        more.setdefault("directory", "/home/alice" if hasattr(self, "home") else "/")
        return self.run(["/bin/sh", "-euc", text], **more)

    def typed(self, text: str, answers: list[tuple[str, str]], seconds: int = DEADLINE, login: bool = False, **more) -> str:
        """A piece of shell on a terminal, where each question gets its answer, in this order."""
        ours, theirs = pty.openpty()
        process = self.start(
            ["/bin/bash", *(["-l"] if login else []), "-euc", text], stdin=theirs, stdout=theirs, stderr=theirs,
            directory=more.pop("directory", "/home/alice"), on_terminal=True, **more)
        os.close(theirs)
        said, seen, waiting, until = "", 0, list(answers), time.monotonic() + seconds
        while True:
            # What it leaves running (a clipboard to be cleared) may keep the terminal open.
            over = process.poll() is not None
            if not select.select([ours], [], [], 0 if over else 0.05)[0]:
                if over:
                    break
                if time.monotonic() > until:
                    os.killpg(process.pid, signal.SIGKILL)
                    raise Failure(f"no end after {seconds} s; it said:\n{said}")
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # EIO: nobody has the other end any more
                break
            if not piece:
                break
            said += piece.decode(errors="replace")
            if waiting and (match := re.compile(waiting[0][0]).search(said, seen)):
                seen = match.end()
                os.write(ours, waiting.pop(0)[1].encode() + b"\n")
        os.close(ours)
        if process.wait() != 0 or waiting:
            raise Failure(f"status {process.returncode}, {len(waiting)} questions did not come; it said:\n{said}")
        return said


def debootstrap(root: Path) -> None:
    """A Debian 12 with nothing in it but what debootstrap calls minimal."""
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", "bookworm", root, "http://deb.debian.org/debian"],
        capture_output=True, text=True)
    if made.returncode != 0:
        raise SystemExit(f"debootstrap: {made.stdout[-2000:]}{made.stderr}")


class Debian(Machine):
    """A root that debootstrap made, with its own network names and those of this machine."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.home = folder / "home/alice"
        mount("tmpfs", folder / "dev", "tmpfs", 2, "mode=755")
        self.devices()
        mount("proc", folder / "proc", "proc")
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        self.run(["/usr/sbin/useradd", "--create-home", "--shell", "/bin/bash", "alice"], user=None)
