package account

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// When is a moment as a person gives one: a minute, a second or a millisecond long, or a whole day.
type When struct {
	From time.Time
	To   time.Time // the last millisecond of it
	Day  bool      // no time of day was given
}

var (
	clockForm = regexp.MustCompile(`^(\d{1,2})(?::(\d{2})(?::(\d{2})(\.\d{3})?)?)?\s*([ap]m)?$`)
	agoForm   = regexp.MustCompile(`^(\d[\dhms]*)(?:\s*(d|days?))?\s+ago$`)
	weekdays  = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// ParseWhen reads a moment in the past of now: "2026-11-24 18:03", with seconds and milliseconds too, RFC 3339 with its
// own zone, "18:03" or "6:03 pm" (the last time it was that), "today", "yesterday" or a day of the week before a time
// (the last such day), or "10m ago". Wall clock times are of zone; one that there was twice or never on its day is
// refused, since it has not one answer.
func ParseWhen(text string, now time.Time, zone *time.Location) (When, error) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if words == "" {
		return When{}, errors.New("no time is given")
	}
	if t, err := time.Parse("2006-01-02T15:04Z07:00", strings.ToUpper(words)); err == nil {
		return span(t, false, false), nil
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(words)); err == nil {
		return span(t, true, strings.Contains(words, ".")), nil
	}
	if m := agoForm.FindStringSubmatch(words); m != nil {
		return ago(m, now)
	}
	now = now.In(zone)
	day, rest, given, err := cutDay(words, now)
	if err != nil {
		return When{}, err
	}
	rest = strings.TrimPrefix(rest, "at ")
	if rest == "" {
		from := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
		next := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, zone)
		return When{from, next.Add(-time.Millisecond), true}, nil
	}
	m := clockForm.FindStringSubmatch(rest)
	if m == nil || m[2] == "" && m[5] == "" {
		return When{}, fmt.Errorf("%q is no time: write one such as \"2026-11-24 18:03\", \"tuesday 18:03\" or \"18:03\"", text)
	}
	w, err := onDay(day, m)
	if err == nil && !given && w.From.After(now) {
		w, err = onDay(day.AddDate(0, 0, -1), m)
	}
	if err == nil && given && isWeekday(words) && w.From.After(now) {
		w, err = onDay(day.AddDate(0, 0, -7), m)
	}
	return w, err
}

func isWeekday(words string) bool {
	first, _, _ := strings.Cut(words, " ")
	return weekday(first) >= 0
}

// weekday is 0 for Sunday, by its name or its first three letters; -1 for another word.
func weekday(word string) int {
	for i, name := range weekdays {
		if word == name || word == name[:3] {
			return i
		}
	}
	return -1
}

// cutDay takes the day from the beginning of words: today's when they begin with none, which given tells.
func cutDay(words string, now time.Time) (day time.Time, rest string, given bool, err error) {
	first, rest, _ := strings.Cut(words, " ")
	if date, clock, ok := strings.Cut(first, "t"); ok && len(date) == len(time.DateOnly) {
		first, rest = date, clock
	}
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, now.Location()) // every day has one
	switch i := weekday(first); {
	case first == "today":
		return noon, rest, true, nil
	case first == "yesterday":
		return noon.AddDate(0, 0, -1), rest, true, nil
	case i >= 0:
		back := (int(now.Weekday()) - i + 7) % 7
		return noon.AddDate(0, 0, -back), rest, true, nil
	case len(first) == len(time.DateOnly) && strings.Count(first, "-") == 2:
		t, err := time.ParseInLocation(time.DateOnly, first, now.Location())
		if err != nil {
			return day, "", true, fmt.Errorf("%q is no day: write one such as 2026-11-24", first)
		}
		return t.Add(12 * time.Hour), rest, true, nil
	}
	return noon, words, false, nil
}

// onDay is the time that m, of clockForm, tells on the day.
func onDay(day time.Time, m []string) (When, error) {
	part := func(i int) int { n, _ := strconv.Atoi(strings.TrimPrefix(m[i], ".")); return n }
	hour, minute, second, ms := part(1), part(2), part(3), part(4)
	if m[5] != "" {
		if hour < 1 || hour > 12 {
			return When{}, fmt.Errorf("there is no hour %d %s", hour, m[5])
		}
		hour %= 12
		if m[5] == "pm" {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return When{}, fmt.Errorf("%q is no time of a day", m[0])
	}
	t, err := wall(day, hour, minute, second, ms)
	return span(t, m[3] != "", m[4] != ""), err
}

// wall is a wall clock time on a day, when it was there once.
func wall(day time.Time, hour, minute, second, ms int) (time.Time, error) {
	t := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, ms*int(time.Millisecond), day.Location())
	said := fmt.Sprintf("%s %02d:%02d", t.Format(time.DateOnly), hour, minute)
	if t.Hour() != hour || t.Minute() != minute {
		return t, fmt.Errorf("there was no %s in %s: the clock was put forward", said, day.Location())
	}
	for _, shift := range []time.Duration{-2 * time.Hour, -time.Hour, -30 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour} {
		if u := t.Add(shift); u.Format(time.DateTime) == t.Format(time.DateTime) {
			return t, fmt.Errorf("%s was twice in %s: write it with its offset, as in %q", said, day.Location(), t.Format(time.RFC3339))
		}
	}
	return t, nil
}

func span(t time.Time, seconds, milliseconds bool) When {
	length := time.Minute
	switch {
	case milliseconds:
		length = time.Millisecond
	case seconds:
		length = time.Second
	}
	return When{From: t, To: t.Add(length - time.Millisecond)}
}

func ago(m []string, now time.Time) (When, error) {
	var d time.Duration
	var err error
	if m[2] != "" {
		var days int
		days, err = strconv.Atoi(m[1])
		d = time.Duration(min(days, 36500)) * 24 * time.Hour
	} else {
		d, err = time.ParseDuration(m[1])
	}
	if err != nil {
		return When{}, fmt.Errorf("%q is no length of time: write one such as 10m or 2h", m[1])
	}
	return span(now.Add(-d).Truncate(time.Second), true, false), nil
}

// IsClock says whether text is a time of day alone.
func IsClock(text string) bool {
	m := clockForm.FindStringSubmatch(strings.ToLower(strings.Join(strings.Fields(text), " ")))
	return m != nil && (m[2] != "" || m[5] != "")
}
