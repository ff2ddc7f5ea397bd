"""keyring's own tests of a back end, and ours, on the keychain of XDG_DATA_HOME, which has
to be a temporary one (PythonKeyringTests.swift runs this)."""

import os
import subprocess

import keyring.backend
import pytest
from keyring import errors
from keyring.testing.backend import BackendBasicTests

import keyring_latchkey


class TestLatchkey(BackendBasicTests):
    def init_keyring(self):
        return keyring_latchkey.Keyring()

    def test_it_is_the_one_that_keyring_finds(self):
        found = {type(backend): backend.priority for backend in keyring.backend.get_all_keyring()}
        others = [priority for kind, priority in found.items() if "chainer" not in kind.__module__]
        assert found[keyring_latchkey.Keyring] == max(others)

    def test_the_command_has_the_same_passwords(self):
        self.set_password("web", "alice", "zwei é\n")
        assert subprocess.check_output(["latchkey", "get", "web", "alice"]) == "zwei é\n".encode()
        subprocess.run(["latchkey", "set", "wiki", "bob"], input=b"ours", check=True)
        assert self.keyring.get_password("wiki", "bob") == "ours"
        self.credentials_created.add(("wiki", "bob"))

    def test_names_that_look_like_options(self):
        self.set_password("--help", "-n", "pw")
        assert self.keyring.get_password("--help", "-n") == "pw"

    def test_one_of_several_accounts(self):
        for name in ("alice", "bob"):
            self.set_password("several", name, name)
        assert self.keyring.get_credential("several", None).password in ("alice", "bob")
        assert self.keyring.get_credential("none at all", None) is None

    def test_internet_passwords_are_not_its_own(self):
        # They are git's, or a person's, for one protocol; pip asks with a server's name alone.
        subprocess.run(["latchkey", "set", "--raw", "--internet", "git.example", "alice"], input=b"token", check=True)
        assert self.keyring.get_password("git.example", "alice") is None
        assert self.keyring.get_credential("git.example", None) is None
        with pytest.raises(errors.PasswordDeleteError):
            self.keyring.delete_password("git.example", "alice")
        kept = subprocess.run(["latchkey", "get", "--internet", "git.example", "alice"], capture_output=True, check=True)
        assert kept.stdout == b"token"
        subprocess.run(["latchkey", "rm", "--internet", "git.example", "alice"], check=True)

    def test_bytes_that_are_no_text(self):
        subprocess.run(["latchkey", "set", "--raw", "bytes", "x"], input=b"\xff", check=True)
        self.credentials_created.add(("bytes", "x"))
        with pytest.raises(errors.KeyringError):
            self.keyring.get_password("bytes", "x")
        with pytest.raises(errors.KeyringError):
            self.keyring.get_password("a\0b", "x")
        # Half of a surrogate pair is no name either, and no password.
        for call in (
            lambda: self.keyring.get_password("\ud800", "x"),
            lambda: self.keyring.get_credential("\ud800", None),
            lambda: self.keyring.set_password("s", "\ud800", "p"),
            lambda: self.keyring.set_password("s", "x", "\ud800"),
            lambda: self.keyring.delete_password("s", "\ud800"),
        ):
            with pytest.raises(errors.KeyringError) as refusal:
                call()
            assert "surrogate" in str(refusal.value)

    def test_no_program_is_no_backend(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        assert not keyring_latchkey.Keyring.viable
        with pytest.raises(errors.InitError):
            self.keyring.get_password("a", "b")


def test_a_locked_keychain_says_so():
    backend = keyring_latchkey.Keyring()
    backend.set_password("web", "alice", "before")
    subprocess.run(["latchkey", "passcode", "set"], input=b"words words\n", check=True)
    subprocess.run(["latchkey", "lock"], check=True)
    try:
        for call in (
            lambda: backend.get_password("web", "alice"),
            lambda: backend.set_password("web", "alice", "CANARY"),
            lambda: backend.delete_password("web", "alice"),
            lambda: backend.get_credential("web", None),
        ):
            with pytest.raises(errors.KeyringLocked) as refusal:
                call()
            assert "latchkey unlock" in str(refusal.value) and "CANARY" not in str(refusal.value)
    finally:
        subprocess.run(["latchkey", "unlock"], input=b"words words\n", check=True)
    assert backend.get_password("web", "alice") == "before"
    assert os.environ["XDG_DATA_HOME"].startswith("/tmp/")
