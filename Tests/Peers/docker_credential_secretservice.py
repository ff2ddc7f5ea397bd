"""docker's helper (Debian: golang-docker-credential-helpers), by its protocol and by docker
itself, which logs in to a registry on loopback. docker.io is unpacked and not installed:
that would start a daemon here.
"""

import base64
import hashlib
import json
import os
import ssl
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from session import ROOT, Session

HELPER = Path("/usr/bin/docker-credential-secretservice")
URL = "https://registry.example.com/v1/"
MISSING = "credentials not found in native keychain"
UNPACKED = ROOT / ".build/peers/docker"


def docker() -> Path:
    program = UNPACKED / "usr/bin/docker"
    if not program.exists():
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)  # apt fetches as a user of its own
            subprocess.run(["apt-get", "-q", "download", "docker.io"], cwd=folder, check=True, capture_output=True)
            package, = Path(folder).glob("*.deb")
            UNPACKED.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", package, UNPACKED], check=True)
    return program


class Helper:
    """One of docker's credential helpers, in a session."""

    def __init__(self, session: Session, program: Path):
        self.session, self.program = session, program

    @property
    def name(self) -> str:
        """As docker's settings call it."""
        return self.program.name.removeprefix("docker-credential-")

    def __call__(self, verb: str, typed: str = "") -> tuple[int, str]:
        done = self.session.run(self.program, verb, typed=typed)
        return done.returncode, done.stdout.strip()

    def store(self, url: str, user: str, secret: str) -> tuple[int, str]:
        return self("store", json.dumps({"ServerURL": url, "Username": user, "Secret": secret}))

    def get(self, url: str):
        status, said = self("get", url)
        return (status, json.loads(said)) if status == 0 else (status, said)

    def listed(self):
        status, said = self("list")
        return json.loads(said) if status == 0 else (status, said)


def found(url: str, user: str, secret: str):
    return 0, {"ServerURL": url, "Username": user, "Secret": secret}


def run(session: Session) -> None:
    helper = Helper(session, HELPER)
    claims(helper)
    # Debian's crashes then (status 2), as it does with gnome-keyring.
    locked(helper, "", {1, 2})


def claims(helper: Helper) -> None:
    """What holds of each helper."""
    protocol(helper)
    if helper.session.ours:
        command_line(helper)
    logins(helper)


def protocol(helper: Helper) -> None:
    session = helper.session
    session.claim("version is told", helper("version")[0], 0)
    session.claim("nothing is listed of an empty keychain", helper.listed(), {})
    session.claim("and nothing is found", helper.get(URL), (1, MISSING))
    session.claim("store says nothing", helper.store(URL, "alice", "pass é wörd"), (0, ""))
    session.claim("get has it", helper.get(URL), found(URL, "alice", "pass é wörd"))
    session.same_in_latchkey("latchkey get has it too", "pass é wörd", "--internet", "registry.example.com", "alice")
    session.claim("list has it", helper.listed(), {URL: "alice"})
    helper.store(URL, "alice", "another")
    session.claim("a second one replaces it", (helper.get(URL), len(session.items())),
                  (found(URL, "alice", "another"), 1))
    others = {"https://index.docker.io/v1/": "bob", "127.0.0.1:5000": "<token>", "https://ghcr.io": "carol"}
    for url, user in others.items():
        helper.store(url, user, f"of {user}")
    session.claim("list has all of them", helper.listed(), {URL: "alice", **others})
    session.claim("servers are told apart", [helper.get(url) for url in others],
                  [found(url, user, f"of {user}") for url, user in others.items()])
    session.claim("a long token is kept", (
        helper.store("long.example.com", "<token>", "t" * 5000), helper.get("long.example.com")),
        ((0, ""), found("long.example.com", "<token>", "t" * 5000)))
    helper("erase", "long.example.com")
    for url in others:
        session.claim(f"erase of {url} succeeds", helper("erase", url), (0, ""))
    session.claim("and leaves the rest", helper.listed(), {URL: "alice"})
    session.claim("what was erased is not found", helper.get("https://ghcr.io"), (1, MISSING))


def command_line(helper: Helper) -> None:
    session = helper.session
    session.latchkey("set", "--internet", "hub.example.net", "dave", typed="by hand")
    session.claim("what latchkey set stored is found", helper.get("hub.example.net"),
                  found("hub.example.net", "dave", "by hand"))
    url = "https://hub.example.net/v1/"
    session.claim("and by its address", helper.get(url), found(url, "dave", "by hand"))
    session.latchkey("rm", "--internet", "hub.example.net", "dave")


MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = b'{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}'
IMAGE = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": [], "config": {
    "mediaType": "application/vnd.docker.container.image.v1+json", "size": len(CONFIG),
    "digest": "sha256:" + hashlib.sha256(CONFIG).hexdigest()}}


class Registry:
    """As much of a registry as a login and a look at a manifest ask for (Docker Registry HTTP
    API V2, "API Version Check", "Pulling an Image Manifest"): one image for whoever has the password.
    """

    def __init__(self, user: str, password: str, folder: Path):
        wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.let_in = 0

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(handler):
                right = handler.headers.get("Authorization") == wanted
                self.let_in += right
                handler.send_response(200 if right else 401)
                handler.send_header("Content-Type", MANIFEST)
                handler.send_header("Docker-Distribution-Api-Version", "registry/2.0")
                if not right:
                    handler.send_header("WWW-Authenticate", 'Basic realm="registry"')
                body = CONFIG if "/blobs/" in handler.path else json.dumps(IMAGE).encode()
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

        key, self.certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
            check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.host = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()


def logins(helper: Helper) -> None:
    session = helper.session
    registry, config = Registry("erin", "registry password", session.work), session.work / "docker"
    config.mkdir()
    (config / "config.json").write_text(json.dumps({"credsStore": helper.name}))
    program = docker()

    def call(*arguments, typed=""):
        # There is no daemon: a login is then the client's own.
        return session.run(
            program, "--config", config, *arguments, typed=typed, DOCKER_HOST="unix:///nonexistent/socket",
            SSL_CERT_FILE=str(registry.certificate),
            PATH=f"{helper.program.parent}:{session.environment['PATH']}").returncode

    wrong = call("login", "-u", "erin", "--password-stdin", registry.host, typed="wrong")
    session.claim("docker login with a wrong password fails", (wrong, registry.let_in), (1, 0))
    session.claim("and stores nothing", helper.listed(), {URL: "alice"})
    right = call("login", "-u", "erin", "--password-stdin", registry.host, typed="registry password")
    session.claim("docker login stores what was right", (right, helper.listed()), (0, {
        URL: "alice", registry.host: "erin"}))
    let_in = registry.let_in
    image = f"{registry.host}/image:latest"
    looked = call("manifest", "inspect", image)
    session.claim("docker then gets in without being asked", (looked, registry.let_in > let_in), (0, True))
    kept = (config / "config.json").read_text()
    session.claim("docker's file has no secret", "registry password" in kept or base64.b64encode(
        b"erin:registry password").decode() in kept, False)
    session.claim("docker logout forgets it", (call("logout", registry.host), helper.listed()), (0, {URL: "alice"}))
    session.claim("and then it does not get in", call("manifest", "inspect", image), 1)


def locked(helper: Helper, says: str, statuses: set[int]) -> None:
    session = helper.session
    session.lock()
    status, said = helper("get", URL)
    session.claim("of a locked keychain nothing is found, at once", (status in statuses, said), (True, says))
    session.claim("and nothing is stored", helper.store("new.example.com", "a", "b")[0] in statuses)
    session.unlock()
    session.claim("once it is open everything is there", helper.listed(), {URL: "alice"})
