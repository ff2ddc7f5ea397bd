"""A FIDO2 security key of software, on a socket (SOCK_SEQPACKET, one report a packet).

Usage: security_key.py PATH. What it makes hangs on PATH.secret, which it writes where
there is none. How it behaves are the words in PATH.mode, read whenever it matters:

  no-touch        nobody touches it: it blinks until the word goes, or it is cancelled
  refuse          says no
  hang, hang-info says nothing more: to what needs a touch, or to the first question
  vanish          goes in the middle of what needs a touch, and ends
  garbage         answers what is no CBOR
  other           makes other secrets, as after a reset that kept its credentials
  constant        makes the same secret of every salt
  verify          wants a PIN or a finger for everything (alwaysUv)
  no-secret       has no hmac-secret
  u2f             knows U2F alone
  pin             has a PIN, 1234, and makes nothing new without

CTAP 2.1 (FIDO Alliance, 2021): 6.1 authenticatorMakeCredential, 6.2 GetAssertion,
6.4 GetInfo, 6.5 ClientPIN with PIN protocol one, 11.2 CTAPHID, 12.5 hmac-secret.
"""
import hashlib
import hmac
import os
import select
import socket
import struct
import sys

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

REPORT = 64
INIT, CBOR, CANCEL, ERROR, KEEPALIVE = 0x06, 0x10, 0x11, 0x3F, 0x3B
WAITS_FOR_TOUCH = 2
OK, INVALID_PARAMETER, UNSUPPORTED_OPTION, DENIED, CANCELLED = 0, 0x02, 0x2B, 0x27, 0x2D
NO_CREDENTIALS, PIN_INVALID, PIN_AUTH_INVALID, PIN_REQUIRED = 0x2E, 0x31, 0x33, 0x36
PIN = b"1234"


class Gone(Exception):
    """Whoever asked is there no more."""


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def aes(key):
    return Cipher(algorithms.AES(key), modes.CBC(bytes(16)))


def cose(key):
    numbers = key.public_key().public_numbers()
    return {1: 2, 3: -25, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}


class Key:
    def __init__(self, path):
        self.path = path
        if not os.path.exists(path + ".secret"):
            with open(path + ".secret", "wb") as file:
                file.write(os.urandom(32))
        with open(path + ".secret", "rb") as file:
            self.master = file.read()
        self.agreement = ec.generate_private_key(ec.SECP256R1())
        self.token = os.urandom(32)
        self.tries = 8

    def mode(self):
        try:
            with open(self.path + ".mode", encoding="ascii") as file:
                return file.read().split()
        except FileNotFoundError:
            return []

    # Credentials: a nonce and what shows that it is ours.

    def new_name(self, party):
        nonce = os.urandom(32)
        return nonce + mac(self.master, b"name", nonce, party)

    def is_ours(self, name, party):
        return len(name) == 64 and hmac.compare_digest(name[32:], mac(self.master, b"name", name[:32], party))

    def signer(self, name):
        return ec.derive_private_key(int.from_bytes(mac(self.master, b"signs", name), "big") >> 1, ec.SECP256R1())

    def shared(self, theirs):
        point = ec.EllipticCurvePublicNumbers(
            int.from_bytes(theirs[-2], "big"), int.from_bytes(theirs[-3], "big"), ec.SECP256R1())
        return hashlib.sha256(self.agreement.exchange(ec.ECDH(), point.public_key())).digest()

    # Commands

    def info(self):
        mode = self.mode()
        options = {"rk": False, "up": True}
        if "pin" in mode:
            options["clientPin"] = True
        if "verify" in mode:
            options["alwaysUv"] = True
        extensions = [] if "no-secret" in mode else ["hmac-secret"]
        return OK, {1: ["FIDO_2_0", "FIDO_2_1"], 2: extensions, 3: bytes(16), 4: options, 5: 1200, 6: [1]}

    def client_pin(self, request):
        if request[2] == 1:
            return OK, {3: self.tries}
        if request[2] == 2:
            return OK, {1: cose(self.agreement)}
        if request[2] != 5 or "pin" not in self.mode():
            return INVALID_PARAMETER, None
        shared = self.shared(request[3])
        decryptor = aes(shared).decryptor()
        typed = decryptor.update(request[6]) + decryptor.finalize()
        if typed != hashlib.sha256(PIN).digest()[:16]:
            self.tries -= 1
            return PIN_INVALID, None
        encryptor = aes(shared).encryptor()
        return OK, {2: encryptor.update(self.token) + encryptor.finalize()}

    def make(self, request, line):
        if "verify" in self.mode() or ("pin" in self.mode() and 8 not in request):
            return PIN_REQUIRED, None
        if 8 in request and request[8] != mac(self.token, request[1])[:16]:
            return PIN_AUTH_INVALID, None
        status = line.touch(self)
        if status != OK:
            return status, None
        party = hashlib.sha256(request[2]["id"].encode()).digest()
        name = self.new_name(party)
        signer = self.signer(name)
        public = dict(cose(signer))
        public[3] = -7
        data = party + bytes([0xC1]) + bytes(4) + bytes(16) + struct.pack(">H", len(name)) + name
        data += cbor2.dumps(public, canonical=True) + cbor2.dumps({"hmac-secret": True})
        signature = signer.sign(data + request[1], ec.ECDSA(hashes.SHA256()))
        return OK, {1: "packed", 2: data, 3: {"alg": -7, "sig": signature}}

    def assertion(self, request, line):
        if "verify" in self.mode():
            return PIN_REQUIRED, None
        party = hashlib.sha256(request[1].encode()).digest()
        names = [entry["id"] for entry in request.get(3, []) if self.is_ours(entry["id"], party)]
        if not names:
            return NO_CREDENTIALS, None
        wanted = request.get(4, {}).get("hmac-secret")
        touches = request.get(5, {}).get("up", True)
        if wanted and not touches:
            return UNSUPPORTED_OPTION, None
        status = line.touch(self) if touches else OK
        if status != OK:
            return status, None
        data = party + bytes([(1 if touches else 0) | (0x80 if wanted else 0)]) + bytes(4)
        if wanted:
            secrets = self.secrets(names[0], wanted)
            if secrets is None:
                return INVALID_PARAMETER, None
            data += cbor2.dumps({"hmac-secret": secrets})
        signature = self.signer(names[0]).sign(data + request[2], ec.ECDSA(hashes.SHA256()))
        return OK, {1: {"id": names[0], "type": "public-key"}, 2: data, 3: signature}

    def secrets(self, name, wanted):
        shared = self.shared(wanted[1])
        if mac(shared, wanted[2])[:16] != wanted[3]:
            return None
        decryptor = aes(shared).decryptor()
        salts = decryptor.update(wanted[2]) + decryptor.finalize()
        mode = self.mode()
        random = mac(self.master, b"other" if "other" in mode else b"random", name)
        made = b"".join(
            mac(random, b"" if "constant" in mode else salts[at:at + 32]) for at in range(0, len(salts), 32))
        encryptor = aes(shared).encryptor()
        return encryptor.update(made) + encryptor.finalize()

    def perform(self, message, line):
        command, body = message[0], message[1:]
        request = cbor2.loads(body) if body else {}
        if "hang-info" in self.mode():
            line.hang()
        if command == 4:
            return self.info()
        if command == 6:
            return self.client_pin(request)
        if command == 1:
            return self.make(request, line)
        if command == 2:
            return self.assertion(request, line)
        return 0x01, None


class Line:
    """One connection: CTAPHID."""

    def __init__(self, connection):
        self.connection = connection
        self.channel = b"\xff\xff\xff\xff"

    def report(self):
        report = self.connection.recv(REPORT)
        if len(report) != REPORT:
            raise Gone
        return report

    def message(self):
        report = self.report()
        self.channel, command, count = report[:4], report[4] & 0x7F, struct.unpack(">H", report[5:7])[0]
        message = report[7:]
        while len(message) < count:
            message += self.report()[5:]
        return command, message[:count]

    def send(self, command, message):
        packet = self.channel + bytes([command | 0x80]) + struct.pack(">H", len(message)) + message[:57]
        self.packet(packet)
        rest, sequence = message[57:], 0
        while rest:
            self.packet(self.channel + bytes([sequence]) + rest[:59])
            rest, sequence = rest[59:], sequence + 1

    def packet(self, packet):
        try:
            self.connection.send(packet.ljust(REPORT, b"\0"))
        except OSError as error:
            raise Gone from error

    def hang(self):
        while True:
            self.report()

    def touch(self, key):
        """Waits for it; the code of what became of that."""
        while True:
            mode = key.mode()
            if "vanish" in mode:
                os.unlink(key.path)
                sys.exit(0)
            if "hang" in mode:
                self.hang()
            if "refuse" in mode:
                return DENIED
            if "no-touch" not in mode:
                return OK
            self.send(KEEPALIVE, bytes([WAITS_FOR_TOUCH]))
            if select.select([self.connection], [], [], 0.05)[0]:
                if self.report()[4] & 0x7F == CANCEL:
                    return CANCELLED

    def serve(self, key):
        while True:
            command, message = self.message()
            if command == INIT:
                capabilities = 0x00 if "u2f" in key.mode() else 0x0C
                self.send(INIT, message[:8] + b"\0\0\0\1" + bytes([2, 1, 0, 0, capabilities]))
            elif command == CBOR:
                status, answer = key.perform(message, self)
                body = b"" if answer is None else cbor2.dumps(answer, canonical=True)
                if "garbage" in key.mode() and message[0] == 2:
                    body = b"\xff\x00garbage"
                self.send(CBOR, bytes([status]) + body)
            elif command != CANCEL:
                self.send(ERROR, b"\x01")


def main():
    path = sys.argv[1]
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path + ".new")
    listener.listen(8)
    key = Key(path)
    # Whoever finds it can connect.
    os.rename(path + ".new", path)
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                Line(connection).serve(key)
            except (Gone, OSError):
                continue


main()
