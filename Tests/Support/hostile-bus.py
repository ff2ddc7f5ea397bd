#!/usr/bin/python3
"""Attacks on the service that serves org.freedesktop.secrets at DBUS_SESSION_BUS_ADDRESS, be it
a bus or the service's own socket: messages that no library would send, written byte by byte
(D-Bus Specification 0.43, "Message Format"), and clients that leave in the middle of theirs.
After each another client is served; after all of them nothing is left of them: no session, no
descriptor, no memory to speak of.

Usage: hostile-bus.py messages|departures|sessions|mutations SEED [COUNT]
"""

import os
import random
import re
import socket
import struct
import sys
from pathlib import Path

NAME, ROOT, S = "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret."
LOGIN = ROOT + "/collection/login"
DBUS, STANDARD = "org.freedesktop.DBus", "org.freedesktop.DBus.Error."
CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE, UNIX_FDS = range(1, 10)
SOCKET = re.match("unix:path=([^,;]*)", os.environ["DBUS_SESSION_BUS_ADDRESS"]).group(1)
# The service's own socket lies in a folder of its own.
IS_DIRECT = "latchkey-bus" in SOCKET
PATIENCE = 60
NO_REPLY = 1


# What is written


def types(signature):
    """The complete types of a signature, one after the other."""
    depth, start = 0, 0
    for index, letter in enumerate(signature):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(letter, 0)
        if depth == 0 and letter != "a":
            yield signature[start:index + 1]
            start = index + 1


class Writer:
    """Marshals values as the specification says; `order` is "<" or ">"."""

    NUMBERS = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I"}

    def __init__(self, order="<"):
        self.order, self.out = order, bytearray()

    def align(self, size):
        self.out += bytes(-len(self.out) % size)

    def number(self, letter, value):
        code = self.order + self.NUMBERS[letter]
        self.align(struct.calcsize(code))
        self.out += struct.pack(code, value)

    def values(self, signature, values):
        for kind, value in zip(types(signature), values):
            self.value(kind, value)
        return self

    def value(self, kind, value):
        if kind in self.NUMBERS:
            self.number(kind, value)
        elif kind in ("s", "o"):
            text = value.encode() if isinstance(value, str) else value
            self.number("u", len(text))
            self.out += text + b"\0"
        elif kind == "g":
            self.out += bytes([len(value)]) + value.encode() + b"\0"
        elif kind == "v":
            self.value("g", value[0])
            self.values(value[0], [value[1]])
        elif kind[0] == "a":
            self.array(kind[1:], value)
        else:
            self.align(8)
            self.values(kind[1:-1], value)

    def array(self, kind, values):
        self.number("u", 0)
        place = len(self.out) - 4
        self.align(8 if kind[0] in "({xtd" else 1)
        start = len(self.out)
        if kind == "y":
            self.out += bytes(values)
        else:
            for value in values.items() if isinstance(values, dict) else values:
                self.value(kind, value)
        self.out[place:place + 4] = struct.pack(self.order + "I", len(self.out) - start)


def message(member="ReadAlias", signature="s", values=("default",), **changed):
    """A message; by name whatever of it is to be another than a library would write."""
    given = {
        "path": ROOT, "interface": S + "Service", "destination": NAME, "endian": "l", "type": CALL, "flags": 0,
        "version": 1, "serial": 7, "without": (), "more": [], "body": None, "body_length": None,
        "fields_length": None, "fds": None, **changed,
    }
    order = ">" if given["endian"] == "B" else "<"
    body = given["body"]
    if body is None:
        body = bytes(Writer(order).values(signature, values).out)
    fields = [
        (PATH, "o", given["path"]), (INTERFACE, "s", given["interface"]), (MEMBER, "s", member),
        (DESTINATION, "s", given["destination"]), (SIGNATURE, "g", signature), (UNIX_FDS, "u", given["fds"]),
    ]
    fields = [field for field in fields if field[0] not in given["without"] and field[2] not in (None, "no")]
    if not signature:
        fields = [field for field in fields if field[0] != SIGNATURE]
    head = Writer(order)
    for value in (ord(given["endian"]), given["type"], given["flags"], given["version"]):
        head.number("y", value)
    head.number("u", len(body) if given["body_length"] is None else given["body_length"])
    head.number("u", given["serial"])
    head.array("(yv)", [(code, (kind, value)) for code, kind, value in fields + given["more"]])
    if given["fields_length"] is not None:
        head.out[12:16] = struct.pack(order + "I", given["fields_length"])
    head.align(8)
    return bytes(head.out) + body


def hello(serial=1):
    return message("Hello", "", (), path="/org/freedesktop/DBus", interface=DBUS, destination=DBUS, serial=serial)


# The service's answer comes behind those to whatever was sent before.
def ping(serial=99):
    return message("Ping", "", (), interface=DBUS + ".Peer", serial=serial)


# Who writes and reads


class Gone(Exception):
    """The other side has ended the connection."""


class Client:
    GREETING = b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n"

    def __init__(self, greet=True):
        self.socket = socket.socket(socket.AF_UNIX)
        # A socket with Python's own time limit does not wait where many connect at once.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE, 0))
        self.socket.connect(SOCKET)
        self.socket.settimeout(PATIENCE)
        self.inbox, self.serial = b"", 1000
        if greet:
            self.send(self.GREETING)
            self.skip_greeting()
            self.send(hello())
            self.until(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        self.socket.close()

    def send(self, data, fds=()):
        try:
            if fds:
                sent = socket.send_fds(self.socket, [data], fds)
                data = data[sent:]
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise Gone from None

    def more(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Gone
        self.inbox += data

    def skip_greeting(self):
        while self.inbox.count(b"\r\n") < 2:
            self.more()
        assert self.inbox.startswith(b"OK "), self.inbox
        self.inbox = self.inbox.split(b"\r\n", 2)[2]

    def read(self):
        """Type, serial that is answered, name of the error, body."""
        while len(self.inbox) < 16:
            self.more()
        order = "<" if self.inbox[:1] == b"l" else ">"
        body, _, fields = struct.unpack(order + "III", self.inbox[4:16])
        start = (16 + fields + 7) // 8 * 8
        while len(self.inbox) < start + body:
            self.more()
        whole, self.inbox = self.inbox[:start + body], self.inbox[start + body:]
        found, at = {}, 16
        while at < 16 + fields:
            at = (at + 7) // 8 * 8
            code, kind = whole[at], chr(whole[at + 2])
            at += 4
            if kind == "g":
                length = whole[at]
                found[code], at = whole[at + 1:at + 1 + length].decode(), at + length + 2
                continue
            at = (at + 3) // 4 * 4
            number, at = struct.unpack(order + "I", whole[at:at + 4])[0], at + 4
            if kind == "u":
                found[code] = number
            else:
                found[code], at = whole[at:at + number].decode(), at + number + 1
        return whole[1], found.get(REPLY_SERIAL), found.get(ERROR_NAME), whole[start:]

    def until(self, serial):
        """The answer to a message, and on the way those to others."""
        others = {}
        while True:
            kind, answered, error, body = self.read()
            if kind not in (RETURN, ERROR):
                continue
            if answered == serial:
                return error, body, others
            others[answered] = error or "answered"

    def call(self, *arguments, **changed):
        self.serial += 1
        self.send(message(*arguments, serial=self.serial, **changed))
        error, body, _ = self.until(self.serial)
        if error:
            raise AssertionError(f"{arguments}: {error} {body[4:]!r}")
        return body


def text(body):
    """A string or a path, which the body is."""
    return body[4:4 + struct.unpack("<I", body[:4])[0]].decode()


class Honest(Client):
    """Who is served while others attack, and what the service has of all of them."""

    def __init__(self):
        super().__init__()
        self.session = self.open_session()
        self.store("kept", b"the value")
        self.process = self.service()
        self.paths, self.descriptors, self.memory = self.sessions(), self.count_descriptors(), self.resident()

    def open_session(self):
        body = self.call("OpenSession", "sv", ["plain", ("s", "")])
        return text(body[body.index(b"/org") - 4:])

    def store(self, name, value):
        self.call(*create(self.session, name, value), path=LOGIN, interface=S + "Collection")

    def is_served(self):
        assert text(self.call()) == LOGIN
        body = self.call("SearchItems", "a{ss}", [{"name": "kept"}])
        assert body.count(LOGIN.encode()) == 1, body

    def sessions(self):
        body = self.call("Introspect", "", (), path=ROOT + "/session", interface=DBUS + ".Introspectable")
        return set(re.findall('node name="([^"]+)"', text(body)))

    def service(self):
        """The process that serves, in this home."""
        home = b"HOME=" + os.environ["HOME"].encode()
        for process in Path("/proc").iterdir():
            try:
                if (process / "comm").read_text() == "latchkey-secre\n"[:15] + "\n" or (
                        (process / "comm").read_text().startswith("latchkey-secret")):
                    if home in (process / "environ").read_bytes().split(b"\0"):
                        return process
            except OSError:
                continue
        raise SystemExit("no service runs here")

    def count_descriptors(self):
        return len(list((self.process / "fd").iterdir()))

    def resident(self):
        """KiB"""
        return int(re.search(r"VmRSS:\s+(\d+)", (self.process / "status").read_text()).group(1))

    def nothing_is_left(self):
        """Each call has the service's loop go around once more."""
        for _ in range(2000):
            self.is_served()
            # Beside what was there: calls of the keychain have connections that come and go.
            if self.sessions() == self.paths and self.count_descriptors() <= self.descriptors + 3:
                break
        else:
            raise SystemExit(f"left: {self.sessions() - self.paths}, "
                             f"{self.count_descriptors()} descriptors where {self.descriptors} were")
        grown = self.resident() - self.memory
        assert grown < 48 << 10, f"{grown} KiB more"
        self.call("Close", "", (), path=self.session, interface=S + "Session")


def create(session, name, value, replace=1):
    properties = {S + "Item.Label": ("s", name), S + "Item.Attributes": ("a{ss}", {"name": name})}
    return "CreateItem", "a{sv}(oayays)b", [properties, (session, b"", value, "text/plain"), replace]


# Messages


def collection(*arguments, **changed):
    return message(*arguments, path=LOGIN, interface=S + "Collection", **changed)


def retrieve(fds, **changed):
    return message(
        "RetrieveSecret", "osha{sv}", ["/h", "app", 0, {}], path="/org/freedesktop/portal/desktop",
        interface="org.freedesktop.impl.portal.Secret", fds=fds, **changed)


def nested(depth):
    value = ("s", "deep")
    for _ in range(depth):
        value = ("v", value)
    return value


def malformed():
    """What breaks the specification: a name, the bytes, and whether they may swallow what follows."""
    good = message()
    yield "endianness", b"X" + good[1:], False
    for number in (0, 2, 255):
        yield f"version {number}", message(version=number), False
    yield "type 0", message(type=0), False
    yield "serial 0", message(serial=0), False
    for missing in (PATH, MEMBER):
        yield f"no field {missing}", message(without=(missing,)), False
    yield "answer to nothing", message(type=RETURN, without=(PATH, INTERFACE, MEMBER)), False
    yield "signal without interface", message(type=SIGNAL, without=(INTERFACE,)), False
    yield "error without a name", message(type=ERROR, more=[(REPLY_SERIAL, "u", 1)]), False
    for path in ("", "//", "/a/", "a", "/a-b", "/ä", "/\0"):
        yield f"path {path!r}", message(path=path), False
    for name in ("org", "1.a", ".a.b", "a..b", "a.b" * 100, "a b.c"):
        yield f"interface {name[:9]!r}", message(interface=name), False
    for name in ("", "a.b", "1a", "a" * 300, "a-b"):
        yield f"member {name[:9]!r}", message(name), False
    yield "path of another type", message(without=(PATH,), more=[(PATH, "s", ROOT)]), False
    yield "signature of another type", message(without=(SIGNATURE,), more=[(SIGNATURE, "s", "s")]), False
    yield "field 0", message(more=[(0, "s", "x")]), False
    yield "two paths", message(more=[(PATH, "o", "/other")]), False
    for length in (1, 3, len(good), 0x0400_0001, 0x7FFF_FFFF, 0xFFFF_FFFF):
        yield f"fields of {length} bytes", message(fields_length=length), True
    for signature in ("a", "(", ")", "()", "a{vs}", "a{s}", "{ss}", "z", "s" * 255, "a" * 33 + "s",
                      "(" * 33 + "s" + ")" * 33, "a(" * 20 + "s" + ")" * 20):
        yield f"signature {signature[:12]}", message("SearchItems", body=b"\0" * 64, signature=signature, values=()), False
    yield "a body without a signature", message(signature="", values=(), body=b"\4\0\0\0abcd\0"), False
    yield "no body", message("SearchItems", "a{ss}", body=b""), False
    for less in (1, 2, 5):
        yield f"body cut by {less}", message(body_length=len(good) - len(good) // 8 * 8 + 12 - less), True
    for length in (1 << 12, 0x07FF_FFFF, 0x0800_0001, 0xFFFF_FFFF):
        yield f"body of {length} bytes", message(body_length=length), True
    yield "text without an end", message(body=b"\7\0\0\0default"), False
    yield "text with a zero", message(body=b"\7\0\0\0de\0ault\0"), False
    yield "text that is no UTF-8", message(body=b"\7\0\0\0de\xff\xfeult\0"), False
    for length in (8, 0x100, 0x7FFF_FFFF, 0xFFFF_FFFF):
        yield f"text of {length} bytes", message(body=struct.pack("<I", length) + b"default\0"), False
    pairs = bytes(Writer().values("a{ss}", [{"a": "b", "c": "d"}]).out)
    for length in (1, len(pairs), 0x0400_0001, 0xFFFF_FFF8, 0xFFFF_FFFF):
        yield f"array of {length} bytes", message("SearchItems", "a{ss}", body=struct.pack("<I", length) + pairs[4:]), False
    yield "padding that is not zero", message("SearchItems", "a{ss}", body=pairs[:4] + b"\1\2\3\4" + pairs[8:]), False
    for inner in (b"\0\0", b"\2ss\0", b"\1z\0", b"\1a\0", b"\x7fs\0", b"\1s"):
        start = b"\5\0\0\0plain\0" + inner
        yield f"variant {inner}", message("OpenSession", "sv", body=start + bytes(-len(start) % 4) + bytes(8)), False
    yield "variants in each other", message("OpenSession", "sv", ["plain", nested(70)]), False
    yield "a flag of 2", collection("CreateItem", "b", body=struct.pack("<I", 2)), False
    yield "a descriptor that did not come", retrieve(1), False
    yield "descriptors that are not said", retrieve(None), False


def refused():
    """What the specification allows and the service has not, with the error that it is."""
    none = STANDARD + "UnknownMethod"
    invalid = STANDARD + "InvalidArgs"
    properties = DBUS + ".Properties"
    item = LOGIN + "/g" + "0" * 32
    for path in ("/", "/org", "/none", ROOT + "/collection", ROOT + "/collection/none", LOGIN + "/x", item + "/more",
                 LOGIN + "/g" + "z" * 32, ROOT + "/aliases/none", ROOT + "/session/s99999", ROOT + "/prompt/u1",
                 "/" + "a" * 60_000, "/a" * 30_000):
        yield message(path=path), none
    for interface in ("a.b", S + "Item", S + "Prompt", "org.freedesktop.impl.portal.Secret", DBUS):
        yield message(interface=interface), none
    for member in ("readalias", "ReadAliasX", "Hello", "A" * 255):
        yield message(member), none
    yield message("Close", "", (), path=ROOT + "/session/s1"), none
    for signature, values in (("", ()), ("u", [1]), ("ss", ["a", "b"]), ("o", ["/a"]), ("ay", [b"x"]), ("v", [("s", "a")])):
        yield message("ReadAlias", signature, values), none if len(values) != 1 else invalid
        yield message("SearchItems", signature, values), none if len(values) != 1 else invalid
    for member in ("Get", "Set", "GetAll", "Take"):
        yield message(member, "u", [1], interface=properties), invalid
    yield message("Get", "ss", [S + "Service", "Colour"], interface=properties), STANDARD + "UnknownProperty"
    yield message("Set", "ssv", [S + "Service", "Collections", ("s", "x")], interface=properties), STANDARD + "PropertyReadOnly"
    yield message("Get", "ss", [S + "Item", "Label"], interface=properties, path=item), none
    yield message("OpenSession", "sv", ["rot13", ("s", "")]), STANDARD + "NotSupported"
    dh = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    for key in (b"", bytes(128), b"\1", b"\xff" * 128, b"\xff" * 129, b"x" * (1 << 20)):
        yield message("OpenSession", "sv", [dh, ("ay", key)]), invalid
    yield message("OpenSession", "sv", [dh, ("s", "")]), invalid
    yield message("OpenSession", "sv", ["plain", ("ay", b"")]), invalid
    yield message("OpenSession", "sv", ["plain", nested(12)]), invalid
    for session in ("/", ROOT, ROOT + "/session/s1x", LOGIN):
        yield collection(*create(session, "n", b"v")), S + "Error.NoSession"
        yield message("GetSecrets", "aoo", [[item], session]), S + "Error.NoSession"
    yield collection("CreateItem", "a{sv}(oayay)b", [{}, ("/", b"", b""), 1]), invalid
    yield message("Unlock", "ao", [["/a"] * 100_001]), invalid
    yield message("SearchItems", "a{ss}", [{str(n): "" for n in range(300)}]), STANDARD + "LimitsExceeded"
    yield message("SearchItems", "a{ss}", [[("a", "b"), ("a", "c")]]), invalid
    yield message("SearchItems", "a{ss}", [{"a": "x" * (1 << 20), "b": "y" * (3 << 20)}]), None
    yield message("SearchItems", "a{sv}", [{"a": ("s", "b")}]), invalid
    yield message("SearchItems", "as", [["x"] * 99_000]), invalid
    yield message("CreateCollection", "a{sv}s", [{str(n): ("v", ("ay", b"x")) for n in range(30_000)}, "a-b"]), None
    yield message("SetAlias", "so", ["a/b", LOGIN]), invalid
    yield message("SetAlias", "so", ["x", "/none"]), S + "Error.NoSuchObject"
    yield message("UnlockWithMasterPassword", "o(oayays)", [LOGIN, ("/", b"", b"", "")],
                  interface="org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"), S + "Error.NoSession"


def unasked():
    """What needs no answer: answers to nobody, signals that others send, calls that want none."""
    yield message(type=RETURN, without=(PATH, INTERFACE, MEMBER), more=[(REPLY_SERIAL, "u", 1)])
    for serial in (1, 2, 3, 0x7FFF_FFFF):
        more = [(REPLY_SERIAL, "u", serial), (ERROR_NAME, "s", S + "Error.IsLocked")]
        yield message(type=ERROR, without=(PATH, INTERFACE, MEMBER), more=more)
    for name in (":2.1", ":1.0", ":1.1", NAME):
        yield message("NameOwnerChanged", "sss", [name, name, ""], type=SIGNAL, interface=DBUS, path="/org/freedesktop/DBus",
                      more=[(SENDER, "s", DBUS)] if IS_DIRECT else [])
    yield message("Disconnected", "", (), type=SIGNAL, interface=DBUS + ".Local", path=DBUS_LOCAL) if IS_DIRECT else message()
    yield message("OpenSession", "sv", ["plain", ("s", "")], flags=NO_REPLY)
    yield message("Sing", "", (), flags=NO_REPLY)
    yield message(flags=0xFE)
    yield message(type=17)
    yield message(more=[(200, "a{sv}", {"x": ("s", "y")})])
    yield message(endian="B")
    yield message(without=(INTERFACE,))


DBUS_LOCAL = "/org/freedesktop/DBus/Local"


def messages(honest):
    for name, data, swallows in malformed():
        with Client() as client:
            try:
                client.send(data if swallows else data + ping())
                if not swallows:
                    _, _, others = client.until(99)
                    # Of the version sd-bus takes no notice.
                    assert others.get(7) != "answered" or name.startswith("version"), f"{name} was served"
            except Gone:
                pass
            honest.is_served()
    with Client() as client:
        for data, error in refused():
            client.send(data)
            found, _, _ = client.until(7)
            assert found == error or error is None and found, f"{found} where {error} was expected: {data[:200]!r}"
        client.send(message("Close", "", (), path=honest.session, interface=S + "Session"))
        assert client.until(7)[0] == STANDARD + "UnknownMethod", "another client's session was closed"
        honest.is_served()
        for data in unasked():
            client.send(data + ping())
            try:
                client.until(99)
            except Gone:
                # A bus sends away whoever answers what nobody asked.
                client.leave()
                client.__init__()
            honest.is_served()
    descriptors(honest)
    greetings(honest)


def descriptors(honest):
    """More of them than anything takes, more than are said, and one that is named again and again."""
    full, end = os.pipe()
    try:
        for count, said in ((253, 253), (1, 253), (253, 1), (64, None), (1, 1)):
            with Client() as client:
                try:
                    client.send(retrieve(said) + ping(), [end] * count)
                    client.until(99)
                except Gone:
                    pass
                honest.is_served()
        many = message("SearchItems", "ah", [[0] * 5000], fds=1)
        for _ in range(4):
            with Client() as client:
                try:
                    client.send(many + ping(), [end])
                    _, _, others = client.until(99)
                    assert others[7] != "answered"
                except Gone:
                    pass
                honest.is_served()
    finally:
        os.close(full)
        os.close(end)


def greetings(honest):
    """What comes before any message."""
    start = b"\0AUTH EXTERNAL "
    for data in (b"", b"\0", b"\0\r\n" * 100, b"AUTH", start + b"\r\nBEGIN\r\n", start + b"zz\r\nBEGIN\r\n",
                 b"\0AUTH ANONYMOUS\r\nBEGIN\r\n" + hello(), b"\0BEGIN\r\n" + hello(), b"\0" + b"A" * (1 << 20),
                 b"\0AUTH\r\n" * 5000, Client.GREETING + Client.GREETING, Client.GREETING + ping() + ping(),
                 b"\0AUTH EXTERNAL 31\r\n" * 50, Client.GREETING[:-2] + b"\n" + hello()):
        with Client(greet=False) as client:
            try:
                client.send(data)
            except Gone:
                pass
            honest.is_served()


# Departures


def valid(session):
    """One of each call, as a library would write them."""
    item = LOGIN + "/g" + "0" * 32
    properties = DBUS + ".Properties"
    yield message("OpenSession", "sv", ["plain", ("s", "")])
    yield message("OpenSession", "sv", ["dh-ietf1024-sha256-aes128-cbc-pkcs7", ("ay", bytes(range(128)))])
    yield message("SearchItems", "a{ss}", [{"name": "kept"}])
    yield message("Unlock", "ao", [[LOGIN, item, ROOT + "/aliases/default"]])
    yield message("Lock", "ao", [[LOGIN]])
    yield message("GetSecrets", "aoo", [[item], session])
    yield message()
    yield message("SetAlias", "so", ["other", LOGIN])
    yield message("CreateCollection", "a{sv}s", [{S + "Collection.Label": ("s", "Made")}, "made"])
    yield collection(*create(session, "theirs", b"a value", replace=1))
    yield collection("SearchItems", "a{ss}", [{"name": "kept", "other": "x"}])
    yield message("Get", "ss", [S + "Service", "Collections"], interface=properties)
    yield message("GetAll", "s", [S + "Collection"], interface=properties, path=LOGIN)
    yield message("GetAll", "s", [S + "Item"], interface=properties, path=item)
    yield message("Set", "ssv", [S + "Item", "Attributes", ("a{ss}", {"a": "b"})], interface=properties, path=item)
    yield message("Set", "ssv", [S + "Collection", "Label", ("s", "Login")], interface=properties, path=LOGIN)
    yield message("GetSecret", "o", [session], path=item, interface=S + "Item")
    yield message("SetSecret", "(oayays)", [(session, b"", b"v", "text/plain")], path=item, interface=S + "Item")
    yield message("Delete", "", (), path=item, interface=S + "Item")
    yield message("Delete", "", (), path=ROOT + "/collection/none", interface=S + "Collection")
    yield message("Close", "", (), path=session, interface=S + "Session")
    yield message("Prompt", "s", [""], path=ROOT + "/prompt/u1", interface=S + "Prompt")
    yield message("Introspect", "", (), interface=DBUS + ".Introspectable")
    yield message("Ping", "", (), interface=DBUS + ".Peer")
    yield retrieve(1)


def departures(honest, random):
    for number, data in enumerate(valid("/session")):
        for cut in sorted({len(data), len(data) - 1, 1, 15, 16, *(random.randrange(1, len(data)) for _ in range(6))}):
            with Client() as client:
                if number % 3 == 0:
                    client.send(message("OpenSession", "sv", ["plain", ("s", "")]) * 3)
                client.send(data[:cut])
                if cut % 2:
                    client.socket.shutdown(socket.SHUT_WR)
        honest.is_served()
    # After any number of calls: what is looked at in one go, and what comes with the end itself.
    for count in range(1, 70):
        for leave in ("close", "shut"):
            client = Client(greet=False)
            client.send(Client.GREETING + hello() + message() * count)
            if leave == "shut":
                client.socket.shutdown(socket.SHUT_WR)
            else:
                client.leave()
            honest.is_served()
            client.leave()
    for cut in range(len(Client.GREETING)):
        with Client(greet=False) as client:
            client.send(Client.GREETING[:cut])
    honest.is_served()


# Sessions


def sessions(honest):
    opening = message("OpenSession", "sv", ["plain", ("s", "")])
    with Client() as client:
        for number in range(1, 4141):
            client.send(opening)
            assert client.until(7)[0] is None
        # Those that were longest not used made room.
        assert len(honest.sessions() - honest.paths) == 4096
        with Client() as other:
            other.send(opening)
            assert other.until(7)[0] is None
            assert len(honest.sessions() - honest.paths) == 4097
    honest.is_served()
    clients = [Client() for _ in range(40)]
    for client in clients:
        client.send(opening * 10 + message("OpenSession", "sv", ["plain", ("s", "")], flags=NO_REPLY) * 10)
    for client in clients[::2]:
        client.until(7)
    for client in clients:
        client.leave()
    # A process that is killed with a session open, and in the middle of a call.
    for _ in range(10):
        child = os.fork()
        if child == 0:
            client = Client()
            client.send(opening + collection("SearchItems", "a{ss}", [{}])[:-3])
            os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
    honest.is_served()


# Mutations


def mutated(data, others, random):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        place, kind = random.randrange(len(data)), random.randrange(8)
        if kind == 0:
            data[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[place] = random.randrange(256)
        elif kind == 2:
            number = random.choice((0, 1, 7, 0x7F, 0xFF, 0x100, 0xFFFF, 0x0400_0001, 0x7FFF_FFFF, 0xFFFF_FFFF))
            place = place // 4 * 4
            data[place:place + 4] = struct.pack("<I", number)
        elif kind == 3:
            del data[place:place + random.randrange(1, 9)]
        elif kind == 4:
            data[place:place] = bytes(random.randrange(256) for _ in range(random.randrange(1, 9)))
        elif kind == 5:
            other = random.choice(others)
            data[place:] = other[min(place, len(other)):]
        elif kind == 6:
            letters = b"sogvaybuxth(){}"
            data[place] = random.choice(letters)
        else:
            end = place + random.randrange(1, 32)
            data[place:place] = data[place:end]
        if len(data) < 16:
            data += bytes(16 - len(data))
    if random.randrange(3):
        # So that what is behind the header is read at all.
        body = max(0, len(data) - (16 + struct.unpack("<I", data[12:16])[0] + 7) // 8 * 8)
        data[4:8] = struct.pack("<I", body)
    return bytes(data)


def mutations(honest, random, count):
    for number in range(count):
        with Client(greet=False) as client:
            # Written to a session of its own, which the second on this connection is.
            others = list(valid(honest.session))
            data = mutated(random.choice(others), others, random)
            try:
                client.send(Client.GREETING + hello() + data + ping())
                client.socket.shutdown(socket.SHUT_WR)
                while True:
                    client.more()
            except (Gone, OSError) as error:
                assert not isinstance(error, TimeoutError), f"mutation {number} keeps it waiting: {data!r}"
        if number % 50 == 0:
            honest.is_served()


def main():
    attack, seed = sys.argv[1], int(sys.argv[2])
    print(f"seed {seed}", flush=True)
    shower = random.Random(seed)
    honest = Honest()
    process = honest.process
    if attack == "messages":
        messages(honest)
    elif attack == "departures":
        departures(honest, shower)
    elif attack == "sessions":
        sessions(honest)
    else:
        mutations(honest, shower, int(sys.argv[3]))
    honest.nothing_is_left()
    assert honest.service() == process, "the service was started anew"
    print(f"{honest.resident() - honest.memory} KiB more, {honest.count_descriptors() - honest.descriptors} descriptors")
    print("done")


if __name__ == "__main__":
    main()
