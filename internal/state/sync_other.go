//go:build !unix

package state

// syncDir has nothing to do: a directory cannot be synced here.
func syncDir(string) error { return nil }
