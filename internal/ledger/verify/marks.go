package verify

// mark is the beginning of an entry's hash. It explains what was found; it decides nothing.
type mark [8]byte

// marks are those of a ledger's entries, from the first on, to tell a duplicate. They are kept in pieces, since a list that
// grows is held twice each time it does.
type marks [][]mark

const (
	marksPiece = 1 << 16
	maxMarks   = 1 << 22 // a duplicate of a later entry is called an inserted line: 32 MiB are enough for an explanation
)

func (m *marks) add(sum Hash) {
	last := len(*m) - 1
	if last < 0 || len((*m)[last]) == marksPiece {
		if len(*m) == maxMarks/marksPiece {
			return
		}
		*m = append(*m, make([]mark, 0, marksPiece))
		last++
	}
	(*m)[last] = append((*m)[last], mark(sum[:len(mark{})]))
}

// are says whether sum begins as the hash of entry seq, from 1 on, does.
func (m marks) are(seq int64, sum Hash) bool {
	piece, at := int((seq-1)/marksPiece), int((seq-1)%marksPiece)
	return piece < len(m) && at < len(m[piece]) && m[piece][at] == mark(sum[:len(mark{})])
}
