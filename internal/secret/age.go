package secret

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
)

// Files of joy's own in the directory of the user's configuration, for a machine without a keyring.
const (
	ageFile     = "secrets.age" // values by name, encrypted
	ageIdentity = "age.key"     // what opens it
)

// readAge decrypts a file (https://age-encryption.org/v1), plain or armored, and takes one value of it.
func (r *Resolver) readAge(s *Store, ref Ref) ([]byte, error) {
	ids, err := r.identities(s)
	if err != nil {
		return nil, err
	}
	text, err := decrypt(ref.Path, ids)
	if err != nil {
		return nil, err
	}
	if ref.Name == "" {
		return text, nil
	}
	values, err := parseValues(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Path, err)
	}
	v, ok := values[ref.Name]
	if !ok {
		return nil, fmt.Errorf("%s has no value %s", ref.Path, ref.Name)
	}
	return []byte(v), nil
}

// identities are those that the user's list names, or else joy's own and the usual SSH keys, as far as they are there and
// can be used without a passphrase.
func (r *Resolver) identities(s *Store) ([]age.Identity, error) {
	paths, named := s.Identities, len(s.Identities) > 0
	if !named {
		paths = []string{filepath.Join(r.cfg.ConfigDir, ageIdentity)}
		if r.cfg.Home != "" {
			paths = append(paths, filepath.Join(r.cfg.Home, ".ssh", "id_ed25519"), filepath.Join(r.cfg.Home, ".ssh", "id_rsa"))
		}
	}
	var ids []age.Identity
	for _, path := range paths {
		found, err := readIdentities(path)
		if err != nil && named {
			return nil, err
		}
		ids = append(ids, found...)
	}
	if len(ids) == 0 {
		return nil, errors.New("there is no age identity: neither " + strings.Join(paths, " nor ") + " can be used")
	}
	return ids, nil
}

// readIdentities reads a file of age identities or one SSH key. Errors of the parsers may quote the file and are not told.
func readIdentities(path string) ([]age.Identity, error) {
	data, err := readPrivate(path, maxValue)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("-----BEGIN")) {
		id, err := agessh.ParseIdentity(data)
		if err != nil {
			return nil, fmt.Errorf("%s is no SSH key that joy can use: without a passphrase, ed25519 or RSA", path)
		}
		return []age.Identity{id}, nil
	}
	ids, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s holds no age identities", path)
	}
	return ids, nil
}

func decrypt(path string, ids []age.Identity) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not an ordinary file", path)
	case info.Size() > maxPrivate:
		return nil, fmt.Errorf("%s is larger than %d KiB", path, maxPrivate>>10)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(io.LimitReader(f, maxPrivate))
	var src io.Reader = in
	if head, _ := in.Peek(len(armor.Header)); string(head) == armor.Header {
		src = armor.NewReader(in)
	}
	plain, err := age.Decrypt(src, ids...)
	if err != nil {
		return nil, fmt.Errorf("decrypt %s: %w", path, err)
	}
	text, err := io.ReadAll(plain) // no longer than what was read
	if err != nil {
		return nil, fmt.Errorf("decrypt %s: %w", path, err)
	}
	return text, nil
}

// parseValues reads a JSON object of strings, or lines of NAME=value with # before a comment.
func parseValues(text []byte) (map[string]string, error) {
	values := map[string]string{}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if json.Unmarshal(text, &values) != nil { // the error would quote the text
			return nil, errors.New("it is no JSON object of strings")
		}
		return values, nil
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("line %d is not NAME=value", i+1)
		}
		values[strings.TrimSpace(name)] = value
	}
	return values, nil
}

// ownIdentity is joy's own, made when it is needed first.
func ownIdentity(configDir string) (*age.X25519Identity, error) {
	path := filepath.Join(configDir, ageIdentity)
	ids, err := readIdentities(path)
	if errors.Is(err, fs.ErrNotExist) {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		return id, writePrivate(path, []byte("# Opens "+ageFile+" beside it. Made by joy secret.\n"+id.String()+"\n"))
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if own, ok := id.(*age.X25519Identity); ok {
			return own, nil
		}
	}
	return nil, fmt.Errorf("%s holds no X25519 identity to encrypt for", path)
}

// changeAge rewrites joy's own encrypted file.
func changeAge(configDir string, change func(map[string]string)) error {
	id, err := ownIdentity(configDir)
	if err != nil {
		return err
	}
	path := filepath.Join(configDir, ageFile)
	values := map[string]string{}
	text, err := decrypt(path, []age.Identity{id})
	if err == nil {
		values, err = parseValues(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	change(values)
	plain, err := json.Marshal(values)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, id.Recipient())
	if err != nil {
		return err
	}
	if _, err := w.Write(plain); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return writePrivate(path, out.Bytes())
}
