"""A program that holds many items of secretstorage: each opens a session of its own when its
secret is read first, on one connection, and uses it ever after. Debian: python3-secretstorage."""

import ast

from session import Session

PROGRAM = """
import secretstorage
connection = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(connection)
for number in range(300):
    collection.create_item(f"held {number}", {"place": "held", "number": str(number)}, b"secret %d" % number)
items = list(secretstorage.search_items(connection, {"place": "held"}))
def read():
    said = []
    for item in items:
        try:
            said.append(item.get_secret().decode())
        except Exception as error:
            said.append(type(error).__name__)
    return len({one for one in said if one.startswith("secret ")})
print((read(), read()))
"""


def run(session: Session) -> None:
    done = session.run("/usr/bin/python3", "-B", "-c", PROGRAM)
    session.claim("300 held items say their secrets, and say them again",
                  ast.literal_eval(done.stdout) if done.returncode == 0 else done.stderr[-300:], (300, 300))
