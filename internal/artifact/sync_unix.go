//go:build unix

package artifact

import "errors"

// syncDir makes the names in a directory of the store durable.
func (s *Store) syncDir(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
