//go:build unix

package examples_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	week       = "2026-W47"
	monday     = "2026-11-16"
	ordersHash = "895a8828fae8f37cbaff50fa7c755b5cd849953afc9820ebfb4c2ccc31ba82e0"
)

// makeOrders runs the generator of the example's data once for all tests.
var makeOrders = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("python3", "weekly-report/data/make_orders.py").Output()
})

func orders(t *testing.T) []byte {
	t.Helper()
	data, err := makeOrders()
	require.NoError(t, err, "running data/make_orders.py (python3 has to be installed)")
	return data
}

func TestOrdersAreTheSameEverywhere(t *testing.T) {
	data := orders(t)
	sum := sha256.Sum256(data)
	require.Equal(t, ordersHash, hex.EncodeToString(sum[:]))
	require.Greater(t, bytes.Count(data, []byte("\n")), 50_000)
	other, err := exec.CommandContext(t.Context(), "python3", "weekly-report/data/make_orders.py", "--seed", "8").Output()
	require.NoError(t, err)
	require.NotEqual(t, data, other)
}

// sale is what lines come to, reckoned here without a line of the example's code.
type sale struct{ gross, returns, units, cancelled, lines int64 }

func (s sale) net() int64 { return s.gross - s.returns }

// books hold the sales of each week (by its Monday), and in it by "column=value", and the orders.
type books struct {
	sales                      map[string]map[string]sale
	orders                     map[string]map[string]bool
	read, repeated, unreadable int
}

var (
	number = regexp.MustCompile(`^[0-9]+$`)
	amount = regexp.MustCompile(`^[0-9]+\.[0-9]{2}$`)
)

// reckon reads the made-up orders. It asks for less than the example does: their format is known.
func reckon(t *testing.T, data []byte) books {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(t, err)
	b := books{sales: map[string]map[string]sale{}, orders: map[string]map[string]bool{}}
	seen := map[string]bool{}
	for _, record := range records[1:] {
		b.read++
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		at, err := time.Parse("2006-01-02T15:04", row["placed_at"])
		if err != nil || !number.MatchString(row["quantity"]) || !amount.MatchString(row["unit_price"]) || row["status"] == "???" {
			b.unreadable++
			continue
		}
		if key := row["order_id"] + "/" + row["line"]; seen[key] {
			b.repeated++
			continue
		} else {
			seen[key] = true
		}
		b.enter(t, row, at)
	}
	return b
}

func (b books) enter(t *testing.T, row map[string]string, at time.Time) {
	t.Helper()
	whole := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	// Hundredths of a cent first, so that the one rounding is plain to see.
	fine := whole(row["quantity"]) * whole(strings.ReplaceAll(row["unit_price"], ".", "")) * (100 - whole(row["discount_pct"]))
	cents := fine / 100
	if fine%100 >= 50 {
		cents++
	}
	week := at.AddDate(0, 0, -(int(at.Weekday())+6)%7).Format(time.DateOnly)
	if b.sales[week] == nil {
		b.sales[week], b.orders[week] = map[string]sale{}, map[string]bool{}
	}
	keys := []string{"all", "day=" + at.Format(time.DateOnly)}
	for _, column := range []string{"channel", "country", "category", "product"} {
		keys = append(keys, column+"="+row[column])
	}
	for _, key := range keys {
		s := b.sales[week][key]
		s.lines++
		switch row["status"] {
		case "cancelled":
			s.cancelled++
		case "returned":
			s.gross, s.returns = s.gross+cents, s.returns+cents
		default:
			s.gross, s.units = s.gross+cents, s.units+whole(row["quantity"])
		}
		b.sales[week][key] = s
	}
	if row["status"] != "cancelled" {
		b.orders[week][row["order_id"]] = true
	}
}

// before is the Monday so many weeks before the report's.
func before(t *testing.T, weeks int) string {
	t.Helper()
	at, err := time.Parse(time.DateOnly, monday)
	require.NoError(t, err)
	return at.AddDate(0, 0, -7*weeks).Format(time.DateOnly)
}
