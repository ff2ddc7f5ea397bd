/// What python3 runs to open a KeePass database: on standard input the number of the
/// password's bytes, a line feed, the password and the key file's content; on standard
/// output the entries as JSON. Nothing is written anywhere else.
///
/// Both libraries give the database as the XML of KeePass 2 ("KeePass 2.x XML
/// format"), which this goes through. Statuses: 3 wrong key, 4 no library, 5 else.
enum KeePassProgram {
    static let text = #"""
        import base64, datetime, gzip, json, os, re, signal, subprocess, sys

        def end_with_parent():
            # A derivation takes seconds to minutes, and nobody waits for it once latchkey was killed
            # (prctl(2), PR_SET_PDEATHSIG).
            try:
                import ctypes
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            except (ImportError, OSError, AttributeError):
                pass

        end_with_parent()
        path, has_key = sys.argv[1], sys.argv[2] == "key"
        count, _, given = sys.stdin.buffer.read().partition(b"\n")
        secret, key = given[:int(count)], given[int(count):]
        key_fd, key_file = None, None
        if has_key:
            # Both take a path alone; this one leads to memory.
            key_fd = os.memfd_create("key")
            key_file = "/proc/self/fd/%d" % key_fd
            with open(key_fd, "wb", closefd=False) as memory: memory.write(key)

        def leave(status, text):
            sys.stderr.write(text + "\n")
            sys.exit(status)

        def by_pykeepass():
            import pykeepass
            from pykeepass.exceptions import CredentialsError
            try:
                password = secret.decode("utf-8")
                if not password and key_file: password = None
                base = pykeepass.PyKeePass(path, password=password, keyfile=key_file)
            except CredentialsError:
                leave(3, "wrong key")
            return base.tree.getroot(), lambda ref: bytes(base.binaries[int(ref)])

        def by_keepassxc():
            import xml.etree.ElementTree as tree
            tool = next((p for p in ("/usr/bin/keepassxc-cli", "/usr/local/bin/keepassxc-cli") if os.access(p, os.X_OK)), None)
            if tool is None: leave(4, "no library")
            words = [tool, "export", "-f", "xml"]
            if key_file: words += ["-k", key_file]
            if not secret and key_file: words += ["--no-password"]
            done = subprocess.run(words + ["--", path], input=secret + b"\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=end_with_parent,
                                  pass_fds=[key_fd] if has_key else [],
                                  env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"})
            if done.returncode != 0:
                text = done.stderr.decode("utf-8", "replace").strip()
                leave(3 if "credentials" in text.lower() or "hmac" in text.lower() else 5, text or "keepassxc-cli failed")
            root = tree.fromstring(done.stdout)
            files = {}
            for binary in root.iterfind("Meta/Binaries/Binary"):
                data = base64.b64decode(binary.text or "")
                files[binary.get("ID")] = gzip.decompress(data) if binary.get("Compressed") == "True" else data
            # Of KDBX 4 it leaves the attachments out.
            return root, files.get

        def moment(text):
            # ISO 8601, or of KDBX 4 the seconds since the year 1 in base64. What is neither stays as it is.
            if not text or text[4:5] == "-": return text
            try:
                seconds = int.from_bytes(base64.b64decode(text, validate=True), "little")
                date = datetime.datetime(1, 1, 1) + datetime.timedelta(seconds=seconds)
                return date.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)
            except Exception:
                return text

        # Field references (KeePass, "Field References"): those that name an entry by its UUID.
        reference = re.compile(r"\{REF:([TUPANI])@([TUPANIO]):([^{}]*)\}", re.IGNORECASE)
        wanted = {"T": "Title", "U": "UserName", "P": "Password", "A": "URL", "N": "Notes"}

        def followed(text, targets, left):
            """The text with what its references stand for, and whether all could be followed."""
            whole = True
            def value(match):
                nonlocal whole
                what, by, words = match[1].upper(), match[2].upper(), match[3].strip().upper()
                target = targets.get(words) if by == "I" else None
                # References may lead round, and each may be two.
                if target is None or not left:
                    whole = False
                    return match[0]
                left.pop()
                if what == "I": return words
                found, is_whole = followed(target.get(wanted[what], ""), targets, left)
                whole = whole and is_whole
                return found
            return reference.sub(value, text), whole

        def strings(node):
            return [(part.findtext("Key") or "", part.findtext("Value") or "") for part in node.iterfind("String")]

        def seed(name, text):
            """The secret of one-time codes in base32, where the field holds one."""
            try:
                if name in ("TimeOtp-Secret-Base32", "TOTP Seed"):
                    text = re.sub(r"[\s=-]", "", text).upper()
                    return text if re.fullmatch("[A-Z2-7]+", text) else None
                raw = {"TimeOtp-Secret": lambda: text.encode("utf-8"),
                       "TimeOtp-Secret-Hex": lambda: bytes.fromhex(text),
                       "TimeOtp-Secret-Base64": lambda: base64.b64decode(text)}[name]()
                return base64.b32encode(raw).decode("ascii").rstrip("=") or None
            except (KeyError, ValueError):
                return None

        def field(name, text, targets):
            value, whole = followed(text, targets, [None] * 64)
            found = {"name": name, "value": value}
            if not whole: found["dangling"] = True
            code = seed(name, value)
            if code: found["seed"] = code
            return found

        def entry(node, group, recycled, content, targets):
            fields, files, others = [field(name, text, targets) for name, text in strings(node)], [], []
            for part in node:
                if part.tag == "Binary":
                    value = part.find("Value")
                    data = content(value.get("Ref")) if value.get("Ref") is not None else base64.b64decode(value.text or "")
                    if data is None: others.append("attachments")
                    else: files.append({"name": part.findtext("Key") or "", "data": base64.b64encode(data).decode("ascii")})
                elif part.tag == "Tags" and part.text:
                    fields.append({"name": "Tags", "value": part.text})
                elif part.tag == "History" and len(part): others.append("history")
                elif part.tag == "Times":
                    if part.findtext("Expires") == "True": others.append("expiry")
                    if part.findtext("LastModificationTime"): others.append("LastModificationTime")
                elif part.tag == "AutoType" and (part.find("Association") is not None or part.findtext("DefaultSequence")):
                    others.append("AutoType")
                elif part.tag in ("OverrideURL", "ForegroundColor", "BackgroundColor", "CustomIconUUID") and part.text:
                    others.append(part.tag)
                elif part.tag == "CustomData" and len(part): others.append("CustomData")
            return {"group": group, "recycled": recycled, "fields": fields, "files": files, "others": others,
                    "created": moment(node.findtext("Times/CreationTime"))}

        def walk(node, names, recycled, bin_id, found):
            for part in node:
                if part.tag == "Group":
                    is_bin = bin_id is not None and part.findtext("UUID") == bin_id
                    walk(part, names + [part.findtext("Name") or ""], recycled or is_bin, bin_id, found)
                elif part.tag == "Entry":
                    found.append((part, names, recycled))

        def number(node):
            try:
                return base64.b64decode(node.findtext("UUID") or "").hex().upper()
            except ValueError:
                return ""

        try:
            try:
                root, content = by_pykeepass()
            except ImportError:
                root, content = by_keepassxc()
            bin_id = root.findtext("Meta/RecycleBinUUID") if root.findtext("Meta/RecycleBinEnabled") != "False" else None
            found = []
            # The first group is the database itself.
            for top in root.iterfind("Root/Group"):
                walk(top, [], False, bin_id, found)
            targets = {number(node): dict(strings(node)) for node, _, _ in found}
            json.dump({"entries": [entry(*each, content, targets) for each in found]}, sys.stdout)
        except SystemExit:
            raise
        except Exception as failure:
            # The kind alone: its text may hold what was read.
            leave(5, type(failure).__name__)
        """#
}
