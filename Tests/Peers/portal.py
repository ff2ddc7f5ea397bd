"""xdg-desktop-portal itself, which asks the Secret Service for a secret of each sandboxed
application. The application is Flatpak's by what the portal looks at: a /.flatpak-info in
the root of its process.
"""

import subprocess
import sys
from pathlib import Path

from session import ROOT, Session

PORTAL = "/usr/libexec/xdg-desktop-portal"

# What is run in the sandbox: prints the answer's code and the bytes that came.
CLIENT = """
import os, sys
import dbus, dbus.mainloop.glib
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
loop = GLib.MainLoop()
said = []
def answered(code, results):
    said.append(int(code))
    loop.quit()
bus.add_signal_receiver(answered, 'Response', 'org.freedesktop.portal.Request')
reading, writing = os.pipe()
portal = bus.get_object('org.freedesktop.portal.Desktop', '/org/freedesktop/portal/desktop', introspect=False)
dbus.Interface(portal, 'org.freedesktop.portal.Secret').RetrieveSecret(
    dbus.types.UnixFd(writing), dbus.Dictionary({}, signature='sv'))
os.close(writing)
GLib.timeout_add_seconds(30, loop.quit)
if not said: loop.run()
os.set_blocking(reading, False)
try: secret = os.read(reading, 4096)
except BlockingIOError: secret = b''
print(said, secret.hex())
"""


def asked_by(session: Session, application: str | None) -> tuple[str, bytes]:
    """The portal's code, and the secret. None: a program that is in no sandbox."""
    sandbox = []
    if application:
        info = session.work / f"{application}.info"
        info.write_text(f"[Application]\nname={application}\n\n[Instance]\ninstance-id=1\n")
        sandbox = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev",
                   "--bind", str(session.folder), str(session.folder),
                   "--bind", str(session.runtime), str(session.runtime), "--ro-bind", str(info), "/.flatpak-info"]
        for name in ("bin", "lib", "lib64"):
            sandbox += ["--symlink", f"usr/{name}", f"/{name}"]
    done = session.run(*sandbox, "/usr/bin/python3", "-c", CLIENT)
    if done.returncode:
        return f"status {done.returncode}: {done.stderr[-250:]}", b""
    code, _, secret = done.stdout.strip().partition("] ")
    return code + "]", bytes.fromhex(secret)


def start(session: Session) -> subprocess.Popen:
    folder = session.folder / "portals"
    folder.mkdir(exist_ok=True)
    text = Path(ROOT / "scripts/latchkey.portal").read_text()
    (folder / "latchkey.portal").write_text(text)
    process = session.start([PORTAL], env={**session.environment, "XDG_DESKTOP_PORTAL_DIR": str(folder)})
    session.eventually(lambda: session.bus.name_has_owner("org.freedesktop.portal.Desktop"), "there is no portal")
    return process


def run(session: Session) -> None:
    start(session)
    code, first = asked_by(session, "org.example.One")
    session.claim("an application gets a secret", (code, len(first)), ("[0]", 64))
    session.claim("the same each time", asked_by(session, "org.example.One"), ("[0]", first))
    code, second = asked_by(session, "org.example.Two")
    session.claim("another gets another", (code, len(second), second != first), ("[0]", 64, True))
    code, third = asked_by(session, None)
    session.claim("who is in no sandbox has one of no name", (code, len(third), third in (first, second)), ("[0]", 64, False))
    session.lock()
    code, none = asked_by(session, "org.example.One")
    session.claim("locked it gets none", (code != "[0]", none), (True, b""))
    if session.ours:
        session.unlock()
        session.claim("and once it is open, the same", asked_by(session, "org.example.One"), ("[0]", first))


if __name__ == "__main__":
    sys.exit("run scripts/test-secret-service-peers portal")
