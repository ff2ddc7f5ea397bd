"""msmtp finds the password of an SMTP server where libsecret keeps it: its host, user and
service. The server is ours, on loopback. Debian: msmtp, libsecret-tools."""

import base64
import socketserver
import threading

from session import Session

HEARD: list[bytes] = []


class Server(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(b"220 peer\r\n")
        for line in self.rfile:
            word = line.upper().split()[:1]
            if word == [b"EHLO"]:
                self.wfile.write(b"250-peer\r\n250 AUTH PLAIN\r\n")
            elif word == [b"AUTH"]:
                HEARD.append(base64.b64decode(line.split()[2]))
                self.wfile.write(b"235 ok\r\n")
            elif word == [b"DATA"]:
                self.wfile.write(b"354 go\r\n")
                while self.rfile.readline().strip() != b".":
                    pass
                self.wfile.write(b"250 ok\r\n")
            elif word == [b"QUIT"]:
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 ok\r\n")


def run(session: Session) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (session.home / ".msmtprc").write_text(
            f"account default\nhost 127.0.0.1\nport {server.server_address[1]}\nfrom alice@example.org\nauth plain\n"
            "user alice\ntls off\n")
        sent(session)
        server.shutdown()


def send(session: Session):
    HEARD.clear()
    return session.run("msmtp", "bob@example.org", typed="Subject: x\n\nhello\n")


def sent(session: Session) -> None:
    done = send(session)
    session.claim("without a password nothing is sent", (done.returncode != 0, HEARD), (True, []))
    session.run("secret-tool", "store", "--label=msmtp", "host", "127.0.0.1", "service", "smtp", "user", "alice", typed="geheim ä")
    done = send(session)
    session.claim("with one it is", (done.returncode, HEARD), (0, ["\0alice\0geheim ä".encode()]))
    session.lock()
    done = send(session)
    session.claim("from a locked keychain nothing is, at once", (done.returncode not in (0, 124), HEARD), (True, []))
    session.unlock()
    session.claim("once it is open it is", (send(session).returncode, len(HEARD)), (0, 1))
