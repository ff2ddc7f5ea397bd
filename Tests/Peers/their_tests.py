"""Tests that others wrote of what they expect of a Secret Service, and of helpers: unchanged
but for the skips of those that want a service and are written for machines without one.
"""

import re
import shutil
import subprocess
from pathlib import Path

from python_keyring import PACKAGES
from session import BUILT, ROOT, Session

KEPT = ROOT / ".build/peers"
PYTHON = KEPT / "python"
SOURCES = KEPT / "sources"
DOCKER = Path("/usr/share/gocode/src/github.com/docker/docker-credential-helpers")
GIT = Path("/usr/share/doc/git/contrib/credential/libsecret")

# t/test-lib.sh wants to be told of the build whose tests it has; it is the installed git's.
BUILD_OPTIONS = """SHELL_PATH='/bin/sh'
TEST_SHELL_PATH='/bin/sh'
PERL_PATH='/usr/bin/perl'
DIFF='diff'
NO_GETTEXT='YesPlease'
X=''
"""


def run(session: Session) -> None:
    python_sources()
    pytest(session, "secretstorage's own tests", next(SOURCES.glob("secretstorage-*")), "tests", at_least=20)
    keyring = next(SOURCES.glob("keyring-*"))
    pytest(session, "keyring's own tests, by secretstorage", keyring, "tests/backends/test_SecretService.py", at_least=15)
    pytest(session, "keyring's own tests, by libsecret", keyring, "tests/backends/test_libsecret.py", at_least=15)
    docker(session)
    git = git_tests(session)
    shutil.copytree(GIT, session.work / "libsecret")
    session.build("make", "-s", "-C", "libsecret")
    helpers = {"git-credential-libsecret": str(session.work / "libsecret/git-credential-libsecret")}
    if session.ours:
        helpers["git-credential-latchkey"] = str(BUILT / "git-credential-latchkey")
    for name, path in helpers.items():
        # t0303: "external credential helper tests".
        done = session.run("sh", "-c", 'cd "$0" && exec sh t0303-credential-external.sh', git / "t",
                           GIT_TEST_CREDENTIAL_HELPER=path, GIT_TEST_INSTALLED="/usr/bin", TERM="dumb")
        said = [line for line in done.stdout.splitlines() if re.match(r"(not )?ok |# passed|Bail", line)]
        session.claim(f"git's own tests of helpers, of {name}", (done.returncode, said[-1:] or [done.stderr]),
                      (0, ["# passed all 12 test(s)"]))


def python_sources() -> None:
    pip = ["/usr/bin/python3", "-m", "pip"]
    if not (PYTHON / "keyring").exists():
        subprocess.run([*pip, "install", "-q", "--root-user-action=ignore", "--target", PYTHON, *PACKAGES], check=True)
    if not list(SOURCES.glob("keyring-*")):
        SOURCES.mkdir(parents=True, exist_ok=True)
        subprocess.run([*pip, "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", SOURCES / "fetched", *PACKAGES],
                       check=True)
        for archive in (SOURCES / "fetched").iterdir():
            shutil.unpack_archive(archive, SOURCES)


def pytest(session: Session, what: str, sources: Path, tests: str, at_least: int) -> None:
    done = session.run("sh", "-c", 'cd "$0" && exec /usr/bin/python3 -B -m pytest -q -p no:cacheprovider -o addopts= "$1"',
                       sources, tests, PYTHONPATH=f"{sources}:{PYTHON}")
    passed = re.search(r"(\d+) passed", done.stdout)
    session.claim(what, (done.returncode, bool(passed) and int(passed[1]) >= at_least) if done.returncode == 0
                  else done.stdout[-300:], (0, True))


def docker(session: Session) -> None:
    """Of docker-credential-helpers; GOPATH as Debian lays its packages out."""
    place = session.work / "go/src/github.com/docker/docker-credential-helpers"
    shutil.copytree(DOCKER, place)
    tests = place / "secretservice/secretservice_linux_test.go"
    tests.write_text("".join(line for line in tests.read_text().splitlines(True) if "t.Skip" not in line))
    done = session.run("sh", "-c", 'cd "$0" && exec go test -count=1 -v .', tests.parent, GO111MODULE="off",
                       GOPATH=str(session.work / "go"), GOCACHE=str(KEPT / "go-cache"))
    session.claim("docker-credential-helpers' own tests", (done.returncode, done.stdout.count("--- PASS"), done.stderr),
                  (0, 2, ""))


def git_tests(session: Session) -> Path:
    """git's own tests, of the version that is installed, in a tree where nothing was built."""
    version = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    kept = SOURCES / f"git-{version}"
    if not (kept / "t").exists():
        fetch_source("git")
        archive, = SOURCES.glob(f"fetched/git_{version}.orig.tar.*")
        shutil.unpack_archive(archive, SOURCES)
    tree = session.work / "git"
    shutil.copytree(kept / "t", tree / "t", symlinks=True)
    (tree / "templates/blt").mkdir(parents=True)
    (tree / "GIT-BUILD-OPTIONS").write_text(BUILD_OPTIONS)
    # These tests use nothing of what it does; test-lib.sh asks whether it is there.
    tool = tree / "t/helper/test-tool"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    return tree


def fetch_source(package: str) -> None:
    """Debian's, from where this machine has its packages from."""
    work = SOURCES / "apt"
    (work / "lists/partial").mkdir(parents=True, exist_ok=True)
    (work / "source.list").write_text(
        "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
        "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security "
        "bookworm-security main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={work}/source.list", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={work}/lists", "-o", "APT::Sandbox::User=root"]
    (SOURCES / "fetched").mkdir(exist_ok=True)
    for words in (["update"], ["source", "--download-only", package]):
        subprocess.run([*apt, *words], check=True, capture_output=True, cwd=SOURCES / "fetched")
