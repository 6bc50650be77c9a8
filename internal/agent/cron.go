package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a joy.yaml is valid on a machine without a zone database, too
)

// Fields of a 5-field schedule, crontab(5), with their ranges; 7 is Sunday as 0 is.
var cronFields = []struct {
	name      string
	low, high int
	words     []string // for low, low+1, …
}{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"weekday", 0, 7, strings.Fields("sun mon tue wed thu fri sat")},
}

// checkCron refuses what is not five fields, what never fires, and what fires on a day or a weekday: schedulers
// disagree whether that means both or either.
func checkCron(s string) error {
	parts := strings.Fields(s)
	if len(parts) != len(cronFields) {
		return fmt.Errorf("it has %d fields, not 5 (minute hour day month weekday)", len(parts))
	}
	var sets [5][]bool
	for i, part := range parts {
		set, err := cronSet(i, part)
		if err != nil {
			return err
		}
		sets[i] = set
	}
	if parts[2] != "*" && parts[4] != "*" {
		return errors.New("it restricts day and weekday: make two triggers of it")
	}
	longest := [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for month := 1; month <= 12; month++ {
		for day := 1; sets[3][month] && day <= longest[month-1]; day++ {
			if sets[2][day] {
				return nil
			}
		}
	}
	return errors.New("it never fires")
}

func cronSet(field int, part string) ([]bool, error) {
	f := cronFields[field]
	set := make([]bool, f.high+1)
	bad := func(why string) ([]bool, error) { return nil, fmt.Errorf("%s %q: %s", f.name, part, why) }
	for _, item := range strings.Split(part, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 || n > f.high {
				return bad("the step after / must be a number the field can hold")
			}
			step = n
		}
		from, to := f.low, f.high
		if span != "*" {
			a, b, ranged := strings.Cut(span, "-")
			var okA, okB bool
			from, okA = cronNumber(field, a)
			to, okB = from, true
			if ranged {
				to, okB = cronNumber(field, b)
			} else if stepped {
				to = f.high
			}
			if !okA || !okB || from > to {
				return bad(fmt.Sprintf("it takes %d to %d, *, lists, ranges and steps", f.low, f.high))
			}
		}
		for v := from; v <= to; v += step {
			set[v] = true
		}
	}
	return set, nil
}

func cronNumber(field int, s string) (int, bool) {
	f := cronFields[field]
	for i, w := range f.words {
		if strings.EqualFold(w, s) {
			return f.low + i, true
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= f.low && n <= f.high && s[0] != '+' && s[0] != '-'
}

// knownZone refuses "" and "Local" too: a schedule must not depend on the machine.
func knownZone(name string) bool {
	if name == "" || name == "Local" {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}
