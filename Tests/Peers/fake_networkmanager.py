"""As much of NetworkManager (its D-Bus API, 1.42) as an agent registers with, and what it
then calls. Each line of standard input is ["METHOD", connection, ...]; each line of standard
output is what the agent answered, and before these "registered".
"""

import json
import sys
import threading

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.NetworkManager"
ROOT = "/org/freedesktop/NetworkManager"


class Objects(dbus.service.Object):
    @dbus.service.method("org.freedesktop.DBus.ObjectManager", out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        manager = dbus.Dictionary({
            "Version": "1.42.4", "State": dbus.UInt32(70), "Startup": False, "NetworkingEnabled": True,
            "WirelessEnabled": True, "Connectivity": dbus.UInt32(4),
            "Devices": dbus.Array([], signature="o"), "AllDevices": dbus.Array([], signature="o"),
            "ActiveConnections": dbus.Array([], signature="o"), "PrimaryConnection": dbus.ObjectPath("/"),
            "ActivatingConnection": dbus.ObjectPath("/")}, signature="sv")
        settings = dbus.Dictionary(
            {"Connections": dbus.Array([], signature="o"), "Hostname": "host", "CanModify": True}, signature="sv")
        return dbus.Dictionary({
            dbus.ObjectPath(ROOT): {NAME: manager},
            dbus.ObjectPath(f"{ROOT}/Settings"): {f"{NAME}.Settings": settings},
            dbus.ObjectPath(f"{ROOT}/AgentManager"): {f"{NAME}.AgentManager": dbus.Dictionary({}, signature="sv")},
        }, signature="oa{sa{sv}}")


class Manager(dbus.service.Object):
    @dbus.service.method(NAME, out_signature="a{ss}")
    def GetPermissions(self):
        return dbus.Dictionary({}, signature="ss")


class Agents(dbus.service.Object):
    agent = None

    @dbus.service.method(f"{NAME}.AgentManager", in_signature="s", sender_keyword="sender")
    def Register(self, identifier, sender):
        self.register(sender)

    @dbus.service.method(f"{NAME}.AgentManager", in_signature="su", sender_keyword="sender")
    def RegisterWithCapabilities(self, identifier, capabilities, sender):
        self.register(sender)

    @dbus.service.method(f"{NAME}.AgentManager")
    def Unregister(self):
        self.agent = None

    def register(self, sender):
        self.agent = sender
        # Its answer goes first.
        GLib.idle_add(say, "registered")


def say(value):
    print(json.dumps(value), flush=True)


def connection(settings: dict) -> dbus.Dictionary:
    """a{sa{sv}}"""
    def value(name, one):
        if name == "ssid":
            return dbus.ByteArray(one.encode())
        return dbus.UInt32(one) if isinstance(one, int) else dbus.String(one)

    return dbus.Dictionary({
        setting: dbus.Dictionary({name: value(name, one) for name, one in values.items()}, signature="sv")
        for setting, values in settings.items()}, signature="sa{sv}")


def plain(value):
    if isinstance(value, dbus.Dictionary):
        return {str(name): plain(one) for name, one in value.items()}
    return str(value) if isinstance(value, str) else int(value) if isinstance(value, int) else repr(value)


def ask(bus, agents, line: str):
    method, settings, *rest = json.loads(line)
    agent = dbus.Interface(
        bus.get_object(agents.agent, f"{ROOT}/SecretAgent", introspect=False), f"{NAME}.SecretAgent")
    arguments = [connection(settings), dbus.ObjectPath(f"{ROOT}/Settings/1")]
    if method == "GetSecrets":
        # No flags: nobody may be asked.
        arguments += [rest[0], dbus.Array([], signature="s"), dbus.UInt32(0)]
    if method == "SaveSecrets":
        # nm-applet 1.30 saves and never answers.
        getattr(agent, method)(*arguments, ignore_reply=True)
        return say(None)
    getattr(agent, method)(
        *arguments, reply_handler=lambda *answer: say(plain(answer[0]) if answer else None),
        error_handler=lambda error: say(error.get_dbus_name()), timeout=50)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    Objects(bus, "/org/freedesktop")
    Manager(bus, ROOT)
    agents = Agents(bus, f"{ROOT}/AgentManager")
    name = dbus.service.BusName(NAME, bus)
    loop = GLib.MainLoop()

    def listen():
        for line in sys.stdin:
            GLib.idle_add(ask, bus, agents, line)
        loop.quit()

    threading.Thread(target=listen, daemon=True).start()
    loop.run()
    del name


main()
