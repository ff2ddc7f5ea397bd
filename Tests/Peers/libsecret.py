"""A program of C that uses all of libsecret (libsecret.c)."""

import subprocess

from session import PATIENCE, ROOT, Session


def run(session: Session) -> None:
    program = session.work / "libsecret"
    flags = session.run("pkg-config", "--cflags", "--libs", "libsecret-1").stdout.split()
    session.build("cc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
                  "-Werror", "-o", program,
                  ROOT / "Tests/Peers/libsecret.c", *flags)
    # gnome-keyring asks for a password of each collection, and keeps no types.
    for part in ("passwords", "service", "many") + (("collections", "types") if session.ours else ()):
        said(session, part, session.run(program, part))
    said(session, "signals", session.run(program, "signals", session.collection("Signals")))
    watching(session, program, "watch-collections", lambda: session.collection("of another"))
    session.claim("something is kept", session.run(program, "keep").returncode, 0)
    watching(session, program, "watch-lock", session.lock)
    said(session, "locked", session.run(program, "locked"))
    session.unlock()
    said(session, "open", session.run(program, "open"))


def watching(session: Session, program, part: str, act) -> None:
    """What a program sees of what is done while it looks."""
    process = session.start([str(program), part], stdout=subprocess.PIPE, text=True)
    lines = []
    while (line := process.stdout.readline()) not in ("", "ready\n"):
        lines.append(line)
    act()
    rest, _ = process.communicate(timeout=PATIENCE)
    said(session, part, subprocess.CompletedProcess([], process.returncode, "".join(lines) + rest, ""))


def said(session: Session, part: str, done: subprocess.CompletedProcess) -> None:
    """Its claims, and that it came to its end."""
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    for holds, what, instead in lines:
        session.results.append((holds == "ok", what, instead))
    session.claim(f"libsecret: {part} runs to its end", (done.returncode, done.stderr), (0, ""))
