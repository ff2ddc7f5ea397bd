"""What stands for `docker build` and `docker run` in the test of the recipes: follows a
Dockerfile with the instructions that ours has, and runs each container in namespaces
of its own, its command as the first process. Anything that it does not know ends it.

State lies in the folder LATCHKEY_STAND_IN; the text of FROM decides between a root of
Debian's programs and one with busybox alone.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import Machine, bind

STATE = Path(os.environ["LATCHKEY_STAND_IN"])


def instructions(text: str):
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def build(arguments: list[str]) -> None:
    flag, name, folder = arguments
    if flag != "-t":
        raise SystemExit(f"docker stand-in: build {flag}")
    image = STATE / name
    image.mkdir()
    shutil.copytree(folder, image / "context", symlinks=True)


def run(arguments: list[str]) -> None:
    volumes, user = {}, None
    while arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-v":
            volume, _, path = arguments.pop(0).partition(":")
            volumes[path] = STATE / "volumes" / volume
        elif option == "--user":
            user = arguments.pop(0)
        elif option not in ("-i", "--rm"):
            raise SystemExit(f"docker stand-in: run {option}")
    name, *command = arguments
    image = STATE / name / "context"
    recipe = list(instructions((image / "Dockerfile").read_text()))
    root = Path(tempfile.mkdtemp(dir=STATE)) / "root"
    machine = Machine(root, bare=recipe[0][1].startswith("busybox"), named=False)
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}
    for word, rest in recipe:
        match word:
            case "FROM":
                pass
            case "COPY":
                source, target = rest.split()
                shutil.copytree(image / source, root / target.lstrip("/"), dirs_exist_ok=True)
            case "RUN":
                machine.run(["/bin/sh", "-c", rest], user=None, env=env)
            case "ENV":
                key, _, value = rest.partition("=")
                env[key] = value
            case "VOLUME":
                if rest in volumes:
                    attach(volumes.pop(rest), root / rest.lstrip("/"))
            case "USER":
                user = user or rest
            case "CMD":
                command = command or json.loads(rest)
            case _:
                raise SystemExit(f"docker stand-in: {word}")
    for path, volume in volumes.items():
        attach(volume, root / path.lstrip("/"))
    number = int((user or "0").partition(":")[0])
    if number == 0:
        env["HOME"] = "/root"
    machine.become(number, "/")()
    os.execvpe(command[0], command, env)


def attach(volume: Path, place: Path) -> None:
    """A new volume takes over owner and mode of what the image has there."""
    place.mkdir(parents=True, exist_ok=True)
    if not volume.exists():
        volume.mkdir(parents=True)
        there = place.stat()
        os.chown(volume, there.st_uid, there.st_gid)
        volume.chmod(there.st_mode & 0o7777)
    bind(str(volume), place, writable=True)


if sys.argv[1] == "build":
    build(sys.argv[2:])
elif sys.argv[1] == "run":
    # Mounts of its own, and processes of its own below this one.
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    inside = [sys.executable, "-B", __file__, "inside", *sys.argv[2:]]
    sys.exit(subprocess.run([*namespaces, *inside]).returncode)
elif sys.argv[1] == "inside":
    run(sys.argv[2:])
else:
    raise SystemExit(f"docker stand-in: {sys.argv[1]}")
