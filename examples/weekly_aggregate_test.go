//go:build unix

package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

const weekly = "weekly-report/skills/"

func aggregate(t *testing.T, data []byte, week string) worldtest.Result {
	t.Helper()
	w := worldtest.New(t, weekly+"aggregate-sales")
	return w.Run(t, map[string]any{"orders": w.File(t, "orders.csv", data), "week": week})
}

var (
	figuresOnce sync.Once
	salesJSON   string
)

// sales are the figures of the report's week, as the later steps get them. They are reckoned once; each test has its own.
func sales(t *testing.T) map[string]any {
	t.Helper()
	figuresOnce.Do(func() {
		if result := aggregate(t, orders(t), week); result.Exit == 0 {
			salesJSON = result.Stdout
		}
	})
	var value map[string]any
	require.NoError(t, json.Unmarshal([]byte(salesJSON), &value), "aggregate-sales has failed on data/make_orders.py")
	return value
}

// checkSales holds figures to what reckon makes of the same file.
func checkSales(t *testing.T, got map[string]any, data []byte) {
	t.Helper()
	b := reckon(t, data)
	weeks := map[string]string{"totals": monday, "last_week": before(t, 1), "last_year": before(t, 52)}
	for name, week := range weeks {
		s := b.sales[week]["all"]
		require.Equal(t, map[string]any{
			"gross_cents": float64(s.gross), "returns_cents": float64(s.returns), "net_cents": float64(s.net()),
			"units": float64(s.units), "orders": float64(len(b.orders[week])), "cancelled_lines": float64(s.cancelled),
		}, got[name], name)
	}

	trend := got["weeks"].([]any)
	require.Len(t, trend, 53)
	for i, entry := range trend {
		entry := entry.(map[string]any)
		require.Equal(t, before(t, 52-i), entry["from"])
		require.EqualValues(t, b.sales[before(t, 52-i)]["all"].net(), entry["net_cents"], entry["iso"])
	}
	for _, entry := range got["days"].([]any) {
		entry := entry.(map[string]any)
		require.EqualValues(t, b.sales[monday][fmt.Sprint("day=", entry["date"])].net(), entry["net_cents"])
	}

	for list, column := range map[string]string{"channels": "channel", "countries": "country", "categories": "category", "products": "product", "rises": "product", "falls": "product"} {
		rows, last := got[list].([]any), -1.0
		require.NotEmpty(t, rows, list)
		for _, row := range rows {
			row := row.(map[string]any)
			key := fmt.Sprint(column, "=", row["name"])
			s := b.sales[monday][key]
			require.EqualValues(t, s.net(), row["net_cents"], key)
			require.Equal(t, []any{float64(s.gross), float64(s.returns), float64(s.units)}, []any{row["gross_cents"], row["returns_cents"], row["units"]}, key)
			require.EqualValues(t, b.sales[before(t, 1)][key].net(), row["last_week_net_cents"], key)
			require.EqualValues(t, b.sales[before(t, 52)][key].net(), row["last_year_net_cents"], key)
			if list != "rises" && list != "falls" {
				require.True(t, last < 0 || last >= row["net_cents"].(float64), "%s is in no order", list)
				last = row["net_cents"].(float64)
			}
		}
	}

	most := map[string]int64{}
	for key, s := range b.sales[monday] {
		if strings.HasPrefix(key, "product=") {
			moved := s.net() - b.sales[before(t, 1)][key].net()
			most["rises"], most["falls"] = max(most["rises"], moved), min(most["falls"], moved)
		}
	}
	for list, moved := range most {
		row := got[list].([]any)[0].(map[string]any)
		require.EqualValues(t, moved, row["net_cents"].(float64)-row["last_week_net_cents"].(float64), list)
	}

	rows := got["rows"].(map[string]any)
	require.Equal(t, []any{float64(b.read), float64(b.repeated), float64(b.unreadable), float64(b.sales[monday]["all"].lines)},
		[]any{rows["read"], rows["repeated"], rows["unreadable"], rows["used"]})
	require.NotZero(t, b.repeated)
	require.NotZero(t, b.unreadable)
}

func TestAggregatesAreRight(t *testing.T) {
	checkSales(t, sales(t), orders(t))
}

const header = "order_id,line,placed_at,channel,country,category,product,quantity,unit_price,discount_pct,status\n"

// lines are whole order lines, one for each amount, after the header.
func lines(rows ...string) []byte { return []byte(header + strings.Join(rows, "\n") + "\n") }

// line is an order line of the report's week with its first fields and last ones given.
func line(order, quantity, price, discount, status string) string {
	return order + ",1,2026-11-18T09:30,Shop,Germany,Tents,Tarp," + strings.Join([]string{quantity, price, discount, status}, ",")
}

func TestOrdersThatCannotBeUsedFailTheStep(t *testing.T) {
	good := line("1", "1", "1.00", "0", "shipped")
	bad := func(row string) []byte { return lines(good, row) }
	tests := map[string]struct {
		data []byte
		week string
		want string
	}{
		"no week of a calendar":  {lines(good), "2025-W53", "there is no week 2025-W53"},
		"week zero":              {lines(good), "2026-W00", "there is no week 2026-W00"},
		"year zero":              {lines(good), "0000-W01", "there is no week 0000-W01"},
		"first week of all":      {lines(good), "0001-W01", "there is no week 0001-W01"},
		"last week of all":       {lines(good), "9999-W52", "there is no week 9999-W52"},
		"no line of the week":    {lines(good), "2026-W48", "no order line of 2026-W48; it holds 2026-W47 to 2026-W47"},
		"no line at all":         {[]byte(header), week, "it holds none at all"},
		"empty":                  {nil, week, "lacks the column order_id, line"},
		"a column missing":       {[]byte(strings.Replace(header, ",status", "", 1)), week, "lacks the column status"},
		"another delimiter":      {[]byte(strings.ReplaceAll(header, ",", ";")), week, "lacks the column order_id"},
		"not UTF-8":              {append(lines(good), "2,1,2026-11-18,caf\xe9"...), week, "it is not UTF-8"},
		"UTF-16":                 {[]byte("\xff\xfeo\x00"), week, "it is not UTF-8"},
		"field without an end":   {append(lines(good), "\""+strings.Repeat("x", 200_000)...), week, "it is not a CSV"},
		"too few fields":         {bad("2,1"), week, "2 fields where 11 are needed"},
		"no quantity":            {bad(line("2", "", "1.00", "0", "shipped")), week, "quantity is no whole number"},
		"quantity zero":          {bad(line("2", "0", "1.00", "0", "shipped")), week, "quantity is no whole number above 0"},
		"negative quantity":      {bad(line("2", "-1", "1.00", "0", "shipped")), week, "quantity is no whole number above 0"},
		"Arabic digits":          {bad(line("2", "٣", "1.00", "0", "shipped")), week, "quantity is no whole number"},
		"price in words":         {bad(line("2", "1", "free", "0", "shipped")), week, "unit_price is no amount"},
		"price with an exponent": {bad(line("2", "1", "1e3", "0", "shipped")), week, "unit_price is no amount"},
		"price of mills":         {bad(line("2", "1", "1.001", "0", "shipped")), week, "unit_price is no amount"},
		"discount over all":      {bad(line("2", "1", "1.00", "101", "shipped")), week, "discount_pct is no whole number from 0 to 100"},
		"unknown status":         {bad(line("2", "1", "1.00", "0", "lost")), week, "status is none of"},
		"no such day":            {bad("2,1,2026-02-30,a,b,c,d,1,1.00,0,shipped"), week, "placed_at is no date"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := aggregate(t, tt.data, tt.week)
			require.Equal(t, 1, result.Exit)
			require.Contains(t, result.Stderr, tt.want)
			require.NotContains(t, result.Stderr, "Traceback")
			require.Empty(t, result.Stdout)
		})
	}
}

func TestMoneyIsExact(t *testing.T) {
	for name, tt := range map[string]struct {
		rows               []string
		gross, returns, of float64
	}{
		"half a cent is rounded up":        {[]string{line("1", "1", "0.10", "5", "shipped")}, 10, 0, 1},
		"less than half is not":            {[]string{line("1", "1", "0.11", "5", "shipped")}, 10, 0, 1},
		"line by line, not in all":         {[]string{line("1", "1", "0.10", "5", "shipped"), line("2", "1", "0.10", "5", "shipped")}, 20, 0, 2},
		"what floats cannot hold":          {[]string{line("1", "3", "0.1", "0", "shipped"), line("2", "1", "9999999.99", "0", "shipped")}, 1_000_000_029, 0, 2},
		"given away":                       {[]string{line("1", "1", "5", "100", "shipped")}, 0, 0, 1},
		"returned counts and is taken off": {[]string{line("1", "2", "5.00", "0", "returned")}, 1000, 1000, 1},
		"cancelled counts for nothing":     {[]string{line("1", "1", "5.00", "0", "cancelled"), line("2", "1", "1.00", "0", "shipped")}, 100, 0, 1},
		"the same line twice":              {[]string{line("1", "1", "5.00", "0", "shipped"), line("1", "1", "5.00", "0", "shipped")}, 500, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := aggregate(t, lines(tt.rows...), week)
			require.Equal(t, 0, result.Exit, result.Stderr)
			totals := result.Value["totals"].(map[string]any)
			require.Equal(t, []any{tt.gross, tt.returns, tt.gross - tt.returns, tt.of},
				[]any{totals["gross_cents"], totals["returns_cents"], totals["net_cents"], totals["orders"]})
			require.Nil(t, result.Value["last_week"])
			require.Nil(t, result.Value["last_year"])
		})
	}
}

func TestBreakdownsAreBounded(t *testing.T) {
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("%d,1,2026-11-18,Shop,Country %02d,Tents,%s %02d,1,%d.00,0,shipped", i, i, strings.Repeat("ñ", 90), i, 100-i))
	}
	result := aggregate(t, append([]byte("\ufeff"), bytes.ReplaceAll(lines(rows...), []byte("\n"), []byte("\r\n"))...), week)
	require.Equal(t, 0, result.Exit, result.Stderr)
	countries := result.Value["countries"].([]any)
	require.Len(t, countries, 8)
	rest := countries[7].(map[string]any)
	require.Equal(t, "Other", rest["name"])
	require.EqualValues(t, 100*(33*100-(7+39)*33/2), rest["net_cents"])
	require.Less(t, len(result.Stdout), 16<<10)
	for _, product := range result.Value["products"].([]any) {
		require.Equal(t, strings.Repeat("ñ", 59)+"…", product.(map[string]any)["name"])
	}
}

// A bundle travels alone, so each carries the modules it shares with another: they must stay the same.
func TestWeeklyModulesAreTheSame(t *testing.T) {
	for module, bundles := range map[string][]string{
		"words.py": {"write-report", "fill-summary"},
		"world.py": {"aggregate-sales", "draw-charts", "write-report", "fill-summary", "print-report", "../../repo-report/skills/count", "../../day-sheet/skills/daylight", "../../day-sheet/skills/write-sheet"},
	} {
		read := func(bundle string) string {
			text, err := os.ReadFile(weekly + bundle + "/scripts/" + module)
			require.NoError(t, err)
			return string(text)
		}
		for _, bundle := range bundles[1:] {
			require.Equal(t, read(bundles[0]), read(bundle), "%s of %s and %s", module, bundles[0], bundle)
		}
	}
}
