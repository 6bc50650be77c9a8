package account

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
)

// Thursday evening in Berlin.
var now = time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return zone
}

func TestParseWhen(t *testing.T) {
	for text, want := range map[string][2]string{
		"2026-11-24 18:03":          {"2026-11-24T18:03:00.000+01:00", "2026-11-24T18:03:59.999+01:00"},
		"2026-11-24T18:03":          {"2026-11-24T18:03:00.000+01:00", "2026-11-24T18:03:59.999+01:00"},
		" 2026-11-24  at 18:03:07 ": {"2026-11-24T18:03:07.000+01:00", "2026-11-24T18:03:07.999+01:00"},
		"2026-11-24 18:03:07.250":   {"2026-11-24T18:03:07.250+01:00", "2026-11-24T18:03:07.250+01:00"},
		"2026-11-24T18:03Z":         {"2026-11-24T19:03:00.000+01:00", "2026-11-24T19:03:59.999+01:00"},
		"2026-11-24T18:03:07.250Z":  {"2026-11-24T19:03:07.250+01:00", "2026-11-24T19:03:07.250+01:00"},
		"2026-11-24T18:03:07-05:00": {"2026-11-25T00:03:07.000+01:00", "2026-11-25T00:03:07.999+01:00"},
		"tuesday 18:03":             {"2026-11-24T18:03:00.000+01:00", "2026-11-24T18:03:59.999+01:00"},
		"Tuesday at 6:03 pm":        {"2026-11-24T18:03:00.000+01:00", "2026-11-24T18:03:59.999+01:00"},
		"tue 12am":                  {"2026-11-24T00:00:00.000+01:00", "2026-11-24T00:00:59.999+01:00"},
		"thursday 20:30":            {"2026-11-26T20:30:00.000+01:00", "2026-11-26T20:30:59.999+01:00"},
		"thursday 22:00":            {"2026-11-19T22:00:00.000+01:00", "2026-11-19T22:00:59.999+01:00"},
		"yesterday 9:00":            {"2026-11-25T09:00:00.000+01:00", "2026-11-25T09:00:59.999+01:00"},
		"today 12pm":                {"2026-11-26T12:00:00.000+01:00", "2026-11-26T12:00:59.999+01:00"},
		"18:03":                     {"2026-11-26T18:03:00.000+01:00", "2026-11-26T18:03:59.999+01:00"},
		"22:03":                     {"2026-11-25T22:03:00.000+01:00", "2026-11-25T22:03:59.999+01:00"},
		"90m ago":                   {"2026-11-26T19:30:00.000+01:00", "2026-11-26T19:30:00.999+01:00"},
		"2 days ago":                {"2026-11-24T21:00:00.000+01:00", "2026-11-24T21:00:00.999+01:00"},
		"2026-10-25":                {"2026-10-25T00:00:00.000+02:00", "2026-10-25T23:59:59.999+01:00"},
		"2026-10-25T02:30:00+02:00": {"2026-10-25T02:30:00.000+02:00", "2026-10-25T02:30:00.999+02:00"},
		"yesterday":                 {"2026-11-25T00:00:00.000+01:00", "2026-11-25T23:59:59.999+01:00"},
	} {
		t.Run(text, func(t *testing.T) {
			w, err := ParseWhen(text, now, berlin(t))
			require.NoError(t, err)
			const layout = "2006-01-02T15:04:05.000Z07:00"
			require.Equal(t, want, [2]string{w.From.In(berlin(t)).Format(layout), w.To.In(berlin(t)).Format(layout)})
		})
	}
}

func TestParseWhenRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                     "no time is given",
		"soon":                 "is no time",
		"18":                   "is no time",
		"2026-13-24 18:03":     "is no day",
		"2026-11-24 25:00":     "no time of a day",
		"tuesday 18:61":        "no time of a day",
		"13 pm":                "no hour 13 pm",
		"tuesday 18:03 please": "is no time",
		"2026-03-29 02:30":     "there was no 2026-03-29 02:30 in Europe/Berlin",
		"2026-10-25 02:30":     "was twice in Europe/Berlin",
		"1x ago":               "is no time",
		"1mm ago":              "no length of time",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseWhen(text, now, berlin(t))
			require.ErrorContains(t, err, why)
		})
	}
}

func FuzzParseWhen(f *testing.F) {
	for _, seed := range []string{"tuesday 18:03", "2026-10-25 02:30", "18:03:07.250", "6 pm", "2h ago", "\x1b", "2026-11-24T"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWhen(text, now, time.UTC)
		if err == nil {
			require.False(t, w.To.Before(w.From))
		}
	})
}
