package image

import (
	"bytes"
	"strings"
)

// stages hears mmdebstrap say what it does and tells each as a phase. Its lines are for people and no interface: what is
// not known is left out, and nothing depends on one.
type stages struct {
	tell func(Progress)
	line []byte
}

// maxStage caps a line that is listened to, in bytes.
const maxStage = 256

var stageOf = []struct{ begins, phase string }{
	{"I: running apt-get update", "reading the package index"},
	{"I: downloading packages", "downloading Debian's minimum"},
	{"I: extracting archives", "unpacking Debian's minimum"},
	{"I: installing essential packages", "installing Debian's minimum"},
	{"I: installing remaining packages", "downloading and installing the other packages"},
	{"I: running --customize-hook", "putting the root in order"},
	{"I: creating tarball", "collecting the root"},
}

func (s *stages) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' {
			if len(s.line) < maxStage {
				s.line = append(s.line, c)
			}
			continue
		}
		text := string(bytes.TrimSpace(s.line))
		s.line = s.line[:0]
		for i := range stageOf {
			if strings.HasPrefix(text, stageOf[i].begins) {
				phase(s.tell, stageOf[i].phase, 0)
			}
		}
	}
	return len(p), nil
}
