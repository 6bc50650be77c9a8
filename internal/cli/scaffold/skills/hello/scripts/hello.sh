#!/bin/sh
# Greets JOY_INPUT_NAME. The result goes to stdout as one JSON object; anything for people belongs on stderr.
set -eu

printf 'Hello, %s!\n' "$JOY_INPUT_NAME" > out/greeting.txt
echo "wrote out/greeting.txt" >&2

bytes=$(wc -c < out/greeting.txt)
printf '{"greeting": "out/greeting.txt", "bytes": %d}\n' "$bytes"
