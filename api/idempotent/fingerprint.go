package idempotent

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/unicode/norm"

	"example.com/eenmaal/domain"
)

// fingerprintVersion is hashed in. Raising it makes every unfinished retry across the deploy a
// mismatch, so a new version has to compare old records the old way.
const fingerprintVersion = 1

// fingerprint tells commands apart by their declared fields: spacing, order and spelling of the JSON
// that carried them do not matter, and equal Unicode text is equal. The parameters of the path are
// fields too, so the concrete path belongs to it. An absent optional field and one that was added
// after the record was made are the same.
func (f fields) fingerprint(pattern string, command any) (domain.Fingerprint, error) {
	value := reflect.ValueOf(command)
	print := domain.Fingerprint{Fields: make([]byte, 0, 4*len(f))}
	all := sha256.New()
	part := func(b []byte) {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(b)))
		all.Write(size[:])
		all.Write(b)
	}
	part([]byte{fingerprintVersion})
	part([]byte(pattern))
	for _, field := range f {
		v := value.Field(field.index)
		if field.omitzero && v.IsZero() {
			print.Fields = append(print.Fields, 0, 0, 0, 0)
			continue
		}
		text, err := json.Marshal(v.Interface(), json.Deterministic(true))
		if err != nil {
			return print, fmt.Errorf("fingerprint %s: %w", field.name, err)
		}
		text = norm.NFC.Bytes(text)
		part([]byte(field.name))
		part(text)
		sum := sha256.Sum256(text)
		print.Fields = append(print.Fields, sum[:4]...)
	}
	all.Sum(print.Sum[:0])
	return print, nil
}

// differing names the fields in which two commands differ, for the log: names, never values. It
// knows nothing when the records were made with different sets of fields.
func (f fields) differing(a, b domain.Fingerprint) []string {
	if len(a.Fields) != 4*len(f) || len(b.Fields) != 4*len(f) {
		return nil
	}
	var names []string
	for i, field := range f {
		if string(a.Fields[4*i:4*i+4]) != string(b.Fields[4*i:4*i+4]) {
			names = append(names, field.name)
		}
	}
	return names
}
