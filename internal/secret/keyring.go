package secret

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringLimit bounds the wait for a keyring that may be asking a person to unlock it.
const keyringLimit = 20 * time.Second

// Service is the name under which joy keeps its own secrets in a keyring.
const Service = "joy"

func readKeyring(ctx context.Context, service, name string) ([]byte, error) {
	return askKeyring(ctx, func() ([]byte, error) {
		v, err := keyring.Get(service, name)
		return []byte(v), err
	})
}

// writeKeyring fails where no keyring answers, which is the rule on a machine without a desktop.
func writeKeyring(ctx context.Context, name string, value Value) error {
	_, err := askKeyring(ctx, func() ([]byte, error) { return nil, keyring.Set(Service, name, string(value.Bytes())) })
	return err
}

func removeKeyring(ctx context.Context, name string) error {
	_, err := askKeyring(ctx, func() ([]byte, error) { return nil, keyring.Delete(Service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// askKeyring leaves a keyring alone that does not answer: the library knows no deadline, so the question stays open.
func askKeyring(ctx context.Context, ask func() ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keyringLimit, fmt.Errorf("the keyring does not answer within %s", keyringLimit))
	defer cancel()
	type answer struct {
		value []byte
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := ask()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
