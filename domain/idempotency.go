package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Consumer is who a key belongs to: an API client, or one flow in a browser. The same key under two
// consumers is two keys.
type Consumer struct {
	ID   int64
	Name string // for logs and metrics; never a secret
}

// FlowConsumer is the consumer of one browser flow (a checkout attempt, a contact form), told apart
// by the unguessable id in its address. The flow, not a cookie, owns the key, so a lost cookie or a
// second tab still meets the same record.
//
// API consumers have positive ids and flows negative ones. 63 bits of hash are enough: two flows
// would have to share this id and a key of theirs as well.
func FlowConsumer(kind, flow string) Consumer {
	sum := sha256.Sum256([]byte(kind + "\x00" + flow))
	return Consumer{ID: -1 - int64(binary.BigEndian.Uint64(sum[:8])>>1), Name: "web:" + kind}
}

// Key is a client's name for one logical operation, as parsed by ParseKey. The zero Key is no key.
type Key struct {
	text string
	id   [16]byte
	v7   bool
}

// Key lengths that are accepted.
const (
	MinKey = 16
	MaxKey = 128
)

// ParseKey reads the value of an Idempotency-Key header: the quoted form of the IETF draft
// ("8e03...", with quotes) and the bare form that most clients send are the same key. Allowed are 16
// to 128 of A-Z a-z 0-9 - _ . : so that mail addresses, folded headers and parameters fail loudly.
// UUIDs compare in lower case.
func ParseKey(s string) (Key, error) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	if len(s) < MinKey || len(s) > MaxKey {
		return Key{}, Errorf(Malformed, "idempotency_key_malformed",
			"The Idempotency-Key must have %d to %d characters; this one has %d.", MinKey, MaxKey, len(s))
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.:", c) >= 0) {
			return Key{}, Errorf(Malformed, "idempotency_key_malformed",
				"The Idempotency-Key may hold only letters, digits and - _ . : (character %d is another one).", i+1)
		}
	}
	return newKey(s), nil
}

func newKey(s string) Key {
	if id, ok := parseUUID(s); ok {
		return Key{text: strings.ToLower(s), id: id, v7: id[6]>>4 == 7 && id[8]>>6 == 2}.routed()
	}
	return Key{text: s}.routed()
}

// routed gives keys that carry no time an id with the fixed prefix ff, followed by 120 bits of hash:
// a place in the table after every possible time.
func (k Key) routed() Key {
	if k.v7 {
		return k
	}
	sum := sha256.Sum256([]byte(k.text))
	copy(k.id[:], sum[:16])
	k.id[0] = 0xff
	return k
}

// KeyOfID gives the key that has an ID. The text of a key that carries no time is not in its ID: it is
// given when it is known, and else empty.
func KeyOfID(id [16]byte, text string) Key {
	if id[6]>>4 == 7 && id[8]>>6 == 2 && id[0] != 0xff {
		h := hex.EncodeToString(id[:])
		return Key{text: h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], id: id, v7: true}
	}
	return Key{text: text, id: id}
}

// String is the key as its client would recognise it.
func (k Key) String() string { return k.text }

// Short is the part of the key that may be logged.
func (k Key) Short() string { return k.text[:min(13, len(k.text))] }

// ID is the key's 128-bit form, which orders UUIDv7 keys by their time and places all others behind
// them. Two opaque keys share an ID only if 120 bits of SHA-256 collide.
func (k Key) ID() [16]byte { return k.id }

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.text == "" }

// IsUUID reports whether the key is a UUID of any version.
func (k Key) IsUUID() bool { _, ok := parseUUID(k.text); return ok }

// Time is when a UUIDv7 key was made, by its maker's clock. ok is false for every other key.
func (k Key) Time() (t time.Time, ok bool) {
	if !k.v7 {
		return time.Time{}, false
	}
	var ms [8]byte
	copy(ms[2:], k.id[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC(), true
}

func parseUUID(s string) (id [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(strings.ReplaceAll(s, "-", "")))
	return id, err == nil
}

// Scope is what a key is unique within: one key, one consumer, one endpoint. Endpoint is the number
// of a method and route pattern.
type Scope struct {
	Key      Key
	Consumer int64
	Endpoint int16
}

// Fingerprint tells whether two requests mean the same. Sum covers the whole command; Fields holds
// four bytes of hash per declared field, in the order of their sorted names, so that a mismatch can
// be explained by field names without keeping any value. Sums of different versions never compare.
type Fingerprint struct {
	Sum    [32]byte
	Fields []byte
}

// Answer is a complete HTTP answer, kept as the bytes that were sent the first time.
type Answer struct {
	Status  int
	Header  http.Header // only headers that describe the result, never cookies or dates
	Body    []byte
	Request string    // the id of the request that produced it
	At      time.Time // when it became final
}

// State of a claim on a key.
type State int16

const (
	// Running: somebody has the key until its lease ends.
	Running State = 1
	// Released: the last run ended without a final answer; the next retry goes on where it stopped.
	Released State = 2
	// Done: the answer is final.
	Done State = 3
	// Tombstone: the answer's time is over and its bytes are gone; what it made is still known.
	Tombstone State = 4
)

// Claim is the record of one key. It is bound to its fingerprint from the first moment and in every
// state.
type Claim struct {
	State       State
	Attempt     int64 // raised by every takeover; a write by an older attempt changes nothing
	Fingerprint Fingerprint
	LeaseLeft   time.Duration // by the database's clock; zero or less when it ended
	Answer      Answer        // when Done
	Resource    string        // path of what was made
	Steps       []byte        // recorded results of finished steps
	FirstSeen   time.Time
	Request     string // id of the request that claimed the key, or finished it
	Looks       int    // how often a run without its client did not finish it
}

// MaxLease is the longest lease a live holder can have. A claim whose lease ends later than this was
// written by a clock that has since been corrected, and counts as ended.
const MaxLease = time.Minute

// Decision is what to do with a request under a key that is already known.
type Decision int

const (
	Replay   Decision = iota + 1 // send the stored answer
	Mismatch                     // the key belongs to another request
	Wait                         // the first request still runs
	TakeOver                     // the first request stopped half-way: go on where it stopped
	Gone                         // the answer is no longer kept
)

// Decide is the rule book for a known key. A request that differs is refused in every state, also
// while the first one runs and after its answer is gone.
func Decide(c Claim, f Fingerprint, now time.Time, ttl time.Duration) Decision {
	switch {
	case c.Fingerprint.Sum != f.Sum:
		return Mismatch
	case c.State == Tombstone, c.State == Done && now.Sub(c.Answer.At) > ttl:
		return Gone
	case c.State == Done:
		return Replay
	case c.State == Running && c.LeaseLeft > 0 && c.LeaseLeft <= MaxLease:
		return Wait
	default:
		return TakeOver
	}
}

// Clock rules for keys that carry a time.
const maxKeyAhead = 5 * time.Minute

// CheckUnknownKey decides on a key of which no record exists. A UUIDv7 key older than the TTL may
// have had a record once, so it never runs as new; one from the future would outlive that rule.
func CheckUnknownKey(k Key, now time.Time, ttl time.Duration) error {
	made, ok := k.Time()
	switch {
	case !ok:
		return nil
	case now.Sub(made) > ttl:
		return Errorf(Expired, "idempotency_key_expired",
			"This key was made more than %s ago. It is refused, because an earlier request with it may have had an effect.", ttl)
	case made.Sub(now) > maxKeyAhead:
		return Errorf(Malformed, "idempotency_key_from_the_future",
			"This key's own time is more than %s ahead of the server's clock (%s).", maxKeyAhead, now.UTC().Format(time.RFC3339))
	default:
		return nil
	}
}
