"""Sets the limits of thresholds.json to what the last runs reached, with room for
noise: limits.py RESULT.json COUNTS.json THRESHOLDS. Run it after a change that made
things faster; the difference is then reviewed like any other. Budgets stay, and no limit
is stricter than its budget."""
import json
import math
import sys

ROOM = {"ratio": 1.25, "excess": 1.35, "figure": 1.25, "gain": 0.75}


def rounded(value, up):
    step = 10 ** (math.floor(math.log10(abs(value))) - 1) if value else 1
    return round((math.ceil if up else math.floor)(value / step) * step, 6)


def main():
    result, counts, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        thresholds = json.load(file)
    reached = {}
    with open(result, encoding="utf-8") as file:
        for row in json.load(file)["rows"]:
            limits = thresholds.get(row["name"], {}).get("limits")
            if limits is None or row.get("judged") is None:
                continue
            where = row.get("pinning") if row.get("pinning") in limits else "any"
            gain = row["judgement"] == "gain"
            # A count has no noise.
            room = ROOM[row["judgement"]] if row["unit"] else 1
            value = rounded(row["judged"] * room, not gain)
            # What meets its budget may use all of it.
            if row.get("budget") is not None:
                value = (min if gain else max)(value, row["budget"])
            key = (row["name"], where)
            reached[key] = (min if gain else max)(value, reached.get(key, value))
    with open(counts, encoding="utf-8") as file:
        for row in json.load(file):
            if row["name"] in thresholds:
                reached[(row["name"], "any")] = math.ceil(row["value"] * 1.05)
    for (name, where), value in reached.items():
        thresholds[name]["limits"][where] = value
    with open(path, "w", encoding="utf-8") as file:
        lines = (f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in thresholds.items())
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


main()
