package verify

import (
	"errors"
	"fmt"
	"io"
)

// MaxMaintenance is the most bytes that are read of a run's maintenance.
const MaxMaintenance = 16 << 20

// maintenanceTypes is what joy may do to a run after its end.
var maintenanceTypes = map[string]bool{"run.cleared": true, "bodies.removing": true, "bodies.removed": true}

// Maintenance reads what joy did to a run after its end, from maintenance.jsonl. Its lines have the form of a ledger's and
// are chained as they are; the first follows head, the hash of the ledger's last line, or anything when head is "". A torn
// end is passed over, for what was not written whole was not begun. The error says what is wrong with the first line that
// does not belong there; what was before it is returned too.
func Maintenance(r io.Reader, run, head string) ([]Entry, error) {
	var list []Entry
	due := head
	err := Read(io.LimitReader(r, MaxMaintenance), func(e Entry) error {
		if due == "" {
			due = e.Prev
		}
		_, own := sound(e)
		switch {
		case !own:
			return fmt.Errorf("line %d was edited: its hash does not match its bytes", e.Line)
		case e.Seq != int64(len(list))+1 || e.Prev != due:
			return fmt.Errorf("line %d does not follow the one before", e.Line)
		case e.Run != run:
			return fmt.Errorf("line %d is of run %.64q", e.Line, e.Run)
		case !maintenanceTypes[e.Type]:
			return fmt.Errorf("line %d is of the unknown type %.40q", e.Line, e.Type)
		}
		e.Raw = nil
		list, due = append(list, e), e.Hash
		return nil
	})
	var bad *BadLine
	if errors.As(err, &bad) && bad.Torn {
		err = nil
	}
	return list, err
}
