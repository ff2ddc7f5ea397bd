"""GNOME's shell itself, without a screen (mutter's headless backend): whoever finds the
keychain locked has it ask, and what a person types comes by the interface of remote desktops.

Debian: gnome-shell, libgl1-mesa-dri (it draws by software), pinentry-gnome3,
xdg-desktop-portal, bubblewrap, flatpak. Runs in namespaces of its own (scripts/test-secret-service-peers):
a prompt is for the session whose folder is /run/user/UID.
"""

import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

import dbus
import flatpak
import portal
from session import BUILT, PASSCODE, Session

NEEDED = ["gnome-shell", "dbus-daemon", "pinentry-gnome3", *flatpak.NEEDED]
SHELL = "org.gnome.Shell"
PROMPTER = "org.gnome.keyring.SystemPrompter"
REMOTE = "org.gnome.Mutter.RemoteDesktop"
# keysymdef.h
RETURN, ESCAPE = 0xFF0D, 0xFF1B

# What is on the screen, by the shell's own objects (js/ui/components/keyring.js, modalDialog.js):
# the lines of each dialog for a password that has the keyboard; how many are not closed.
DIALOGS = """(() => {
    const texts = a => (a.visible && a.text ? [a.text] : []).concat(...a.get_children().map(texts));
    const within = a => (a.constructor.name === 'KeyringDialog' ? [a] : []).concat(...a.get_children().map(within));
    const all = within(Main.layoutManager.modalDialogGroup);
    const hears = a => a.state === 0 && global.stage.key_focus !== null && a.contains(global.stage.key_focus);
    return {open: all.filter(hears).map(texts), count: all.filter(a => a.state !== 1).length};
})()"""


def missing() -> str | None:
    """Why this cannot be tried here."""
    gone = [program for program in NEEDED if not shutil.which(program)]
    return f"{', '.join(gone)} not installed" if gone else None


class Desktop:
    def __init__(self, session: Session):
        self.session = session
        self.pool = concurrent.futures.ThreadPoolExecutor()
        session.start_system_bus()
        # What a login puts into the environment of all its programs.
        session.environment |= {
            "WAYLAND_DISPLAY": "wayland-0", "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "GNOME",
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
        }
        dbus.Interface(session.bus.get_object(dbus.BUS_DAEMON_NAME, dbus.BUS_DAEMON_PATH), dbus.BUS_DAEMON_IFACE) \
            .UpdateActivationEnvironment({"WAYLAND_DISPLAY": "wayland-0"})
        with open(session.folder / "shell.log", "wb") as log:
            self.shell = session.start(
                ["gnome-shell", "--headless", "--virtual-monitor", "1280x720", "--no-x11", "--unsafe-mode"],
                env={name: value for name, value in session.environment.items() if name != "WAYLAND_DISPLAY"},
                stdout=log, stderr=log)
        for name in (SHELL, REMOTE, PROMPTER):
            session.eventually(lambda name=name: session.bus.name_has_owner(name), f"the shell never had {name}")
        # A dialog within its first second would lose the keyboard again (js/ui/layout.js).
        session.eventually(lambda: self.look("Main.layoutManager._startingUp") is False, "the shell never began")
        desk = self.object(REMOTE, "/org/gnome/Mutter/RemoteDesktop", REMOTE)
        self.hands = self.object(REMOTE, desk.CreateSession(), f"{REMOTE}.Session")
        self.hands.Start()

    def object(self, name: str, path: str, interface: str) -> dbus.Interface:
        return dbus.Interface(self.session.bus.get_object(name, path, introspect=False), interface)

    def look(self, script: str):
        done, said = self.object(SHELL, "/org/gnome/Shell", SHELL).Eval(script)
        if not done:
            raise RuntimeError(f"gnome-shell: {said}")
        return json.loads(said)

    # A person

    def dialog(self, saying: tuple[str, ...] = ("",)) -> list[str]:
        """The one that is shown, once it says one of these."""
        def found():
            shown = self.look(DIALOGS)["open"]
            return [lines for lines in shown if any(word in line for line in lines for word in saying)]
        self.session.eventually(found, f"the shell shows nobody a prompt with {saying}")
        return found()[0]

    def has_none(self) -> bool:
        self.session.eventually(lambda: self.look(DIALOGS)["count"] == 0, "a prompt stays")
        return True

    def press(self, *keys: int) -> None:
        for key in keys:
            for down in (True, False):
                self.hands.NotifyKeyboardKeysym(dbus.UInt32(key), down)

    def type(self, text: bytes) -> None:
        self.press(*text, RETURN)

    # Programs

    def later(self, run, *arguments) -> concurrent.futures.Future:
        return self.pool.submit(run, *arguments)

    def look_up(self) -> concurrent.futures.Future:
        return self.later(self.session.run, "secret-tool", "lookup", "peer", "shell")


def answer(program: concurrent.futures.Future) -> tuple[int, str]:
    done = program.result()
    return done.returncode, done.stdout


def run(session: Session) -> None:
    stored = session.run("secret-tool", "store", "--label=shell", "peer", "shell", typed="geheim ä")
    session.claim("an item is stored", stored.returncode, 0)
    desktop = Desktop(session)
    with desktop.pool:
        try:
            typed_and_dismissed(session, desktop)
            several_at_once(session, desktop)
            whom_the_bus_started(session, desktop)
            through_flatpaks_proxy(session, desktop)
            behind_the_portal(session, desktop)
            if session.ours:
                an_item_that_needs_a_person(session, desktop)
            without_its_shell(session, desktop)
        finally:
            # What still waits for a person would keep the pool.
            session.end(desktop.shell)


def typed_and_dismissed(session: Session, desktop: Desktop) -> None:
    session.lock()
    program = desktop.look_up()
    shown = "\n".join(desktop.dialog())
    if session.ours:
        session.claim("its prompt names the program", "/usr/bin/secret-tool" in shown)
    desktop.type(PASSCODE)
    session.claim("what is typed into the shell's prompt opens it", answer(program), (0, "geheim ä"))
    session.claim("the prompt goes", desktop.has_none())

    relock(session)
    program = desktop.look_up()
    desktop.dialog()
    desktop.type(b"not that")
    desktop.dialog(saying=("not the passcode", "incorrect"))
    desktop.type(PASSCODE)
    session.claim("after a wrong one it asks again", answer(program), (0, "geheim ä"))
    desktop.has_none()

    relock(session)
    program = desktop.look_up()
    desktop.dialog()
    desktop.press(ESCAPE)
    session.claim("who dismisses it keeps it locked", answer(program), (1, ""))
    session.claim("and nothing is left on the screen", desktop.has_none())


def several_at_once(session: Session, desktop: Desktop) -> None:
    """It is locked."""
    both = [desktop.look_up(), desktop.look_up()]
    desktop.dialog()
    desktop.type(PASSCODE)
    if session.ours:
        session.claim("one passcode opens it for two programs", [answer(one) for one in both], [(0, "geheim ä")] * 2)
    concurrent.futures.wait(both)
    desktop.has_none()
    if session.ours:
        relock(session)
        program = session.start(["secret-tool", "lookup", "peer", "shell"], stdin=subprocess.DEVNULL)
        desktop.dialog()
        session.end(program)
        session.claim("a program that ends takes its prompt away", desktop.has_none())


def whom_the_bus_started(session: Session, desktop: Desktop) -> None:
    """dbus-daemon tells what it starts the bus's address with its number."""
    (session.work / "started").write_text(
        f"#!/bin/sh\nexec >{session.work}/said 2>&1 </dev/null\n"
        "secret-tool lookup peer shell\necho \" $?\"\nmv said told\n")
    (session.work / "started").chmod(0o755)
    (session.folder / "services/peer.Started.service").write_text(
        f"[D-BUS Service]\nName=peer.Started\nExec=/bin/sh -c 'cd {session.work} && exec ./started'\n")
    relock(session)
    daemon = dbus.Interface(session.bus.get_object(dbus.BUS_DAEMON_NAME, dbus.BUS_DAEMON_PATH), dbus.BUS_DAEMON_IFACE)
    daemon.ReloadConfig()
    # It takes no name: nobody waits for the answer.
    session.bus.call_async(
        dbus.BUS_DAEMON_NAME, dbus.BUS_DAEMON_PATH, dbus.BUS_DAEMON_IFACE, "StartServiceByName", "su",
        ("peer.Started", 0), None, None)
    desktop.dialog()
    desktop.type(PASSCODE)
    session.eventually((session.work / "told").exists, "what the bus started never ended")
    session.claim("the shell asks for what the bus started", (session.work / "told").read_text(), "geheim ä 0\n")
    desktop.has_none()


def through_flatpaks_proxy(session: Session, desktop: Desktop) -> None:
    """The proxy has the environment of whoever ran the application, by which its display is found."""
    flatpak.install(session)
    relock(session)
    program = desktop.later(flatpak.tool, session, "lookup", "peer", "shell")
    shown = "\n".join(desktop.dialog())
    if session.ours:
        session.claim("a Flatpak's prompt names its proxy", flatpak.PROXY in shown)
    desktop.type(PASSCODE)
    session.claim("the shell asks for a Flatpak", program.result(), (0, "geheim ä"))
    desktop.has_none()


def behind_the_portal(session: Session, desktop: Desktop) -> None:
    portal.start(session)
    code, secret = portal.asked_by(session, "org.example.One")
    session.claim("the portal has a secret for an application", (code, len(secret)), ("[0]", 64))
    relock(session)
    program = desktop.later(portal.asked_by, session, "org.example.One")
    desktop.dialog()
    desktop.type(PASSCODE)
    session.claim("locked, the shell asks for the portal", program.result(), ("[0]", secret))
    desktop.has_none()
    relock(session)
    program = desktop.later(portal.asked_by, session, "org.example.One")
    desktop.dialog()
    desktop.press(ESCAPE)
    code, none = program.result()
    session.claim("dismissed, it has none", (code != "[0]", none), (True, b""))
    desktop.has_none()


def an_item_that_needs_a_person(session: Session, desktop: Desktop) -> None:
    """By SecItem, as a program without a terminal calls it."""
    unlock(session)
    program = desktop.later(
        session.run, BUILT / "fault-client", "agree", session.data / "latchkey", session.runtime / "latchkey")
    desktop.dialog()
    desktop.type(PASSCODE)
    session.claim("a person agrees in the shell", answer(program), (0, "begun\nthe value was told\nok\n"))
    desktop.has_none()


def without_its_shell(session: Session, desktop: Desktop) -> None:
    relock(session)
    program = desktop.look_up()
    desktop.dialog()
    os.killpg(desktop.shell.pid, signal.SIGKILL)
    session.claim("a shell that ends under its prompt leaves nobody waiting", answer(program), (1, ""))
    session.claim("without one the answer comes at once", answer(desktop.look_up()), (1, ""))


def relock(session: Session) -> None:
    if session.ours:
        session.latchkey("lock")
    else:
        session.lock()


def unlock(session: Session) -> None:
    with contextlib.suppress(dbus.DBusException):
        session.unlock()


if __name__ == "__main__":
    sys.exit("run scripts/test-secret-service-peers gnome_shell")
