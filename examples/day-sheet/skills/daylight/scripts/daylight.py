#!/usr/bin/env python3
"""Works out sunrise and sunset of a day in a city. Prints one JSON object."""

import datetime
import json
import os
import sys
import zoneinfo
from math import acos, asin, cos, degrees, radians, sin

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from world import finish, step_input

NOON_2000 = datetime.datetime(2000, 1, 1, 12, tzinfo=datetime.timezone.utc)
HORIZON = -0.833    # degrees: the sun's radius, and what the air bends


def sun(day, latitude, longitude):
    """Sunrise and sunset as instants (https://en.wikipedia.org/wiki/Sunrise_equation). None where there are none."""
    noon = (day - NOON_2000.date()).days - longitude / 360
    anomaly = radians((357.5291 + 0.98560028 * noon) % 360)
    centre = 1.9148 * sin(anomaly) + 0.02 * sin(2 * anomaly) + 0.0003 * sin(3 * anomaly)
    along = radians((degrees(anomaly) + centre + 180 + 102.9372) % 360)
    transit = noon + 0.0053 * sin(anomaly) - 0.0069 * sin(2 * along)
    tilt = asin(sin(along) * sin(radians(23.4397)))
    reach = (sin(radians(HORIZON)) - sin(radians(latitude)) * sin(tilt)) / (cos(radians(latitude)) * cos(tilt))
    if abs(reach) > 1:
        return None
    half = degrees(acos(reach)) / 360
    return [NOON_2000 + datetime.timedelta(days=transit + sign * half) for sign in (-1, 1)]


def main():
    given = step_input("date", "city")
    bundle = os.environ.get("JOY_SKILL_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(bundle, "assets", "cities.json"), encoding="utf-8") as file:
        cities = json.load(file)
    city = cities.get(given["city"]) or sys.exit(f"reading the input: {given['city']!r} is none of {', '.join(cities)}")
    try:
        day = datetime.date.fromisoformat(given["date"])
    except ValueError:
        sys.exit(f"reading the input: {given['date']!r} is no day")
    times = sun(day, city["latitude"], city["longitude"]) or sys.exit(f"the sun does not rise and set in {given['city']} that day")
    zone = zoneinfo.ZoneInfo(city["timezone"])
    sunrise, sunset = [(time + datetime.timedelta(seconds=30)).astimezone(zone).strftime("%H:%M") for time in times]
    finish({"sunrise": sunrise, "sunset": sunset, "timezone": city["timezone"]})


if __name__ == "__main__":
    main()
