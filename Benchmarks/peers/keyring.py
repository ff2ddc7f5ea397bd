"""Writes a keyring of gnome-keyring with many items: keyring.py FOLDER ITEMS

A keyring without a password is a text file (gnome-keyring writes and reads it so by
itself: gkm-secret-textual.c). Filling 10 000 items through the API would take half
an hour, because every store rewrites the file.
"""
import sys

folder, items = sys.argv[1], int(sys.argv[2])
with open(f"{folder}/default", "w", encoding="ascii") as file:
    file.write("login")
with open(f"{folder}/login.keyring", "w", encoding="ascii") as file:
    file.write("[keyring]\ndisplay-name=login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n\n")
    for index in range(items):
        file.write(f"[{index + 1}]\nitem-type=0\ndisplay-name=item {index}\n"
                   "secret=correct horse battery\nmtime=0\nctime=0\n\n")
        attributes = (("service", f"bench {index // 1000}"), ("account", f"item {index}"),
                      ("xdg:schema", "org.example.Bench"))
        for number, (name, value) in enumerate(attributes):
            file.write(f"[{index + 1}:attribute{number}]\nname={name}\ntype=string\nvalue={value}\n\n")
