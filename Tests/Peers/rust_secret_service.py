"""The own tests of Rust's crate secret-service, as Debian has it with all it needs, built
without a network. Left out: what asks a person (the crate says so itself), and that an item has
no other attributes than it was given, where gnome-keyring answers now so and now so.
Debian: cargo, librust-secret-service-dev."""

import re
import shutil
import subprocess
from pathlib import Path

import session as harness
from session import Session

REGISTRY = Path("/usr/share/cargo/registry")
KEPT = harness.ROOT / ".build/peers/rust-secret-service"
LEFT_OUT = ["should_create_with_item_attributes", "should_get_and_set_item_attributes"]


def run(session: Session) -> None:
    program = built()
    done = session.run(program, "--test-threads=1", *(f"--skip={name}" for name in LEFT_OUT))
    passed = re.search(r"(\d+) passed; (\d+) failed", done.stdout)
    session.claim("the crate's own tests", (done.returncode, passed.groups() if passed else done.stdout[-300:]), (0, ("25", "0")))


def built() -> Path:
    programs = lambda: [one for one in (KEPT / "target/debug/deps").glob("secret_service-*") if not one.suffix]
    if not programs():
        shutil.rmtree(KEPT, ignore_errors=True)
        source, = REGISTRY.glob("secret-service-2*")
        shutil.copytree(source, KEPT, ignore=shutil.ignore_patterns(".cargo-checksum.json", "Cargo.lock"))
        (KEPT / ".cargo").mkdir()
        (KEPT / ".cargo/config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{REGISTRY}"\n')
        subprocess.run(["/usr/bin/cargo", "test", "-q", "--offline", "--no-run"], cwd=KEPT, check=True, capture_output=True,
                       env={"PATH": "/usr/bin:/bin", "HOME": str(KEPT), "CARGO_HOME": str(KEPT / "home")})
    one, = programs()
    return one
