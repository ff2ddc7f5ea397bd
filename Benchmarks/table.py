"""Writes results as Markdown: table.py RESULT.json COUNTS.json SECRET-SERVICE.json > results.md"""
import json
import sys


def number(value):
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def judged(row):
    value = row.get("judged")
    if value is None or row["judgement"] == "figure":
        return ""
    return f"+{number(value)} µs" if row["judgement"] == "excess" else f"{number(value)} ×"


def budget(row):
    value = row.get("budget")
    if value is None:
        return ""
    sign = {"ratio": "≤ {} ×", "gain": "≥ {} ×", "excess": "≤ +{} µs", "figure": "≤ {}"}[row["judgement"]]
    return sign.format(f"{value:g}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    machine = result["machine"]
    print("# Results\n")
    print(f"Commit {machine['commit']}, {result['date'][:10]}, {machine['processor']}, "
          f"{machine['processors']} processors, Linux {machine['kernel']}, priority: {machine['priority']}. Medians of one run; "
          "README.md says what the columns mean.\n")
    print("![cost against number of items](cost.png)\n")
    print("| row | items | where | measured | floor or other | judged | budget | | floor is |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in result["rows"]:
        measured = "" if row.get("measured") is None else f"{number(row['measured'])} {row['unit']}".strip()
        met = {True: "met", False: "**missed**"}.get(row.get("meets_budget"), "")
        notes = "; ".join(text for text in (row["floor_is"], row["remark"]) if text)
        items = f"{row['items']:,}".replace(",", " ") if "items" in row else ""
        print(f"| {row['name']} | {items} | {row.get('pinning', '')} | {measured} | {number(row.get('floor'))} "
              f"| {judged(row)} | {budget(row)} | {met} | {notes} |")
    if len(sys.argv) > 2:
        print("\nPer call, under callgrind (`make bench-counts`, 1 000 items):\n\n| count | value |\n|---|---|")
        with open(sys.argv[2], encoding="utf-8") as file:
            for row in json.load(file):
                print(f"| {row['name']} | {row['value']:.0f} |")
    if len(sys.argv) > 3:
        print("\nOver the session bus (`make bench-secret-service`): SearchItems and GetSecrets, beside a service "
              "that answers the same calls with no store behind it (budget 1.5 ×), and beside one whose answers come "
              "from two processes behind it, as ours (hops); and a store. Memory is of all processes: their own "
              "pages, and of these what they have written.\n")
        print("| service | items | | lookup | floor | | hops | store | memory | written |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        with open(sys.argv[3], encoding="utf-8") as file:
            for row in json.load(file):
                print(f"| {row['service']} | {row['items']:,} | ".replace(",", " ") + f"{row['placement']} | "
                      f"{number(row['lookup_us'])} µs | {number(row['floor_us'])} | {number(row['ratio'])} × "
                      f"| {number(row['hops_us'])} | {number(row['store_us'])} µs | {row['memory_mib']} MiB | {row['written_mib']} MiB |")


main()
