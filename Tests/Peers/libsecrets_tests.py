"""libsecret's own tests, which are written for a mock of the service: what that mock has of one
open collection is made in the real service instead, for each test anew, and the paths of its
items are told. Left out: what wants other collections that are locked on their own, a service
without encryption, or items of other schemas. Debian: the source of libsecret (deb-src),
libsecret-1-dev, libgcrypt20-dev, libglib2.0-dev-bin, build-essential, python3-dbus."""

import re
import shutil
import subprocess
from pathlib import Path

import session as harness
from session import Session

KEPT = harness.ROOT / ".build/peers/libsecret-tests"

# What stands in the place of mock-service.c.
MOCK = """
#include "config.h"
#include "mock-service.h"
#include <stdio.h>
#include <stdlib.h>
const gchar *mock_service_start (const gchar *script, GError **error) {
  char a[300], b[300], c[300];
  FILE *made = popen ("/usr/bin/python3 -B " SRCDIR "/made.py </dev/null", "r");
  if (fscanf (made, "%299s %299s %299s", a, b, c) != 3) abort ();
  pclose (made);
  setenv ("P1", a, 1); setenv ("P2", b, 1); setenv ("P3", c, 1);
  return "org.freedesktop.secrets";
}
void mock_service_stop (void) { while (g_main_context_iteration (NULL, FALSE)); }
"""

MADE = '''
import os
import dbus
R, N = "/org/freedesktop/secrets", "org.freedesktop.secrets"
bus = dbus.SessionBus()
def at(path, interface):
    return dbus.Interface(bus.get_object(N, path, introspect=False), "org.freedesktop." + interface)
service = at(R, "Secret.Service")
opened = service.OpenSession("plain", dbus.String("", variant_level=1))[1]
def secret(value):
    return dbus.Struct((opened, dbus.ByteArray(b""), dbus.ByteArray(value), "text/plain"))
def properties(**all):
    return dbus.Dictionary({"org.freedesktop.Secret." + name.replace("_", "."): value for name, value in all.items()}, signature="sv")
def collection(name):
    path = R + "/collection/" + name
    if path in at(R, "DBus.Properties").Get("org.freedesktop.Secret.Service", "Collections"):
        at(path, "Secret.Collection").Delete()
    label = properties(Collection_Label=name)
    if os.environ["OURS"] == "1":
        made = service.CreateCollection(label, "")[0]
    else:
        made = dbus.Interface(bus.get_object(N, R, introspect=False), "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
            ).CreateWithMasterPassword(label, secret(b"correct horse of the test"))
    assert made == path, made
    return path
english = collection("english")
at(english, "DBus.Properties").Set("org.freedesktop.Secret.Collection", "Label", dbus.String("Collection One", variant_level=1))
paths = []
for number, text, even in (("1", "One", "false"), ("2", "Two", "true"), ("3", "Three", "false")):
    attributes = {"number": number, "string": text.lower(), "even": even, "xdg:schema": "org.mock.Schema"}
    paths.append(at(english, "Secret.Collection").CreateItem(
        properties(Item_Label="Item " + text, Item_Attributes=dbus.Dictionary(attributes, signature="ss")),
        secret(number.encode() * 3), False)[0])
collection("empty")
service.SetAlias("default", dbus.ObjectPath(english))
print(*paths)
'''

# Of each program the tests that one open collection is enough for, and how many they are.
LEFT_OUT = re.compile(
    "/item/secrets-|/service/search-secrets-|create-a?sync$|unlock|locked|no-name|-plain$|async-twice|lock-sync|set-alias"
    "|/service/search-all|/collection/search-all|/item/set-secret")
WANTED = {"item": 15, "collection": 21, "password": 9, "methods": 11, "service": 12, "session": 3}


def run(session: Session) -> None:
    sources()
    for name, least in WANTED.items():
        program = KEPT / f"test-{name}"
        tests = [line for line in session.run(program, "-l").stdout.split() if line.startswith("/") and not LEFT_OUT.search(line)]
        failed = [test for test in tests
                  if session.run(program, "-p", test, OURS="1" if session.ours else "0").returncode]
        session.claim(f"libsecret's own tests, {name}", (failed, len(tests) >= least), ([], True))


def sources() -> None:
    if (KEPT / "test-session").exists():
        return
    from their_tests import SOURCES, fetch_source
    shutil.rmtree(KEPT, ignore_errors=True)
    if not list(SOURCES.glob("fetched/libsecret_*.orig.tar.*")):
        fetch_source("libsecret")
    archive, = SOURCES.glob("fetched/libsecret_*.orig.tar.*")
    shutil.unpack_archive(archive, KEPT)
    tree, = KEPT.glob("libsecret-*")
    inner = tree / "libsecret"
    (KEPT / "made.py").write_text(MADE)
    (KEPT / "mock-service.c").write_text(MOCK)
    (KEPT / "config.h").write_text(f'#define SRCDIR "{KEPT}"\n#define WITH_GCRYPT 1\n')
    subprocess.run(["gdbus-codegen", "--interface-prefix", "org.freedesktop.Secret.", "--generate-c-code", "secret-dbus-generated",
                    "--c-namespace", "SecretGen", inner / "org.freedesktop.Secrets.xml"], cwd=KEPT, check=True)
    for header in ("secret-version.h", "secret-enum-types.h"):
        shutil.copy(f"/usr/include/libsecret-1/libsecret/{header}", KEPT)
        shutil.copy(f"/usr/include/libsecret-1/libsecret/{header}", inner)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libsecret-1", "gio-unix-2.0"], check=True, capture_output=True,
                           text=True).stdout.split()
    for name in WANTED:
        text = (inner / f"test-{name}.c").read_text()
        text = re.sub(r'"/org/freedesktop/secrets/collection/english/([123])"', r'g_getenv ("P\1")', text)
        (KEPT / f"test-{name}.c").write_text(text)
        subprocess.run(["gcc", "-w", "-I.", f"-I{tree}", f"-I{inner}", "-DSECRET_COMPILATION", "-o", f"test-{name}", f"test-{name}.c",
                        "mock-service.c", tree / "egg/egg-testing.c", *flags, "-lgcrypt"], cwd=KEPT, check=True)
