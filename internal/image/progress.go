package image

import "io"

// Progress is where a build, an export or an import stands. Each phase is said once when it begins; where bytes can be
// counted it is said again as they pass, often.
type Progress struct {
	Phase string // what is being done, for a person
	Done  int64  // bytes that have passed in this phase
	Total int64  // bytes there will be; 0 when nobody knows
}

// said is a phase that tells as it goes.
type said struct {
	Progress
	tell func(Progress)
}

func phase(tell func(Progress), what string, total int64) *said {
	s := &said{Progress{Phase: what, Total: total}, tell}
	tell(s.Progress)
	return s
}

// count makes a reader whose bytes are told.
func (s *said) count(r io.Reader) io.Reader {
	return io.TeeReader(r, writerFunc(func(p []byte) (int, error) {
		s.Done += int64(len(p))
		s.tell(s.Progress)
		return len(p), nil
	}))
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
