#!/bin/sh
# Needs a little of everything for some seconds: processes, memory, the disk in both places, and the processor.
set -e
mkdir -p /tmp/work
i=0
while [ $i -lt 10 ]; do
	i=$((i + 1))
	head -c 200000 /dev/zero | tr '\0' x >/tmp/work/$i
	cp /tmp/work/$i out/part
	dd if=/dev/zero of=/dev/null bs=8M count=1 2>/dev/null
	cat out/part >>out/whole
	sleep 0.4
done
rm out/part
echo '{"done": true}'
