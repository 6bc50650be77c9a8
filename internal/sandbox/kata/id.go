package kata

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// idPrefix begins what the index of runs and the ledger call a VM: kata:CONTAINER@ADDRESS.
const idPrefix = "kata:"

// IsID says whether an id of the index is one of this provider.
func IsID(id string) bool { return strings.HasPrefix(id, idPrefix) }

func indexID(container, address string) string { return idPrefix + container + "@" + address }

func parseID(id string) (container, address string, err error) {
	container, address, ok := strings.Cut(strings.TrimPrefix(id, idPrefix), "@")
	if !ok || !IsID(id) || !strings.HasPrefix(container, containerPrefix) || strings.ContainsAny(container, "/ \x00") || address == "" {
		return "", "", fmt.Errorf("%q does not name a VM of Kata's", id)
	}
	return container, address, nil
}

const containerPrefix = "joy-"

// newContainer names a container. The name is in the arguments of every process that Kata starts for it, and in no other's.
func newContainer(run string) (string, error) {
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	return containerPrefix + run + "-" + hex.EncodeToString(random), nil
}
