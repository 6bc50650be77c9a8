package cli

import (
	"errors"

	"github.com/joystream-ai/joy/internal/fault"
)

// errorJSON is one failure in --json mode.
type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Col     int    `json:"col,omitempty"`
}

// report prints err in the asked form and returns its exit code.
func (a *app) report(err error) int {
	code := exitCode(err)
	var done *silent
	if err == nil || errors.As(err, &done) {
		return code
	}
	faults := faultsOf(err)
	if a.json {
		a.reportJSON(faults)
		return code
	}
	for _, e := range faults {
		a.reportText(e)
	}
	return code
}

// faultsOf lists what to print; a signal is a failure of its own, before those it caused.
func faultsOf(err error) []*fault.Error {
	var in *interrupted
	if !errors.As(err, &in) {
		return fault.All(err)
	}
	var faults []*fault.Error
	for _, e := range fault.All(err) {
		if e.Msg != in.Error() {
			faults = append(faults, e)
		}
	}
	if len(faults) > 0 && faults[0].Code == codeVMAlive {
		return faults
	}
	return append([]*fault.Error{{Kind: fault.Platform, Code: "JOY-SIGNAL", Msg: in.Error()}}, faults...)
}

func (a *app) reportText(e *fault.Error) {
	msg := a.line(e.Msg)
	if place := e.Place(); place != "" {
		msg += " (" + a.line(place) + ")"
	}
	a.tell("%s %s", a.err.fail.Render("Error:"), msg)
	if e.Err != nil {
		a.tell("%s %s", a.err.dim.Render("cause:"), a.line(e.Err.Error()))
	}
	if e.Hint != "" {
		a.tell("%s %s", a.err.note.Render("hint:"), a.line(e.Hint))
	}
}

func errorJSONOf(e *fault.Error) errorJSON {
	j := errorJSON{Code: e.Code, Message: e.Msg, Hint: e.Hint, File: e.File, Line: e.Line, Col: e.Col}
	if j.Code == "" {
		j.Code = string(e.Kind)
	}
	if e.Err != nil {
		j.Message += ": " + e.Err.Error()
	}
	return j
}

func (a *app) reportJSON(faults []*fault.Error) {
	list := make([]errorJSON, 0, len(faults))
	for _, e := range faults {
		list = append(list, errorJSONOf(e))
	}
	doc := struct {
		Schema string      `json:"schema"`
		Error  errorJSON   `json:"error"`
		More   []errorJSON `json:"more,omitempty"` // the other failures of the same command, in order
	}{"joy.error/1", list[0], list[1:]}
	if err := a.printJSON(doc); err != nil {
		a.tell("Error: print the error: %v", err)
	}
}
