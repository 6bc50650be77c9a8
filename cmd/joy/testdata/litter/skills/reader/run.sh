#!/bin/sh
# Sees of the step before what was kept of it, and nothing else.
cd in/litter || exit 1
find . ! -type d ! -type f >&2
printf '{"files": %d, "odd": %d}\n' "$(find . -type f | wc -l)" "$(find . ! -type d ! -type f | wc -l)"
