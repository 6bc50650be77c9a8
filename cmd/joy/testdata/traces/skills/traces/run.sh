#!/bin/sh
mark=$JOY_INPUT_MARK
places='/ /bin /dev /dev/mqueue /dev/shm /etc /home /lib /opt /root /run /sbin /srv /tmp /usr /usr/bin /usr/local /usr/local/bin
/usr/local/sbin /usr/sbin /var /var/cache /var/lib /var/log /var/spool /var/tmp /workspace /workspace/in /workspace/out
/workspace/skills /mnt'

case $JOY_INPUT_WHAT in
leave)
	left=0
	for dir in $places; do
		mkdir -p $dir
		echo "$mark" >$dir/trace && left=$((left + 1))
	done
	# Each of these is refused, or is the VM's alone.
	{
		hostname "$mark"
		echo "$mark" >/proc/sys/kernel/hostname
		date -s '2001-02-03 04:05:06'
		keyctl add user "$mark" "$mark" @u
		echo "$mark" >/etc/hostname
		echo "$mark" >/etc/machine-id
		echo 'TZ=Asia/Tokyo; umask 077' >>/etc/profile
		for disk in /dev/vd* /dev/sd*; do echo "$mark" >$disk; done
		sleep 1001 &
	} 2>/dev/null
	rm /workspace/out/trace
	echo $left >out/left.txt
	;;
look)
	for dir in $places; do
		[ -e $dir/trace ] && echo "$dir/trace"
	done >out/found.txt
	{
		find / -xdev -name trace
		grep -l "$mark" /etc/* /proc/keys /proc/sys/kernel/hostname
		ps -o args | grep 'sleep 1001' | grep -v grep
		[ "$(date +%Y)" -ge 2026 ] || date
	} 2>/dev/null >>out/found.txt
	{
		echo "hostname $(hostname)"
		echo "zone $(date -d @0 '+%Z %H')"
		echo "locale $LANG"
		echo "umask $(umask)"
		echo "home $HOME"
		echo "directory $(pwd)"
		echo "uid $(id -u)"
	} >out/same.txt
	{
		cat /etc/machine-id
		head -c 16 /dev/urandom | sha256sum
	} >out/fresh.txt
	;;
esac
echo '{"done": true}'
