package sandboxtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// prepare writes over the image in every way that a layer must keep.
const prepare = `set -e
rm /etc/passwd
mv /etc/group /etc/group.old
rm -r /etc/ssl /opt 2>/dev/null || true
mkdir -p /opt/tool && echo v1 >/opt/tool/version
chown 7:8 /opt/tool/version && chmod 4751 /opt/tool/version
ln -s version /opt/tool/current && ln /opt/tool/version /opt/tool/twin && mkfifo /opt/tool/pipe
echo replaced >/etc/hostname
echo left >/workspace/left && echo left >/workspace/out/left
probe attribute /opt/tool/version user.joy kept
(while :; do echo again >/opt/tool/haunted; done) >/dev/null 2>&1 &
until test -e /opt/tool/haunted; do sleep 0.1; done
`

func testLayers(t *testing.T, r *room) {
	w := r.probed(t, sandbox.WorldSpec{ID: "setup", Keep: "setup"})
	w.sh(t, prepare)
	w.sh(t, `rm -rf /root/dir && mkdir /root/dir && echo lower >/root/dir/lower`)

	t.Run("it is no layer before its world is closed", func(t *testing.T) {
		_, err := r.sandbox.Open(t.Context(), sandbox.WorldSpec{ID: "early", Layers: []string{"setup"}})
		require.Error(t, err)
		require.NotErrorIs(t, err, sandbox.ErrLost)
	})
	require.NoError(t, w.Close(t.Context()))
	over := sandbox.WorldSpec{Layers: []string{"setup"}}

	t.Run("what was written is there", func(t *testing.T) {
		step := r.probed(t, sandbox.WorldSpec{Layers: over.Layers})
		require.Equal(t, "v1\n", step.sh(t, `cat /opt/tool/current`))
		require.Equal(t, "7 8 4751 2\n", step.sh(t, `stat -c '%u %g %a %h' /opt/tool/version`))
		require.Equal(t, "replaced\n", step.sh(t, `cat /etc/hostname`))
		require.Equal(t, "kept\n", step.sh(t, `probe attribute /opt/tool/version user.joy`))
		step.sh(t, `test -p /opt/tool/pipe`)
	})
	t.Run("what was removed is gone", func(t *testing.T) {
		step := r.world(t, over)
		step.fails(t, `ls /etc/passwd`)
		step.fails(t, `ls /etc/group`)
		step.sh(t, `test -s /etc/group.old; rm /etc/group.old; echo new >/etc/passwd`)
	})
	t.Run("nothing of its workspace, its processes or its door is left", func(t *testing.T) {
		step := r.world(t, over)
		require.Empty(t, step.sh(t, `find /workspace -type f`))
		step.sh(t, `rm -f /opt/tool/haunted; sleep 0.3; test ! -e /opt/tool/haunted`)
		r.world(t, over).sh(t, `test -e /opt/tool/haunted`)
	})
	t.Run("a step does not change it for another", func(t *testing.T) {
		one, other := r.world(t, over), r.world(t, over)
		one.sh(t, `echo v2 >/opt/tool/version; rm /root/dir/lower; rmdir /root/dir; mkdir /root/dir; chown 1:1 /opt/tool`)
		require.Equal(t, "v1\n", other.sh(t, `cat /opt/tool/version`))
		require.NoError(t, one.Close(t.Context()))
		later := r.world(t, over)
		require.Equal(t, "v1\nlower\n0 0\n", later.sh(t, `cat /opt/tool/version /root/dir/lower; stat -c '%u %g' /opt/tool`))
	})
	t.Run("a world without it sees the image", func(t *testing.T) {
		r.world(t, sandbox.WorldSpec{}).sh(t, `test -e /etc/passwd; test ! -e /opt/tool`)
	})
	t.Run("the nearest layer is last", func(t *testing.T) {
		second := r.world(t, sandbox.WorldSpec{ID: "second", Layers: []string{"setup"}, Keep: "second"})
		second.sh(t, `echo v3 >/opt/tool/version; rm -r /root/dir; mkdir /root/dir; echo upper >/root/dir/upper`)
		require.NoError(t, second.Close(t.Context()))
		both := r.world(t, sandbox.WorldSpec{Layers: []string{"setup", "second"}})
		require.Equal(t, "v3\nupper\n", both.sh(t, `cat /opt/tool/version; ls /root/dir`))
	})
	for name, spec := range map[string]sandbox.WorldSpec{
		"a path":       {ID: "x", Keep: "../x"},
		"a taken name": {ID: "x", Keep: "setup"},
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			_, err := r.sandbox.Open(t.Context(), spec)
			require.Error(t, err)
			require.NotErrorIs(t, err, sandbox.ErrLost)
		})
	}
	t.Run("a name is given once", func(t *testing.T) {
		one := r.world(t, sandbox.WorldSpec{ID: "one", Keep: "same"})
		two, err := r.sandbox.Open(t.Context(), sandbox.WorldSpec{ID: "two", Keep: "same"})
		require.NoError(t, err)
		require.NoError(t, one.Close(t.Context()))
		require.ErrorContains(t, two.Close(t.Context()), "exists")
	})
}
