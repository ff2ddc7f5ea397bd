"""KeePassXC as org.freedesktop.secrets: what of ours meets it there. Without a display (Qt's
platform "offscreen"), with a database that gives a group out, which its own file says.

    keepassxc.py: status 1 where a claim does not hold
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from lxml import etree
from pykeepass import create_database

from session import BUILT, NAME, PATH, Session

PASSWORD = b"of the database"
SETTINGS = """[General]
ConfigVersion=2
UpdateCheckMessageShown=true
[FdoSecrets]
Enabled=true
ConfirmAccessItem=false
ConfirmDeleteItem=false
ShowNotification=false
[GUI]
CheckForUpdates=false
"""


class KeePassXC(Session):
    def __init__(self, folder: Path):
        super().__init__(folder, ours=False)
        self.environment["QT_QPA_PLATFORM"] = "offscreen"
        self.database = folder / "home/passwords.kdbx"

    def start_service(self) -> None:
        database = create_database(str(self.database), password=PASSWORD.decode())
        group = database.add_group(database.root_group, "Given out")
        entry = database.add_entry(group, "Mail", "alice", "geheim é", url="https://mail.example", notes="PIN 4711")
        entry.set_custom_property("service", "mail")
        database.add_entry(group, "Other", "bob", "two")
        database.add_entry(database.root_group, "Hidden", "carol", "not given out")
        about = database.tree.find("Meta")
        data = about.find("CustomData")
        item = etree.SubElement(etree.SubElement(about, "CustomData") if data is None else data, "Item")
        # fdosecrets, FdoSecretsSettings.
        etree.SubElement(item, "Key").text = "FDO_SECRETS_EXPOSED_GROUP"
        etree.SubElement(item, "Value").text = f"{{{group.uuid}}}"
        database.save()
        settings = self.folder / "config/keepassxc"
        settings.mkdir()
        (settings / "keepassxc.ini").write_text(SETTINGS)
        with open(self.folder / "service.log", "ab") as log:
            self.service = self.start(["keepassxc", "--pw-stdin", str(self.database)], stdin=subprocess.PIPE, stdout=log,
                                      stderr=log)
        self.service.stdin.write(PASSWORD + b"\n")
        self.service.stdin.flush()
        self.eventually(lambda: self.bus.name_has_owner(NAME), "KeePassXC never took the name")
        self.eventually(self.is_open, "KeePassXC never opened its database")

    def is_open(self) -> bool:
        collections = self.read(PATH, "Service", "Collections")
        return bool(collections) and not self.read(collections[0], "Collection", "Locked")


def run(session: KeePassXC) -> None:
    def latchkey(*arguments: str):
        done = session.run(BUILT / "latchkey", *arguments)
        return done.returncode, done.stdout + done.stderr

    before = session.database.read_bytes()
    dry = latchkey("import", "--dry-run", "--from", "secret-service")
    session.claim("a dry run names what would come", (dry[0], "Would have added 3." in dry[1]), (0, True))
    status, said = latchkey("import", "--from", "secret-service")
    session.claim("items come", (status, "Has added 3." in said), (0, True))
    session.claim("a second run changes nothing",
                  "Has left 3 unchanged." in latchkey("import", "--from", "secret-service")[1])
    session.claim("the database is as it was", session.database.read_bytes() == before)
    session.claim("notes are a value", latchkey("get", "Mail", "alice (note)"), (0, "PIN 4711"))
    session.claim("and nothing else", "4711" not in latchkey("list", "--all", "--json")[1])
    session.claim("what is not given out does not come", "Hidden" not in latchkey("list", "--all")[1])
    doctor = latchkey("doctor")[1]
    session.claim("doctor names who has the name", "keepassxc (process" in doctor)
    done = session.run(BUILT / "latchkey-secret-service")
    session.claim("our service leaves it the name", (done.returncode, "another program is" in done.stderr), (69, True))
    status, said = latchkey("secret-service", "enable")
    session.claim("enable says who keeps it until it ends", (status, "keepassxc (process" in said), (0, True))
    session.claim("and it is still there", session.bus.name_has_owner(NAME) and session.is_open())
    session.end(session.service)
    session.eventually(lambda: not session.bus.name_has_owner(NAME), "KeePassXC never ended")
    session.start([str(BUILT / "latchkey-secret-service")])
    session.eventually(lambda: session.bus.name_has_owner(NAME), "our service never took the name")
    found = session.run("secret-tool", "lookup", "service", "mail")
    session.claim("what programs stored there they find here", (found.returncode, found.stdout), (0, "geheim é"))
    session.claim("disable takes away what enable wrote", latchkey("secret-service", "disable")[0], 0)


def main() -> int:
    # A short path: a socket's has 108 bytes.
    with tempfile.TemporaryDirectory(prefix="peer.", ignore_cleanup_errors=True) as folder:
        with KeePassXC(Path(folder)) as session:
            try:
                run(session)
            finally:
                for program in ("latchkey-secret-service", "latchkeyd"):
                    session.run("pkill", "-f", f"{BUILT}/{program}.*{folder}")
                session.run(BUILT / "latchkeyd", "--stop")
    for holds, what, why in session.results:
        print(f"ok    KeePassXC: {what}" if holds else f"FAIL  KeePassXC: {what}: {why}")
    return 0 if all(holds for holds, _, _ in session.results) else 1


sys.exit(main())
