"""Chromium without a screen, twice on one profile: what its first start encrypts with a key
that the keychain keeps, the second opens. Driven by its own protocol over a pipe
(https://chromedevtools.github.io/devtools-protocol/).
"""

import json
import os
import sqlite3
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import dbus

from session import PATIENCE, Session

COOKIE = "kept-by-chromium-7d1b2f"
ATTRIBUTES = {"application": "chromium", "xdg:schema": "chrome_libsecret_os_crypt_password_v2"}
LABEL = "Chromium Safe Storage"


class Site:
    """Gives whoever comes without a cookie one that lasts, and says which it was shown."""

    def __init__(self):
        self.shown: list[str | None] = []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(handler):
                if handler.path == "/":
                    self.shown.append(handler.headers.get("Cookie"))
                handler.send_response(200)
                handler.send_header("Content-Type", "text/html")
                if not handler.headers.get("Cookie"):
                    handler.send_header("Set-Cookie", f"kept={COOKIE}; Max-Age=100000")
                handler.end_headers()
                handler.wfile.write(b"<p>here")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}/"
        threading.Thread(target=server.serve_forever, daemon=True).start()


class Browser:
    """One start of it, until it was told to end."""

    def __init__(self, session: Session, profile: Path):
        commands, self.to_browser = os.pipe()
        self.from_browser, answers = os.pipe()
        # It takes its commands from descriptor 3 and answers on 4.
        start = f'exec "$@" 3<&{commands} 4>&{answers}'
        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}",
                   "--password-store=gnome-libsecret", "--no-first-run", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]
        self.process = session.start(
            ["bash", "-c", start, "bash", "/usr/bin/chromium", *options], pass_fds=(commands, answers),
            env={**session.environment, "XDG_CURRENT_DESKTOP": "GNOME"},
            stdout=subprocess.DEVNULL, stderr=open(session.folder / "chromium.log", "ab"))
        os.close(commands)
        os.close(answers)
        self.number, self.rest = 0, b""
        self.patience = threading.Timer(PATIENCE, session.end, [self.process])
        self.patience.daemon = True
        self.patience.start()

    def call(self, method: str, target: str | None = None, **parameters) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if target:
            message["sessionId"] = target
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                return answer.get("result", answer)

    def next(self) -> dict:
        while b"\0" not in self.rest:
            piece = os.read(self.from_browser, 1 << 16)
            if not piece:
                raise RuntimeError("Chromium ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def visit(self, url: str) -> None:
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        target = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("Page.enable", target)
        self.call("Page.navigate", target, url=url)
        while self.next().get("method") != "Page.loadEventFired":
            pass

    def cookies(self) -> dict[str, str]:
        return {each["name"]: each["value"] for each in self.call("Storage.getCookies").get("cookies", [])}

    def end(self) -> None:
        self.call("Browser.close")
        self.process.wait()
        self.patience.cancel()


def stored(profile: Path) -> list[tuple[bytes, str]]:
    """What lies in the profile of each cookie: encrypted, and in the clear."""
    path = next(iter(profile.glob("Default/**/Cookies")), None)
    if not path:
        return []
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as database:
        return database.execute("select encrypted_value, value from cookies").fetchall()


def key(session: Session) -> list[tuple[str, str, bytes]]:
    """Path, label and value of what it keeps here."""
    service = session.call("Secret.Service")
    transfer = service.OpenSession("plain", dbus.String("", variant_level=1))[1]
    paths = service.SearchItems({"application": "chromium"})[0]
    return [(str(path), str(session.read(path, "Item", "Label")),
             bytes(session.call("Secret.Item", path).GetSecret(transfer)[2])) for path in paths]


def run(session: Session) -> None:
    site, profile = Site(), session.work / "profile"
    first = Browser(session, profile)
    first.visit(site.url)
    session.claim("the site gives a cookie", first.cookies(), {"kept": COOKIE})
    first.end()
    kept = key(session)
    session.claim("the first start keeps one item", [label for _, label, _ in kept], [LABEL])
    held = session.read(kept[0][0], "Item", "Attributes")
    session.claim("with Chromium's attributes", {str(name): str(value) for name, value in held.items()}, ATTRIBUTES)
    session.claim("its value is a key", len(kept[0][2]), 24)
    session.same_in_latchkey("latchkey get has it too", kept[0][2].decode(), LABEL, "chromium")
    cookies = stored(profile)
    # v11: by a key of a keychain; v10: by one that everybody knows (components/os_crypt, os_crypt_linux.cc).
    session.claim("the cookie lies encrypted by that key", [(encrypted[:3], clear) for encrypted, clear in cookies],
                  [(b"v11", "")])

    second = Browser(session, profile)
    session.claim("the second start opens it", second.cookies(), {"kept": COOKIE})
    second.visit(site.url)
    second.end()
    session.claim("and shows it to the site", site.shown, [None, f"kept={COOKIE}"])
    session.claim("the second start makes no other item", key(session), kept)
    if session.ours:
        beside_a_new_service(session, profile, kept)
    session.call("Secret.Item", kept[0][0]).Delete()
    without = Browser(session, profile)
    session.claim("without the key it does not open", without.cookies(), {})
    without.end()


def beside_a_new_service(session: Session, profile: Path, kept) -> None:
    """As at the next login."""
    session.end(session.service)
    session.start_service()
    third = Browser(session, profile)
    session.claim("a start beside a new service opens it", third.cookies(), {"kept": COOKIE})
    third.end()
    session.claim("and makes no other item", key(session), kept)
