#!/bin/sh
echo half >out/half.txt
ln -s / out/root
echo 'the last words' >&2
exit 3
