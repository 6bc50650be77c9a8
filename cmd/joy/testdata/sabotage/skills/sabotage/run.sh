#!/bin/sh
echo "$JOY_INPUT_WHAT" >/workspace/sabotage
sleep 1000
