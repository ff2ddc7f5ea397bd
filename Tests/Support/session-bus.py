#!/usr/bin/python3
"""A session bus that says of its clients what a test wants to have said (D-Bus Specification
0.43, "Message Bus Specification"): with process descriptors, as dbus-daemon 1.16 does and
Debian 12's does not; without; and in ways that no bus has.

Usage: session-bus.py SOCKET MODE

  descriptor  ProcessFD and ProcessID
  number      ProcessID alone
  old         there is no GetConnectionCredentials
  forged      as descriptor; before each answer about a client come one that the service never
              asked for, and one to its question, both from another client
  silent      of the first client that asks the service something nothing is told
  late        as descriptor; of the first client that asks the service something, it is told
              once another has been answered
  file        ProcessFD is no process descriptor
  other       ProcessFD is of another process than ProcessID
  text        ProcessFD is a text
  missing     ProcessFD names a descriptor that does not come
  alone       ProcessFD and no ProcessID
  nobody      neither
"""

import array
import os
import selectors
import socket
import struct
import sys

from jeepney import DBusAddress, MessageType, new_error, new_method_return, new_signal
from jeepney.low_level import HeaderFields, Parser

SERVICE = "org.freedesktop.secrets"
BUS = DBusAddress("/org/freedesktop/DBus", bus_name="org.freedesktop.DBus", interface="org.freedesktop.DBus")
ERROR = "org.freedesktop.DBus.Error."
SO_PEERPIDFD = 77


class Client:
    def __init__(self, connection, number):
        self.socket, self.name, self.names = connection, f":1.{number}", set()
        self.parser, self.greeting, self.is_greeted = Parser(), b"", False
        # Nobody hears of others before it has heard its own name.
        self.follows_owners = False
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        self.process, self.user, _ = struct.unpack("3i", credentials)
        held = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, struct.calcsize("i"))
        self.held = struct.unpack("i", held)[0]

    def leave(self):
        self.socket.close()
        os.close(self.held)

    def send(self, message, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            sent = self.socket.sendmsg([message], rights)
            self.socket.sendall(message[sent:])
        except OSError:
            pass  # its end is read

    def greet(self, line):
        word = line.split(b" ")
        if word[:2] == [b"AUTH", b"EXTERNAL"]:
            self.socket.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n" if len(word) > 2 else b"DATA\r\n")
        elif word[0] == b"DATA":
            self.socket.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
        elif word[0] == b"NEGOTIATE_UNIX_FD":
            self.socket.sendall(b"AGREE_UNIX_FD\r\n")
        elif word[0] == b"BEGIN":
            self.is_greeted = True
        else:
            self.socket.sendall(b"REJECTED EXTERNAL\r\n")

    def take(self, data, descriptors):
        """The messages in it."""
        if not self.is_greeted:
            self.greeting = (self.greeting + data).lstrip(b"\0")
            data = b""
            while not self.is_greeted and b"\r\n" in self.greeting:
                line, _, self.greeting = self.greeting.partition(b"\r\n")
                self.greet(line)
            if self.is_greeted:
                data, self.greeting = self.greeting, b""
        self.parser.add_data(data, fds=descriptors)
        while (message := self.parser.get_next_message()) is not None:
            yield message


class Bus:
    def __init__(self, path, mode):
        self.mode, self.clients, self.count, self.serial = mode, {}, 0, 0
        self.first, self.late, self.has_answered = None, None, False
        self.null = os.open("/dev/null", os.O_RDONLY)
        self.itself = os.pidfd_open(os.getpid())
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path + ".new")
        self.listener.listen(512)
        # Whoever sees it can connect.
        os.rename(path + ".new", path)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def run(self):
        while True:
            for key, _ in self.selector.select():
                self.accept() if key.data is None else self.hear(key.data)

    def accept(self):
        connection, _ = self.listener.accept()
        self.count += 1
        client = Client(connection, self.count)
        self.clients[client.name] = client
        self.selector.register(connection, selectors.EVENT_READ, client)

    def hear(self, client):
        if client.name not in self.clients:
            return
        try:
            data, descriptors, _, _ = socket.recv_fds(client.socket, 1 << 16, 256)
        except OSError:
            data, descriptors = b"", []
        if not data:
            return self.end(client)
        for message in client.take(data, [SentDescriptor(number) for number in descriptors]):
            self.route(client, message)

    def end(self, client):
        self.selector.unregister(client.socket)
        del self.clients[client.name]
        client.leave()
        for name in sorted(client.names) + [client.name]:
            self.tell_owner(name, client.name, "")

    # Messages

    def owner(self, name):
        if name in self.clients:
            return self.clients[name]
        return next((client for client in self.clients.values() if name in client.names), None)

    def say(self, client, message, descriptors=()):
        self.serial += 1
        message.header.fields[HeaderFields.sender] = BUS.bus_name
        message.header.fields[HeaderFields.destination] = client.name
        client.send(message.serialise(self.serial, fds=array.array("i") if descriptors else None), descriptors)

    def tell_owner(self, name, old, new):
        for client in list(self.clients.values()):
            if client.follows_owners:
                self.say(client, new_signal(BUS, "NameOwnerChanged", "sss", (name, old, new)))

    def route(self, client, message):
        fields = message.header.fields
        destination = fields.get(HeaderFields.destination)
        if destination == BUS.bus_name:
            return self.answer(client, message)
        fields[HeaderFields.sender] = client.name
        if destination is None:
            receivers = [other for other in self.clients.values() if other is not client]
        else:
            receiver = self.owner(destination)
            if receiver is None:
                return self.say(client, new_error(message, ERROR + "ServiceUnknown", "s", (destination,)))
            receivers = [receiver]
        # Some that no argument names.
        descriptors = array.array("i", [self.null] * 200 if message.body == ("laden",) else [])
        data = message.serialise(message.header.serial, fds=descriptors)
        for receiver in receivers:
            receiver.send(data, list(descriptors))
        if self.late and message.header.message_type == MessageType.method_return and SERVICE in client.names:
            late, self.late, self.has_answered = self.late, None, True
            self.credentials(*late)

    # The bus itself

    def answer(self, client, message):
        member = message.header.fields.get(HeaderFields.member)
        method = getattr(self, "call_" + member, None)
        if method is None or member == "GetConnectionCredentials" and self.mode == "old":
            return self.say(client, new_error(message, ERROR + "UnknownMethod", "s", (member,)))
        method(client, message, *message.body)

    def reply(self, client, message, signature=None, *body):
        self.say(client, new_method_return(message, signature, body))

    def call_Hello(self, client, message):
        self.reply(client, message, "s", client.name)
        self.tell_owner(client.name, "", client.name)

    def call_AddMatch(self, client, message, rule):
        # Whoever wants no such signals does not read them either.
        client.follows_owners |= "NameOwnerChanged" in rule
        self.reply(client, message)

    def call_RemoveMatch(self, client, message, _):
        self.reply(client, message)

    def call_RequestName(self, client, message, name, _):
        if self.owner(name):
            return self.reply(client, message, "u", 3)
        client.names.add(name)
        self.reply(client, message, "u", 1)
        self.tell_owner(name, "", client.name)

    def call_NameHasOwner(self, client, message, name):
        self.reply(client, message, "b", name == BUS.bus_name or self.owner(name) is not None)

    def call_GetNameOwner(self, client, message, name):
        owner = BUS.bus_name if name == BUS.bus_name else getattr(self.owner(name), "name", None)
        if owner is None:
            return self.say(client, new_error(message, ERROR + "NameHasNoOwner", "s", (name,)))
        self.reply(client, message, "s", owner)

    def call_StartServiceByName(self, client, message, name, _):
        if self.owner(name) is None:
            return self.say(client, new_error(message, ERROR + "ServiceUnknown", "s", (name,)))
        self.reply(client, message, "u", 2)

    def call_GetConnectionUnixProcessID(self, client, message, name):
        if (asked := self.owner(name)) is None:
            return self.say(client, new_error(message, ERROR + "NameHasNoOwner", "s", (name,)))
        self.reply(client, message, "u", asked.process)

    def call_GetConnectionCredentials(self, client, message, name):
        if self.mode in ("late", "silent") and self.first is None:
            self.first = name
        if self.mode == "silent" and name == self.first:
            return
        if self.mode == "late" and name == self.first and not self.has_answered:
            self.late = (client, message, name)
            return
        if self.mode == "forged":
            self.forge(client, message)
        self.credentials(client, message, name)

    def forge(self, client, message):
        """What a bus lets through whose policy has no word on answers that nobody asked for."""
        for reply_to in (message.header.serial + 1000, message.header.serial):
            self.serial += 1
            answer = new_method_return(message, "a{sv}", ({"ProcessID": ("u", os.getpid())},))
            answer.header.fields[HeaderFields.reply_serial] = reply_to
            answer.header.fields[HeaderFields.sender] = ":1.4095"
            answer.header.fields[HeaderFields.destination] = client.name
            client.send(answer.serialise(self.serial))

    def credentials(self, client, message, name):
        if (asked := self.owner(name)) is None:
            return self.say(client, new_error(message, ERROR + "NameHasNoOwner", "s", (name,)))
        given = {"UnixUserID": ("u", asked.user)}
        if self.mode not in ("alone", "nobody"):
            given["ProcessID"] = ("u", asked.process)
        descriptors = {"file": [self.null], "other": [self.itself], "missing": []}.get(self.mode, [asked.held])
        if self.mode == "text":
            given["ProcessFD"] = ("s", "0")
        elif self.mode not in ("number", "nobody"):
            # Its place among the descriptors of the message.
            given["ProcessFD"] = ("u", 0)
        answer = new_method_return(message, "a{sv}", (given,))
        if self.mode in ("number", "nobody", "text"):
            return self.say(client, answer)
        # jeepney writes a descriptor as its own; what stands there here is up to the mode.
        self.serial += 1
        answer.header.fields[HeaderFields.sender] = BUS.bus_name
        answer.header.fields[HeaderFields.destination] = client.name
        if descriptors:
            answer.header.fields[HeaderFields.unix_fds] = len(descriptors)
        data = answer.serialise(self.serial)
        place = data.index(b"ProcessFD\0") + len(b"ProcessFD\0")
        assert data[place:place + 3] == b"\1u\0", data[place:]
        client.send(data[:place] + b"\1h\0" + data[place + 3:], descriptors)


class SentDescriptor:
    """One that is on its way through; closed once it has been sent on."""

    def __init__(self, number):
        self.number = number

    def fileno(self):
        return self.number

    def close(self):
        number, self.number = self.number, -1
        if number >= 0:
            os.close(number)

    __del__ = close


if __name__ == "__main__":
    Bus(*sys.argv[1:]).run()
