#!/bin/sh
# Leaves in out/ what a collection could stumble over.
cd out || exit 1

echo keep >a-good.txt
cp "$JOY_SKILL_DIR/bomb.zip" a-bomb.zip
cp /proc/self/environ a-token.bin

mkdir links
ln -s /etc/passwd links/absolute
ln -s ../../in/input.json links/relative
ln -s ../../.. links/up
ln -s links links/self
ln -s links middle # middle/absolute would be a path with a link in it

mkdir kinds
mkfifo kinds/fifo
mknod kinds/device c 0 0 # all that a step may make
ln -s /workspace/out/kinds/socket /dev/log && syslogd && until [ -S kinds/socket ]; do sleep 0.1; done
ln /bin/busybox kinds/hard 2>/dev/null || echo "no link to the image" >kinds/hard

truncate -s 10G sparse
truncate -s 1M holes

mkdir names
for name in "$(printf 'two\nlines')" "$(printf '\033]0;owned\007\033[2J')" "$(printf '\377\376')" "$(printf '\302\2332J')" \
	"$(printf 'right\342\200\256left')" ' ' '-rf' 'C:\x' 'con.txt' '$(reboot)' '"' '.git'; do
	echo "$name" >"names/$name"
done

mkdir modes modes/closed
echo unreadable >modes/none
echo inside >modes/closed/inside
chmod 0 modes/none modes/closed modes

deep=$(seq 1000 | sed 's/.*/d/' | tr '\n' '/')
mkdir -p "$deep" && echo bottom >"$deep/bottom"

# Links to 500 files: as many names, and not as many inodes.
mkdir -p z-many/1
(cd z-many/1 && seq 500 | xargs touch)
for i in $(seq 2 200); do cp -al z-many/1 z-many/$i; done
find z-many -type f | wc -l >a-count.txt

(while :; do echo grows >>grows; done) &
until [ -s grows ]; do sleep 0.1; done
echo '{}'
