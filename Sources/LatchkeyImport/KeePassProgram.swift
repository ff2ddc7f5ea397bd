/// What python3 runs to open a KeePass database: the password on standard input,
/// the entries as JSON on standard output. Nothing is written anywhere else.
///
/// Both libraries give the database as the XML of KeePass 2 ("KeePass 2.x XML
/// format"), which this goes through. Statuses: 3 wrong key, 4 no library, 5 else.
enum KeePassProgram {
    static let text = #"""
        import base64, datetime, gzip, json, os, subprocess, sys
        path, key_file = sys.argv[1], sys.argv[2] or None
        secret = sys.stdin.buffer.read()

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
            if not text: return None
            if "T" in text: return text if text.endswith("Z") else None
            try:
                seconds = int.from_bytes(base64.b64decode(text), "little")
                return (datetime.datetime(1, 1, 1) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)
            except Exception:
                return None

        def entry(node, group, recycled, content):
            fields, files, others = [], [], []
            for part in node:
                if part.tag == "String":
                    fields.append({"name": part.findtext("Key") or "", "value": part.findtext("Value") or ""})
                elif part.tag == "Binary":
                    value = part.find("Value")
                    data = content(value.get("Ref")) if value.get("Ref") is not None else base64.b64decode(value.text or "")
                    if data is None: others.append("attachments")
                    else: files.append({"name": part.findtext("Key") or "", "data": base64.b64encode(data).decode("ascii")})
                elif part.tag == "Tags" and part.text:
                    fields.append({"name": "Tags", "value": part.text})
                elif part.tag == "History" and len(part): others.append("history")
                elif part.tag == "Times" and part.findtext("Expires") == "True": others.append("expiry")
                elif part.tag == "AutoType" and (part.find("Association") is not None or part.findtext("DefaultSequence")):
                    others.append("AutoType")
                elif part.tag in ("OverrideURL", "ForegroundColor", "BackgroundColor", "CustomIconUUID") and part.text:
                    others.append(part.tag)
                elif part.tag == "CustomData" and len(part): others.append("CustomData")
            return {"group": group, "recycled": recycled, "fields": fields, "files": files, "others": others,
                    "created": moment(node.findtext("Times/CreationTime"))}

        def walk(node, names, recycled, bin_id, content, found):
            for part in node:
                if part.tag == "Group":
                    walk(part, names + [part.findtext("Name") or ""], recycled or (bin_id is not None and part.findtext("UUID") == bin_id),
                         bin_id, content, found)
                elif part.tag == "Entry":
                    found.append(entry(part, names, recycled, content))

        try:
            try:
                root, content = by_pykeepass()
            except ImportError:
                root, content = by_keepassxc()
            bin_id = root.findtext("Meta/RecycleBinUUID") if root.findtext("Meta/RecycleBinEnabled") != "False" else None
            found = []
            # The first group is the database itself.
            for top in root.iterfind("Root/Group"):
                walk(top, [], False, bin_id, content, found)
            json.dump({"entries": found}, sys.stdout)
        except SystemExit:
            raise
        except Exception as failure:
            # The kind alone: its text may hold what was read.
            leave(5, type(failure).__name__)
        """#
}
