"""nm-applet, NetworkManager's agent on a desktop: it keeps what is agent-owned, a WiFi's
password or a VPN's, in the Secret Service. The real agent, on a display without a screen,
and on a system bus of its own whose NetworkManager is Tests/Peers/fake_networkmanager.py.

It is unpacked and not installed: NetworkManager would take over the network here.
"""

import json
import os
import subprocess
from pathlib import Path

from session import Session, unpacked

PACKAGE = "network-manager-gnome"
UUID = "3f1c2a52-6f0e-4f5c-9a51-0c1b6e0a7d11"


class NetworkManager:
    """What asks the agent."""

    def __init__(self, session: Session):
        session.start_system_bus()
        environment = {**session.environment, "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
                       "GSETTINGS_SCHEMA_DIR": str(schemas(session)),
                       "XDG_DATA_DIRS": f"{unpacked(PACKAGE)}/usr/share:/usr/share"}
        self.process = session.start(["/usr/bin/python3", "-B", str(Path(__file__).parent / "fake_networkmanager.py")],
                                     env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        display, other = os.pipe()
        session.start(["Xvfb", "-displayfd", str(other), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
                      pass_fds=[other])
        os.close(other)
        with os.fdopen(display) as numbers:
            environment["DISPLAY"] = f":{numbers.readline().strip()}"
        self.agent = session.start([str(unpacked(PACKAGE) / "usr/bin/nm-applet")], env=environment)
        assert self.told() == "registered"

    def told(self):
        return json.loads(self.process.stdout.readline())

    def __call__(self, method: str, *arguments):
        """What the agent answers; "Error.Name" where it refuses."""
        self.process.stdin.write(json.dumps([method, *arguments]) + "\n")
        self.process.stdin.flush()
        return self.told()


def schemas(session: Session) -> Path:
    compiled = session.folder / "schemas"
    compiled.mkdir()
    subprocess.run(["glib-compile-schemas", f"--targetdir={compiled}", unpacked(PACKAGE) / "usr/share/glib-2.0/schemas"],
                   check=True, capture_output=True)
    return compiled


def wifi(password: str | None = None) -> dict:
    security = {"key-mgmt": "wpa-psk", "psk-flags": 1}
    if password is not None:
        security["psk"] = password
    return {"connection": {"id": "Home", "uuid": UUID, "type": "802-11-wireless"},
            "802-11-wireless": {"ssid": "Home"}, "802-11-wireless-security": security}


SETTING = "802-11-wireless-security"


def run(session: Session) -> None:
    unpacked(PACKAGE)
    manager = NetworkManager(session)

    def saved(password: str) -> bool:
        manager("SaveSecrets", wifi(password))
        session.eventually(lambda: manager("GetSecrets", wifi(), SETTING) == {SETTING: {"psk": password}},
                           "nm-applet never saved a password")
        return True

    session.claim("a password is saved and given back", saved("wlan é secret"))
    found = session.run("secret-tool", "search", "--all", "connection-uuid", UUID)
    session.claim("by the connection's attributes", [
        line for line in sorted((found.stdout + found.stderr).splitlines()) if line.startswith(("attribute", "label"))],
        ["attribute.connection-uuid = " + UUID, "attribute.setting-key = psk",
         "attribute.setting-name = 802-11-wireless-security",
         "label = Network secret for Home/802-11-wireless-security/psk"])
    session.claim("a second one replaces it", (saved("another"), len(session.items())), (True, 1))
    session.lock()
    # Where one is installed a person could be asked on the agent's display, and is.
    if not any(Path("/usr/bin").glob("pinentry-[gqx]*")):
        session.claim("of a locked keychain nothing is given, at once", manager("GetSecrets", wifi(), SETTING),
                      {SETTING: {}})
    session.unlock()
    session.claim("once it is open everything is there", manager("GetSecrets", wifi(), SETTING),
                  {SETTING: {"psk": "another"}})
    session.claim("what is deleted is gone", (manager("DeleteSecrets", wifi()), len(session.items())), (None, 0))
