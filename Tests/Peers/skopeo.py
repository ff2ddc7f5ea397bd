"""skopeo logs in to a registry (ours, on loopback) by docker's credential helpers, as podman and
buildah do: docker-credential-secretservice, and docker-credential-latchkey where the service
is ours. Debian: skopeo, golang-docker-credential-helpers."""

import base64
import http.server
import json
import threading

from session import BUILT, Session

HEARD: list[str] = []


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        said = self.headers.get("Authorization", "")
        user = base64.b64decode(said.removeprefix("Basic ")).decode() if said else ""
        HEARD.append(user)
        right = user == "alice:geheim"
        self.send_response(200 if right else 401)
        if not right:
            self.send_header("WWW-Authenticate", 'Basic realm="peer"')
        body = b"{}" if "tags" not in self.path else b'{"name":"a","tags":["one"]}'
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


def run(session: Session) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    helpers = ["secretservice"] + (["latchkey"] if session.ours else [])
    for helper in helpers:
        one(session, helper, f"127.0.0.1:{server.server_address[1]}")
    server.shutdown()


def one(session: Session, helper: str, registry: str) -> None:
    file = session.work / f"{helper}.json"
    file.write_text(json.dumps({"credHelpers": {registry: helper}}))
    path = f"{BUILT}:{session.environment['PATH']}"

    def skopeo(*words: str, typed: str = ""):
        return session.run("skopeo", *words, typed=typed, REGISTRY_AUTH_FILE=str(file), PATH=path)

    listed = ("list-tags", "--tls-verify=false", f"docker://{registry}/a")
    session.claim(f"{helper}: without a login nothing is listed", skopeo(*listed).returncode != 0)
    done = skopeo("login", "--tls-verify=false", "-u", "alice", "--password-stdin", registry, typed="geheim")
    session.claim(f"{helper}: login", (done.returncode, done.stderr), (0, ""))
    session.claim(f"{helper}: no secret in the file", "auths" in json.loads(file.read_text()), False)
    HEARD.clear()
    done = skopeo(*listed)
    session.claim(f"{helper}: then it is, as alice", (done.returncode, "one" in done.stdout, "alice:geheim" in HEARD),
                  (0, True, True))
    session.claim(f"{helper}: it knows who is logged in", skopeo("login", "--get-login", registry).stdout, "alice\n")
    session.claim(f"{helper}: logout", skopeo("logout", registry).returncode, 0)
    session.claim(f"{helper}: then nothing is", skopeo(*listed).returncode != 0)
