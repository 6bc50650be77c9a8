package verify

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPairsOfVeryManyStarts(t *testing.T) {
	p := newPairs()
	for seq := range int64(maxOpen + 10) {
		p.take(Entry{Seq: seq + 1, Type: "tool.requested", Step: "a"})
	}
	p.take(Entry{Seq: maxOpen + 11, Type: "tool.returned", Step: "a", of: 5})
	p.take(Entry{Seq: maxOpen + 12, Type: "tool.returned", Step: "a", of: maxOpen + 5}) // of one that is not followed
	require.Len(t, p.left(), maxOpen-1)
	require.EqualValues(t, 10, p.more)
}

// TestPairsForgetWhatEnded holds that one start without an end does not keep those that ended after it.
func TestPairsForgetWhatEnded(t *testing.T) {
	p := newPairs()
	p.take(Entry{Seq: 1, Type: "tool.requested", Step: "a"})
	for seq := int64(2); seq < 20_000; seq += 2 {
		p.take(Entry{Seq: seq, Type: "tool.requested", Step: "a"})
		p.take(Entry{Seq: seq + 1, Type: "tool.returned", Step: "a", of: seq})
	}
	require.Len(t, p.left(), 1)
	require.Less(t, len(p.ofStep[step{"tool.requested", "a"}]), 100)
	require.Len(t, p.named, 1)
	p.take(Entry{Seq: 30_000, Type: "tool.returned", Step: "a"})
	require.Empty(t, p.left())
	require.Empty(t, p.ofStep)
}

func TestMarks(t *testing.T) {
	sum := func(seq int) Hash { return sha256.Sum256(fmt.Append(nil, seq)) }
	var m marks
	require.False(t, m.are(1, sum(1)))
	for seq := 1; seq <= marksPiece+2; seq++ {
		m.add(sum(seq))
	}
	for _, seq := range []int{1, 2, marksPiece, marksPiece + 1, marksPiece + 2} {
		require.True(t, m.are(int64(seq), sum(seq)), seq)
		require.False(t, m.are(int64(seq), sum(seq+1)), seq)
	}
	require.False(t, m.are(marksPiece+3, sum(marksPiece+3)))
}
