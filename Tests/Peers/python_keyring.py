"""Python's keyring and secretstorage, newer than Debian's, from PyPI: the command, and what
programs call.
"""

import subprocess

from session import ROOT, Session

PACKAGES = ["keyring==25.7.0", "secretstorage==3.5.0"]
UNPACKED = ROOT / ".build/peers/python"

PROGRAM = """
import secretstorage
from contextlib import closing
with closing(secretstorage.dbus_init()) as connection:
    assert secretstorage.check_service_availability(connection)
    login = secretstorage.get_default_collection(connection)
    item = login.create_item('One', {'a': 'b', 'é': '密'}, b'bytes \\0 \\xff', replace=True)
    again = login.create_item('Two', {'a': 'b', 'é': '密'}, b'two', replace=True)
    assert again.item_path == item.item_path and again.get_secret() == b'two' and again.get_label() == 'Two'
    again.set_attributes({'c': 'd'}); again.set_secret(b'three'); again.set_label('Three')
    found, = secretstorage.search_items(connection, {'c': 'd'})
    assert (found.get_secret(), found.get_label()) == (b'three', 'Three') and not found.is_locked()
    assert list(secretstorage.search_items(connection, {'a': 'b'})) == []
    assert found.get_attributes()['c'] == 'd' and found.get_modified() >= found.get_created() > 0
    found.delete()
    assert list(login.search_items({'c': 'd'})) == []
    short = secretstorage.Collection(connection, '/org/freedesktop/secrets/collection/session')
    short.create_item('S', {'s': 's'}, b'short')
    assert [each.get_secret() for each in short.get_all_items()] == [b'short']
    print('done')
"""


def run(session: Session) -> None:
    if not (UNPACKED / "keyring").exists():
        subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "-q", "--root-user-action=ignore", "--target", UNPACKED,
                        *PACKAGES], check=True)

    def python(*arguments: str, typed: str = ""):
        done = session.run("/usr/bin/python3", "-B", *arguments, typed=typed, PYTHONPATH=str(UNPACKED),
                           PYTHON_KEYRING_BACKEND="keyring.backends.SecretService.Keyring")
        return done.returncode, done.stdout, done.stderr.strip().splitlines()[-1:]

    def keyring(*arguments: str, typed: str = ""):
        return python("-m", "keyring", *arguments, typed=typed)[:2]

    # keyring/backends/SecretService.py: 5 where a collection can be reached, an error elsewhere.
    session.claim("keyring takes it for a Secret Service", python(
        "-c", "from keyring.backends import SecretService; print(SecretService.Keyring.priority)"), (0, "5\n", []))
    session.claim("nothing is found in an empty keychain", keyring("get", "web", "alice"), (1, ""))
    session.claim("a password is set", keyring("set", "web", "alice", typed="geheim é 密\n"), (0, ""))
    session.claim("and found", keyring("get", "web", "alice"), (0, "geheim é 密\n"))
    session.same_in_latchkey("latchkey get has it too", "geheim é 密", "web", "alice")
    keyring("set", "web", "alice", typed="another\n")
    session.claim("a second one replaces it", (keyring("get", "web", "alice"), len(session.items())), ((0, "another\n"), 1))
    session.claim("a password is deleted", (keyring("del", "web", "alice")[0], keyring("get", "web", "alice")), (0, (1, "")))
    session.claim("secretstorage changes items", python("-c", PROGRAM), (0, "done\n", []))
    if session.ours:
        session.latchkey("set", "wiki", "bob", typed="by hand")
        session.claim("what latchkey set stored is found", keyring("get", "wiki", "bob"), (0, "by hand\n"))
    keyring("set", "web", "carol", typed="kept\n")
    session.lock()
    status, said = keyring("get", "web", "carol")
    session.claim("of a locked keychain nothing is found, at once", (status not in (0, 124), said), (True, ""))
    session.unlock()
    session.claim("once it is open everything is there", keyring("get", "web", "carol"), (0, "kept\n"))
