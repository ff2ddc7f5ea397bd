"""What one call costs, from pairs of callgrind runs of different length.

Usage: counts.py FOLDER SHORT LONG THRESHOLDS RESULT
FOLDER holds PROCESS.CALL.COUNT, the output of callgrind.
"""
import json
import re
import sys

ALLOCATION = re.compile(r"^(__)?(libc_)?(malloc|calloc|realloc|posix_memalign|aligned_alloc)$")


def read(path):
    """Instructions in all, and calls of the functions that allocate."""
    names, instructions, allocations, callee = {}, 0, 0, ""
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(("fn=", "cfn=")):
                kind, rest = line.rstrip("\n").split("=", 1)
                number, _, name = rest.partition(" ")
                if name:
                    names[number] = name
                if kind == "cfn":
                    callee = names[number].split("'")[0]
            elif line.startswith("calls="):
                if ALLOCATION.match(callee):
                    allocations += int(line[6:].split()[0])
            elif line.startswith(("summary:", "totals:")):
                instructions = max(instructions, int(line.split()[1]))
    return instructions, allocations


def main():
    folder, short, long, thresholds, result = sys.argv[1:]
    calls = int(long) - int(short)
    with open(thresholds, encoding="utf-8") as file:
        limits = json.load(file)
    rows, exceeded = [], []
    for process, what in (("embedded", "embedded {}"), ("daemon", "daemon, for {}")):
        for call, article in (("read", "a"), ("add", "an")):
            small, large = (read(f"{folder}/{process}.{call}.{count}") for count in (short, long))
            for unit, first, second in zip(("instructions", "allocations"), small, large):
                name = f"{unit}, " + what.format(call if process == "embedded" else f"{article} {call}")
                value = (second - first) / calls
                limit = limits.get(name, {}).get("limits", {}).get("any")
                rows.append({"name": name, "value": round(value, 1), "limit": limit})
                if limit is not None and value > limit:
                    exceeded.append(name)
                print(f"{name:40} {value:12.1f}   limit {limit if limit is not None else '-'}"
                      + ("   BEYOND THE LIMIT" if name in exceeded else ""))
    with open(result, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=2)
    if exceeded:
        sys.exit("bench-counts: beyond the limit: " + ", ".join(exceeded))


main()
