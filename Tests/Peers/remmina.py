"""remmina keeps a connection's password, by its command line on a display of nobody's.
Debian: remmina, remmina-plugin-secret, remmina-plugin-vnc, xvfb, libsecret-tools."""

from session import Session

PROFILE = "[remmina]\nname=peer\nprotocol=VNC\nserver=127.0.0.1:1\npassword=.\nusername=alice\n"


def run(session: Session) -> None:
    profile = session.work / "peer.remmina"
    profile.write_text(PROFILE)
    done = session.run("xvfb-run", "-a", "remmina", "--update-profile", profile, "--set-option", "password=geheim ä",
                       NO_AT_BRIDGE="1", GDK_BACKEND="x11", GSETTINGS_BACKEND="memory")
    session.claim("a profile is changed", done.returncode, 0)
    session.claim("its password is in no file", "geheim" in profile.read_text(), False)
    found = session.run("secret-tool", "lookup", "filename", profile, "key", "password")
    session.claim("but in the keychain", (found.returncode, found.stdout), (0, "geheim ä"))
