"""The step's world, as joy gives it: the input in a file that JOY_INPUT names, the result as one JSON object on stdout."""

import json
import os
import sys


def step_input(*required):
    """The step's input object. Ends the step when it is not there or lacks one of `required`."""
    try:
        with open(os.environ["JOY_INPUT"], encoding="utf-8") as file:
            given = json.load(file)
    except (KeyError, OSError, ValueError) as err:
        sys.exit(f"reading the input: JOY_INPUT must name a JSON file ({type(err).__name__}: {err})")
    missing = [name for name in required if not isinstance(given, dict) or given.get(name) is None]
    if missing:
        sys.exit(f"reading the input: {', '.join(missing)} is missing")
    return given


def finish(result):
    """Prints the step's result. Logs belong on stderr, or joy could not tell the two apart."""
    print(json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
