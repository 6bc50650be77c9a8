#!/bin/sh
# Does what its input names. What fills something stays for a while, so that whoever works beside it has it to bear.
case $JOY_INPUT_DEED in
fork-bomb)
	bomb() { bomb | bomb & }
	bomb
	while :; do :; done
	;;
processes)
	mkfifo never
	i=0
	while [ $i -lt 10000 ]; do
		(read -r x <never) &
		i=$((i + 1))
	done
	;;
disk)
	dd if=/dev/zero of=/workspace/big bs=1M
	dd if=/dev/zero of=/tmp/big bs=1M
	sleep 4
	exit 1
	;;
memory)
	dd if=/dev/zero of=/dev/null bs=4096M count=1
	;;
shared-memory)
	for i in 1 2 3; do dd if=/dev/zero of=/dev/shm/$i bs=1M; done
	dd if=/dev/zero of=/dev/null bs=4096M count=1
	;;
kill)
	sleep 2
	sh -c 'kill -9 -1; exit 1'
	;;
reboot)
	reboot -f
	poweroff -f
	halt -f
	exit 1
	;;
sysrq)
	for c in c b o; do echo $c >/proc/sysrq-trigger; done
	exit 1
	;;
output)
	dd if=/dev/zero bs=1000000 count=100
	;;
daemon)
	setsid sleep 1001 &
	(setsid sh -c 'while :; do echo x >>/workspace/late; sleep 0.1; done' &)
	echo '{}'
	;;
descriptors)
	exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
	while :; do sleep 1; done
	;;
stopped)
	echo waiting >&2
	sleep 1000
	;;
esac
