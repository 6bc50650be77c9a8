#!/bin/sh
# Counts the words of JOY_INPUT_TEXT. The result goes to stdout as one JSON object; anything for people belongs on stderr.
set -eu

words=$(printf '%s' "${JOY_INPUT_TEXT:-}" | wc -w)
printf '%d words\n' "$words" > out/count.txt
printf '{"words": %d}\n' "$words"
