#!/bin/sh
echo "Hello, $JOY_INPUT_NAME" > out/greeting.txt
echo "{\"greeting\": \"Hello, $JOY_INPUT_NAME\"}"
