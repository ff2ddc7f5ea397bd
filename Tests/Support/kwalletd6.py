#!/usr/bin/python3
"""KDE Frameworks 6's wallet, played: its name and path, with each call handed to the real
kwalletd5 of the same bus, whose interface it has kept (org.kde.KWallet.xml). Debian 12 has no
kwalletd6.

What it is asked it writes to standard output, a word a line.
"""

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

INTERFACE = "org.kde.KWallet"
NAME, PATH = "org.kde.kwalletd6", "/modules/kwalletd6"
BEHIND, BEHIND_PATH = "org.kde.kwalletd5", "/modules/kwalletd5"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
front = dbus.SessionBus()
# Of its own: a call that waits here keeps nobody waiting there.
behind = dbus.SessionBus(private=True)


def answer(connection, message):
    if not isinstance(message, dbus.lowlevel.MethodCallMessage) or message.get_path() != PATH:
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    print(message.get_member(), flush=True)
    call = dbus.lowlevel.MethodCallMessage(BEHIND, BEHIND_PATH, INTERFACE, message.get_member())
    call.append(*message.get_args_list(byte_arrays=True), signature=message.get_signature())
    try:
        reply = behind.send_message_with_reply_and_block(call, 30)
    except dbus.DBusException as error:
        reply = dbus.lowlevel.ErrorMessage(message, error.get_dbus_name(), error.get_dbus_message())
    else:
        values, signature = reply.get_args_list(byte_arrays=True), reply.get_signature()
        reply = dbus.lowlevel.MethodReturnMessage(message)
        reply.append(*values, signature=signature)
    connection.send_message(reply)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


front.add_message_filter(answer)
front.request_name(NAME)
GLib.MainLoop().run()
