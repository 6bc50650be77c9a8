"""Writes expenses.csv: some three months of a small team's expenses, the same bytes every time.

    python3 data/make.py > data/expenses.csv
"""

import csv
import random
import sys
from datetime import date, timedelta

KINDS = {
    "travel": (("Rail ticket", 18, 190), ("Taxi", 9, 48), ("Flight", 90, 410)),
    "lodging": (("Hotel night", 85, 210),),
    "meals": (("Lunch with a customer", 24, 96), ("Team dinner", 80, 260)),
    "software": (("Licence", 12, 120), ("Hosting", 20, 340)),
    "office": (("Paper and toner", 8, 75), ("Keyboard", 35, 140)),
}
PEOPLE = ("Ada", "Björn", "Chen", "Dalia", "Edo")


def rows():
    rnd = random.Random(20260701)
    day = date(2026, 7, 1)
    for _ in range(96):
        kind = rnd.choice(sorted(KINDS))
        what, low, high = rnd.choice(KINDS[kind])
        cents = rnd.randrange(low * 100, high * 100)
        yield [day.isoformat(), rnd.choice(PEOPLE), kind, what, f"{cents / 100:.2f}", "yes" if rnd.random() > 0.12 else "no"]
        day += timedelta(days=rnd.choice((0, 1, 1, 2)))


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["date", "person", "category", "description", "amount_eur", "receipt"])
    everything = list(rows())
    everything.insert(41, everything[40])  # somebody has handed in the same one twice
    out.writerows(everything)


main()
