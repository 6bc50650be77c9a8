package cli

import (
	"errors"

	"github.com/joystream-ai/joy/internal/fault"
)

// codeVMAlive marks a failure after which a VM may still be running. Nothing outranks it.
const codeVMAlive = "JOY-VM-ALIVE"

// exits is the table of `joy help exit-codes`.
var exits = []struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
}{
	{"0", "ok"},
	{"1", "run or step failed"},
	{"2", "usage, spec, file or input invalid"},
	{"3", "drift (file, tool, image), or lock missing or stale"},
	{"4", "credential, trust or approval needed"},
	{"5", "denied by policy"},
	{"6", "platform failure (provider, VM lost; or a VM may still be alive)"},
	{"7", "ledger broken or incomplete"},
	{"124", "time limit"},
	{"130", "interrupted (SIGINT)"},
	{"143", "terminated (SIGTERM)"},
	{"129", "hung up (SIGHUP)"},
}

// silent is a failure that the command has already reported itself, in full: only its exit code is left to give.
type silent struct{ code int }

func (s *silent) Error() string { return "already reported" }

// exit ends a command with code after it has printed everything there is to say.
func exit(code int) error {
	if code == 0 {
		return nil
	}
	return &silent{code}
}

// exitCode is the only place where a failure becomes a number. Of several: a VM that may live, then a signal, then the
// first failure.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	for _, e := range fault.All(err) {
		if e.Code == codeVMAlive {
			return 6
		}
	}
	var in *interrupted
	if errors.As(err, &in) {
		return in.exitCode()
	}
	var s *silent
	if errors.As(err, &s) {
		return s.code
	}
	return exitCodeOf(fault.KindOf(err))
}

// exitCodeOf also serves a run's failure_kind.
func exitCodeOf(kind fault.Kind) int {
	switch kind {
	case fault.Agent, fault.Connection: // a missing or refused credential is Consent
		return 1
	case fault.Input:
		return 2
	case fault.Drift:
		return 3
	case fault.Consent:
		return 4
	case fault.Policy:
		return 5
	case fault.Ledger:
		return 7
	case fault.Timeout:
		return 124
	case fault.Platform:
		return 6
	}
	return 6
}
