import csv, json, os
from decimal import Decimal

limit = Decimal(os.environ["JOY_INPUT_LIMIT"])
with open(os.environ["JOY_INPUT_EXPENSES"], newline="") as f:
    rows = list(csv.DictReader(f))
sums, seen, look = {}, set(), []
for r in rows:
    amount = Decimal(r["amount_eur"])
    sums[r["category"]] = sums.get(r["category"], 0) + amount
    why = []
    if amount > limit:
        why.append(f"above {limit}")
    if r["receipt"] != "yes":
        why.append("no receipt")
    if tuple(r.values()) in seen:
        why.append("handed in twice")
    seen.add(tuple(r.values()))
    if why:
        look.append((r, ", ".join(why)))
order = sorted(sums.items(), key=lambda kv: (-kv[1], kv[0]))
total = sum(sums.values())
days = sorted(r["date"] for r in rows)
lines = ["# Expenses", "", f"{total} EUR in {len(rows)} rows, from {days[0]} to {days[-1]}.", "", "| Category | EUR |", "|---|---:|"]
lines += [f"| {k} | {v} |" for k, v in order]
lines += ["", "## Second look", ""] + [f"- {r['date']} {r['person']}, {r['description']}, {r['amount_eur']}: {w}" for r, w in look]
os.makedirs("out", exist_ok=True)
with open("out/report.md", "w") as f:
    f.write("\n".join(lines) + "\n")
print("report written")
print(json.dumps({"rows": len(rows), "total": float(total), "largest_category": order[0][0], "second_look": len(look)}))
