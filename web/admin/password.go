package admin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// What a new hash costs to compute: about 30 ms and 19 MiB.
const (
	hashPasses  = 2
	hashMemory  = 19 << 10 // KiB
	hashThreads = 1
	hashLength  = 32
)

// HashPassword hashes a password for the settings, with argon2id and a salt of its own.
func HashPassword(password string) string {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails, by its contract
	sum := argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashThreads, hashLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

// CheckHash reports whether a password can be compared with a hash: argon2id as HashPassword writes it,
// with other costs within reason, or bcrypt.
func CheckHash(hash string) error {
	_, err := parsePassword(hash)
	return err
}

// password is the one that opens the desk, as its hash.
type password struct {
	compare func(typed string) bool
	slots   chan struct{} // a comparison costs memory, so few run at a time
}

var errHash = errors.New("the hash of the password is neither argon2id's nor bcrypt's; the command shop password makes one")

func parsePassword(hash string) (*password, error) {
	p := &password{slots: make(chan struct{}, 2)}
	if strings.HasPrefix(hash, "$2") {
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return nil, errHash
		}
		p.compare = func(typed string) bool { return bcrypt.CompareHashAndPassword([]byte(hash), []byte(typed)) == nil }
		return p, nil
	}
	var version, passes, memory uint32
	var threads uint8
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return nil, errHash
	}
	_, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &passes, &threads)
	salt, saltErr := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if errors.Join(err, saltErr, sumErr) != nil || version != argon2.Version || len(salt) < 8 || len(sum) < 16 || len(sum) > 64 ||
		memory < 8<<10 || memory > 1<<20 || passes < 1 || passes > 20 || threads < 1 {
		return nil, errHash
	}
	p.compare = func(typed string) bool {
		got := argon2.IDKey([]byte(typed), salt, passes, memory, threads, uint32(len(sum))) //nolint:gosec // at most 64
		return subtle.ConstantTimeCompare(got, sum) == 1
	}
	return p, nil
}

// matches compares a password with the hash. An error says that there was no time for it.
func (p *password) matches(ctx context.Context, typed string) (bool, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
		return p.compare(typed), nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
