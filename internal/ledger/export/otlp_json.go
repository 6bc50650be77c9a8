package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/joystream-ai/joy/internal/term"
)

// The part of TracesData that joy writes, in the JSON encoding of OTLP: ids are hex and 64-bit integers decimal strings
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
type (
	span struct {
		Trace   string      `json:"traceId"`
		ID      string      `json:"spanId"`
		Parent  string      `json:"parentSpanId,omitempty"`
		Name    string      `json:"name"`
		Kind    int         `json:"kind"`
		Start   string      `json:"startTimeUnixNano"`
		End     string      `json:"endTimeUnixNano"`
		Attrs   []attribute `json:"attributes,omitempty"`
		Events  []event     `json:"events,omitempty"`
		Dropped int         `json:"droppedEventsCount,omitempty"`
		Status  status      `json:"status"`
	}
	event struct {
		Time  string      `json:"timeUnixNano"`
		Name  string      `json:"name"`
		Attrs []attribute `json:"attributes,omitempty"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"` // unset, or statusError; Ok is for people to set
	}
	attribute struct {
		Key   string `json:"key"`
		Value any    `json:"value"` // {"stringValue": …} and so on
	}
)

// Numbers of the enums.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

// maxEvents is how many events a span keeps, as OpenTelemetry's own limit is by default; the others are counted.
const maxEvents = 128

func (s *span) event(e event) {
	if len(s.Events) == maxEvents {
		s.Dropped++
		return
	}
	s.Events = append(s.Events, e)
}

// set puts an attribute in place of one of that key.
func (s *span) set(key string, v any) {
	value := valueOf(v)
	if value == nil {
		return
	}
	if i := slices.IndexFunc(s.Attrs, func(a attribute) bool { return a.Key == key }); i >= 0 {
		s.Attrs[i].Value = value
		return
	}
	s.Attrs = append(s.Attrs, attribute{key, value})
}

// fail says that what the span is of did not succeed, and with what class of error.
func (s *span) fail(class, message string) {
	s.set("error.type", class)
	s.Status = status{message, statusError}
}

// valueOf is an AnyValue; nil for nothing.
func valueOf(v any) any {
	switch v := v.(type) {
	case string:
		return map[string]string{"stringValue": v}
	case bool:
		return map[string]bool{"boolValue": v}
	case int64:
		return map[string]string{"intValue": strconv.FormatInt(v, 10)}
	case []any:
		list := []any{}
		for _, x := range v {
			if value := valueOf(x); value != nil {
				list = append(list, value)
			}
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return nil
}

// flat calls fn for each plain value in data, by the names that lead to it, joined by dots and sorted.
func flat(prefix string, data map[string]any, fn func(name string, v any)) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if m, ok := data[key].(map[string]any); ok {
			flat(prefix+key+".", m, fn)
			continue
		}
		fn(prefix+key, data[key])
	}
}

// plainJSON encodes v so that a terminal shows every character: those that it would act on or hide are escaped.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return term.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
