#!/usr/bin/env python3
"""Writes a year of made-up order lines of an outdoor shop as CSV, always the same bytes for the same seed.

    python3 data/make_orders.py > orders.csv            # 62,000 lines, 53 weeks up to Sunday of 2026-W47
    python3 data/make_orders.py --seed 8 > other.csv

Only Random.random() is drawn from: of the module random it alone is promised to stay the same in later versions of
Python (its documentation, "Notes on Reproducibility"). Sums are of integers, and shares are compared, never rounded.
"""

import argparse
import csv
import datetime
import random
import sys

FIRST = datetime.date(2025, 11, 17)    # Monday of 2025-W47: last year's week to compare with
WEEKS = 53
LINES_A_DAY = 168
COLUMNS = ["order_id", "line", "placed_at", "channel", "country", "category", "product", "quantity", "unit_price",
           "discount_pct", "status"]

# product, category, price in cents, how often it is bought
PRODUCTS = [
    ("Alder down jacket", "Jackets", 21900, 6), ("Birch rain shell", "Jackets", 15900, 8),
    ("Cedar fleece", "Jackets", 7900, 11), ("Hazel windbreaker", "Jackets", 8900, 6),
    ("Summit boot", "Footwear", 18900, 7), ("Ridge trail shoe", "Footwear", 12900, 10),
    ("Fen gaiter", "Footwear", 3900, 5), ("Camp slipper", "Footwear", 4500, 6),
    ("Tarn tent 2P", "Tents", 34900, 3), ("Tarn tent 4P", "Tents", 52900, 2), ("Heath tarp", "Tents", 9900, 4),
    ("Moor pack 28 L", "Packs", 11900, 8), ("Moor pack 55 L", "Packs", 19900, 4), ("Dune duffel 60 L", "Packs", 8900, 6),
    ("Fell sleeping bag 0 °C", "Sleeping", 18900, 4), ("Fell sleeping bag -10 °C", "Sleeping", 25900, 3),
    ("Loft sleeping mat", "Sleeping", 9500, 6), ("Loft pillow", "Sleeping", 2900, 7),
    ("Ember stove", "Kitchen", 6900, 6), ("Ember pot set", "Kitchen", 5400, 5), ("Steel flask 0.75 L", "Kitchen", 2900, 14),
    ("Beam headlamp", "Accessories", 4900, 12), ("Merino cap", "Accessories", 2500, 10),
    ("Trek poles", "Accessories", 8900, 6),
]

# How a category sells in each month, January first, in percent of its usual.
SEASON = {
    "Jackets": [120, 105, 90, 80, 65, 50, 45, 55, 95, 130, 160, 170],
    "Footwear": [85, 85, 105, 115, 115, 105, 95, 100, 110, 110, 105, 120],
    "Tents": [30, 40, 70, 120, 170, 200, 180, 120, 65, 40, 30, 45],
    "Packs": [75, 80, 95, 110, 125, 130, 125, 105, 95, 90, 85, 115],
    "Sleeping": [55, 60, 80, 110, 135, 150, 140, 115, 90, 80, 75, 95],
    "Kitchen": [70, 75, 85, 105, 120, 130, 125, 110, 95, 90, 95, 150],
    "Accessories": [105, 95, 90, 85, 80, 75, 75, 80, 100, 120, 135, 180],
}
WEEKDAY = [104, 96, 94, 97, 103, 98, 118]    # Monday first, in percent
CHANNELS = [("Online shop", 52), ("Marketplace", 21), ("Own stores", 18), ("Partners", 9)]
COUNTRIES = [("Germany", 38), ("Netherlands", 17), ("France", 14), ("Austria", 11), ("Denmark", 8), ("Poland", 7),
             ("Czechia", 5)]
DISCOUNTS = [(0, 70), (5, 9), (10, 13), (20, 6), (30, 2)]
STATUS = [("shipped", 90), ("returned", 6), ("cancelled", 4)]
QUANTITY = [(1, 78), (2, 16), (3, 4), (4, 2)]
DAMAGE = [("quantity", "n/a"), ("quantity", ""), ("unit_price", "-"), ("placed_at", "0000-00-00T00:00"), ("status", "???")]


def pick(rng, weighted):
    """One of the values, by weight: the last column of each row."""
    at = rng.random() * sum(row[-1] for row in weighted)
    for row in weighted:
        at -= row[-1]
        if at < 0:
            return row[0]
    return weighted[-1][0]


def weights(day, week):
    """The products with the weights of a day: the season's, and what is particular to the last weeks."""
    rows = []
    for product in PRODUCTS:
        weight = product[3] * SEASON[product[1]][day.month - 1]
        if week == WEEKS - 1 and product[0] == "Alder down jacket":
            weight = weight * 9 // 5    # the first frost
        rows.append((product, weight))
    return rows


def demand(day, week):
    """How many order lines a day has in the middle: season, day of the week, growth over the year, two events."""
    usual = sum(p[3] * 100 for p in PRODUCTS)
    season = sum(weight for _, weight in weights(day, week))
    lines = LINES_A_DAY * season * WEEKDAY[day.weekday()] * (100 + week * 12 // WEEKS) // (usual * 100 * 100)
    if week in (1, WEEKS - 1):
        lines = lines * (125 if day.weekday() >= 4 else 104) // 100    # the sale at the end of November
    return lines


def orders(seed):
    rng = random.Random(seed)
    number = 100_000
    for week in range(WEEKS):
        for weekday in range(7):
            day = FIRST + datetime.timedelta(days=7 * week + weekday)
            products = weights(day, week)
            left = demand(day, week) * int(92 + rng.random() * 17) // 100
            minutes = sorted(int(rng.random() * 1440) for _ in range(left))
            while left > 0:
                number += 1 + int(rng.random() * 3)
                size = min(left, 1 + int(rng.random() * rng.random() * 5))
                placed = f"{day}T{minutes[-left] // 60:02d}:{minutes[-left] % 60:02d}"
                channel, country = pick(rng, CHANNELS), pick(rng, COUNTRIES)
                if week == WEEKS - 1 and country == "Netherlands" and weekday in (1, 2, 3) and rng.random() < 0.6:
                    country = "Germany"    # a warehouse that stood still for three days
                for line in range(1, size + 1):
                    product, category, cents, _ = pick(rng, products)
                    yield [number, line, placed, channel, country, category, product, pick(rng, QUANTITY),
                           f"{cents // 100}.{cents % 100:02d}", pick(rng, DISCOUNTS), pick(rng, STATUS)]
                left -= size


def damaged(rows, seed):
    """The rows as an export has them: about one in 1,500 twice, and one in 2,000 with a field that cannot be read."""
    rng = random.Random(seed + 1)
    for row in rows:
        chance = rng.random()
        if chance < 1 / 2000:
            name, value = DAMAGE[int(rng.random() * len(DAMAGE))]
            row[COLUMNS.index(name)] = value
        yield row
        if chance > 1 - 1 / 1500:
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=47)
    seed = parser.parse_args().seed
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows(damaged(orders(seed), seed))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    main()
