#!/usr/bin/python3
"""A Secret Service with a locked collection, whose prompt ends as a test wants (freedesktop.org
"Secret Service API Draft", 0.2, "Prompts and Prompting"). What it is asked for besides reading
it writes to standard output, a word a line.

Usage: locked-provider.py MODE

  accepted   a person types the password
  dismissed  a person declines
  silent     nobody answers
  leaving    the program ends while a person is asked
  refused    the prompt is not shown
"""

import os
import sys

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection
from secretstorage.dhcrypto import Session, int_to_bytes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

S = "org.freedesktop.Secret."
ROOT = "/org/freedesktop/secrets"
PROMPT, SESSION = ROOT + "/prompt/p1", ROOT + "/session/s1"
COLLECTIONS = {ROOT + "/collection/locked": "The locked", ROOT + "/collection/open": "The open"}


class Provider:
    def __init__(self, mode):
        self.mode, self.locked, self.key = mode, True, None
        self.bus = open_dbus_connection("SESSION")
        self.bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.secrets"))

    def run(self):
        while True:
            message = self.bus.receive()
            if message.header.message_type != MessageType.method_call:
                continue
            fields = message.header.fields
            path, member = fields[HeaderFields.path], fields[HeaderFields.member]
            method = getattr(self, "call_" + member, None)
            if method is None:
                self.bus.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
            else:
                method(message, path, *message.body)

    def reply(self, message, signature=None, *body):
        self.bus.send(new_method_return(message, signature, body))

    def call_OpenSession(self, message, path, algorithm, theirs):
        session = Session()
        session.set_server_public_key(int.from_bytes(theirs[1], "big"))
        self.key = session.aes_key
        self.reply(message, "vo", ("ay", int_to_bytes(session.my_public_key)), SESSION)

    def call_ReadAlias(self, message, path, alias):
        self.reply(message, "o", "/")

    def call_GetAll(self, message, path, interface):
        if interface == S + "Service":
            given = {"Collections": ("ao", list(COLLECTIONS))}
        elif interface == S + "Collection":
            is_locked = self.locked and path.endswith("/locked")
            given = {
                "Label": ("s", COLLECTIONS[path]), "Locked": ("b", is_locked),
                "Items": ("ao", [] if is_locked else [path + "/1"]),
            }
        else:
            given = {
                "Label": ("s", "item of " + path.split("/")[-2]), "Attributes": ("a{ss}", {"place": path}),
                "Created": ("t", 1_700_000_000), "Modified": ("t", 1_700_000_001),
            }
        self.reply(message, "a{sv}", given)

    def call_GetSecrets(self, message, path, items, session):
        secrets = {}
        for item in items:
            if self.locked and "/locked/" in item:
                continue
            vector = os.urandom(16)
            encryptor = Cipher(algorithms.AES(self.key), modes.CBC(vector)).encryptor()
            value = ("value of " + item.split("/")[-2]).encode()
            length = 16 - len(value) % 16
            value += bytes([length]) * length
            secrets[item] = (SESSION, vector, encryptor.update(value) + encryptor.finalize(), "text/plain")
        self.reply(message, "a{o(oayays)}", secrets)

    # Locks

    def call_Unlock(self, message, path, objects):
        self.reply(message, "aoo", [], PROMPT)

    def call_Lock(self, message, path, objects):
        print("locked", flush=True)
        self.locked = True
        self.reply(message, "aoo", objects, "/")

    def call_Prompt(self, message, path, window):
        print("prompted", flush=True)
        if self.mode == "refused":
            return self.bus.send(new_error(message, "org.freedesktop.DBus.Error.Failed", "s", ("no display",)))
        self.reply(message)
        if self.mode == "leaving":
            sys.exit(0)
        if self.mode in ("accepted", "dismissed"):
            self.locked = self.mode == "dismissed"
            # Of another prompt, which is not ours to wait for, and then of this one.
            for place, is_dismissed in ((PROMPT + "0", True), (PROMPT, self.locked)):
                address = DBusAddress(place, interface=S + "Prompt")
                unlocked = [] if is_dismissed else list(COLLECTIONS)[:1]
                self.bus.send(new_signal(address, "Completed", "bv", (is_dismissed, ("ao", unlocked))))

    def call_Dismiss(self, message, path):
        print("dismissed", flush=True)
        self.reply(message)


if __name__ == "__main__":
    Provider(sys.argv[1]).run()
