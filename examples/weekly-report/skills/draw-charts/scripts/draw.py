#!/usr/bin/env python3
"""Draws what `aggregate-sales` found as out/trend.svg, out/days.svg and out/categories.svg. Prints one JSON object."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

import charts
from world import finish, step_input


def main():
    sales = step_input("sales")["sales"]
    drawn = {"trend.svg": charts.trend(sales), "days.svg": charts.days(sales), "categories.svg": charts.categories(sales)}
    os.makedirs("out", exist_ok=True)
    for name, document in drawn.items():
        with open(os.path.join("out", name), "w", encoding="utf-8", newline="\n") as file:
            file.write(document)
    finish({"charts": list(drawn)})


if __name__ == "__main__":
    main()
