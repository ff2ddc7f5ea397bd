"""git.example.org: a repository behind HTTPS and a password, on loopback."""

import base64
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST, USER = "git.example.org", "alice"


class GitServer:
    """Serves /project.git below `folder`; `certificate` is what its client must trust."""

    def __init__(self, folder: Path, password: str):
        self.password = password
        self.folder = folder
        self.certificate = folder / "certificate.pem"
        self.asked = 0
        self.served = 0
        self.shown_in_the_clear = 0
        folder.mkdir()
        self.repository()
        self.listen()

    def listen(self) -> None:
        key = self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", self.certificate],
            check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        secure = ThreadingHTTPServer(("127.0.0.1", 443), handler(self))
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        # The same in the clear: nobody may show it a password.
        for server in (secure, ThreadingHTTPServer(("127.0.0.1", 80), handler(self))):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def repository(self) -> None:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
               "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
        work = self.folder / "work"
        for command in (
            ["git", "init", "-q", "-b", "main", work],
            ["git", "-C", work, "commit", "-q", "--allow-empty", "-m", "first"],
            ["git", "clone", "-q", "--bare", work, self.folder / "project.git"],
        ):
            subprocess.run(command, check=True, env=env, capture_output=True)


class PlainGitServer(GitServer):
    """The same without a certificate, at a port of its own."""

    def listen(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()


def handler(server: GitServer):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            wanted = "Basic " + base64.b64encode(f"{USER}:{server.password}".encode()).decode()
            if self.server.server_port == 80 and self.headers.get("Authorization"):
                server.shown_in_the_clear += 1
            if self.headers.get("Authorization") != wanted:
                server.asked += 1
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            server.served += 1
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            env = {
                "PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": str(server.folder), "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": USER,
                "CONTENT_TYPE": self.headers.get("Content-Type") or "", "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "", "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "", "HOME": str(server.folder),
            }
            answer = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
            head, _, content = answer.partition(b"\r\n\r\n")
            headers = [line.split(": ", 1) for line in head.decode().split("\r\n")]
            status = next((value for name, value in headers if name == "Status"), "200")
            self.send_response(int(status.split()[0]))
            for name, value in headers:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

    return Handler
