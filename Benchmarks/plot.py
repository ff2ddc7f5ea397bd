"""Draws cost against the number of items: plot.py RESULT.json PICTURE.png"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

CURVES = (
    # row, pinning, colour, label
    ("embedded read by primary key", "same core", "tab:green", "read, engine in process"),
    ("daemon read, value", "same core", "tab:blue", "read, daemon and enclave"),
    ("daemon read, attributes only", "same core", "tab:cyan", "attributes, daemon"),
    ("daemon add, durable", "same core", "tab:red", "add, durable"),
)
PEER = (
    ("read, against gnome-keyring", "tab:blue", "read, gnome-keyring"),
    ("add, against gnome-keyring", "tab:red", "add, gnome-keyring"),
)


def points(rows, name, pinning, field):
    found = {row["items"]: row[field] for row in rows
             if row["name"] == name and row.get("pinning") == pinning and row.get(field) is not None}
    return sorted(found.items())


def main():
    source, picture = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        result = json.load(file)
    rows = result["rows"]
    figure, axes = plt.subplots(figsize=(9, 6))
    for name, pinning, colour, label in CURVES:
        measured = points(rows, name, pinning, "measured")
        if measured:
            axes.plot(*zip(*measured), "o-", color=colour, label=label)
        floors = points(rows, name, pinning, "floor")
        if floors:
            axes.plot(*zip(*floors), ":", color=colour, alpha=0.7, label=f"{label}: floor")
    for name, colour, label in PEER:
        measured = points(rows, name, "not pinned", "measured")
        if measured:
            axes.plot(*zip(*measured), "s--", color=colour, alpha=0.6, label=label)
    axes.set(xscale="log", yscale="log", xlabel="items in the store", ylabel="µs a call (median)")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend(fontsize=8, ncol=2, loc="upper right")
    machine = result["machine"]
    axes.set_title(f"Latchkey {machine['commit']}: cost against number of items\n"
                   f"{machine['processor']}, {machine['processors']} processors, Linux {machine['kernel']}, "
                   f"{result['date'][:10]}; one core", fontsize=9)
    figure.tight_layout()
    figure.savefig(picture, dpi=120)


main()
