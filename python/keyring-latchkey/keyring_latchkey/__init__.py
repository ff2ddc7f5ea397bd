"""Python keyring's passwords in Latchkey, by its command: no session bus, no display.

A password is a generic password of that service and account, which `latchkey get SERVICE
ACCOUNT` shows, and which the Secret Service back end of keyring finds as well.
"""

import json
import shutil
import subprocess
from urllib.parse import quote

from keyring import errors
from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential

__all__ = ["Keyring"]

# How `latchkey` ends (latchkey(1), EXIT STATUS).
_NO_MATCH, _LOCKED = 1, 3


class _ClassProperty:
    """A property of the class itself, as keyring wants `priority`."""

    def __init__(self, get):
        self._get = get

    def __get__(self, instance, owner):
        return self._get(owner)


class Keyring(KeyringBackend):
    """The keychain of the user that runs this."""

    #: The program, looked for in PATH.
    command = "latchkey"

    @_ClassProperty
    def priority(cls):
        # Above Secret Service (5) and KWallet (5.1): whoever installs this wants it.
        if shutil.which(cls.command) is None:
            raise RuntimeError(f"{cls.command} is not in PATH")
        return 6

    def get_password(self, service, username):
        found = self._find(service, username)
        if found.returncode == _NO_MATCH:
            return None
        return self._text(self._checked(found, errors.KeyringError).stdout)

    def set_password(self, service, username, password):
        for name in (service, username):
            self._refuse_no_name(name)
        try:
            secret = password.encode()
        except UnicodeEncodeError:
            raise errors.PasswordSetError("the password is no text: it has half of a surrogate pair") from None
        self._checked(
            self._run("set", "--raw", "--allow-empty", "--", service, username, secret=secret),
            errors.PasswordSetError,
        )

    def delete_password(self, service, username):
        # `rm` looks for a generic password first, and then for git's and others' internet ones.
        if self._find(service, username).returncode == _NO_MATCH:
            raise errors.PasswordDeleteError("there is no such password")
        removed = self._run("rm", "--", service, username)
        if removed.returncode == _NO_MATCH:
            raise errors.PasswordDeleteError("there is no such password")
        self._checked(removed, errors.PasswordDeleteError)

    def get_credential(self, service, username):
        """Without a username: the one that was changed last, its password or what else it says."""
        if username is None:
            self._refuse_no_name(service)
            listed = self._run("list", "--json", "--", service)
            if listed.returncode == _NO_MATCH:
                return None
            items = json.loads(self._checked(listed, errors.KeyringError).stdout)
            items = [item for item in items if item["kind"] == "generic"]
            if not items:
                return None
            username = max(items, key=lambda item: item["modified"] or "")["account"]
        password = self.get_password(service, username)
        return None if password is None else SimpleCredential(username, password)

    def _find(self, service, username):
        """A generic password alone: an internet password of that server is for its protocol."""
        for name in (service, username):
            self._refuse_no_name(name)
        if not service:
            # No reference says that, and no server is called so.
            return self._run("get", "--", service, username)
        place = f"{quote(service, safe='')}/{quote(username, safe='')}"
        return self._run("read", "--", f"latchkey://{place}?kind=generic")

    def _run(self, *arguments, secret=None):
        try:
            # Nothing to read from: latchkey never waits for a terminal of ours.
            given = {"stdin": subprocess.DEVNULL} if secret is None else {"input": secret}
            return subprocess.run([self.command, *arguments], capture_output=True, check=False, **given)
        except OSError as failure:
            raise errors.InitError(f"{self.command} cannot be started: {failure.strerror}") from None

    @staticmethod
    def _refuse_no_name(name):
        """What no argument of a program can be."""
        if "\0" in name:
            raise errors.KeyringError("a service or an account has a byte 0")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise errors.KeyringError("a service or an account has half of a surrogate pair") from None

    @staticmethod
    def _checked(outcome, kind):
        """Raises what latchkey said; it never says a secret."""
        if outcome.returncode == 0:
            return outcome
        said = outcome.stderr.decode(errors="replace").strip().replace("latchkey: ", "")
        raise (errors.KeyringLocked if outcome.returncode == _LOCKED else kind)(said)

    @staticmethod
    def _text(value):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise errors.KeyringError("the value is no text") from None
