package domain

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

const (
	v7 = "01890a5d-ac96-774b-bcce-b302099a8057" // made at v7Time
	v4 = "8e03978e-40d5-43dd-bc93-6894a57f9324"
)

var v7Time = time.UnixMilli(0x01890a5dac96).UTC()

func key(t testing.TB, s string) Key {
	t.Helper()
	k, err := ParseKey(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return k
}

func TestParseKeyReadsBothFormsOfOneKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		v7: v7, `"` + v7 + `"`: v7, strings.ToUpper(v7): v7, v4: v4,
		"order:2026-11-30.1_A": "order:2026-11-30.1_A", `"order:2026-11-30.1_A"`: "order:2026-11-30.1_A",
		strings.Repeat("k", MinKey): strings.Repeat("k", MinKey), strings.Repeat("k", MaxKey): strings.Repeat("k", MaxKey),
		"Case-Matters-Here": "Case-Matters-Here",
	} {
		if got := key(t, text).String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestParseKeyRefusesEverythingElse covers S5.
func TestParseKeyRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", `""`, `"`, "short", strings.Repeat("k", MinKey-1), strings.Repeat("k", MaxKey+1), strings.Repeat("k", 20<<10),
		"with space inside", " " + v7, v7 + " ", v7 + "\x00", v7 + "\n", v7 + "," + v7, `"` + v7, v7 + `"`, `""` + v7 + `""`,
		`"` + v7 + `";a=1`, `"back\"slash-in-key"`, "sanne@example.nl", "naïeve-sleutel-12", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		k, err := ParseKey(text)
		if KindOf(err) != Malformed || !k.IsZero() {
			t.Errorf("%.40q: got %q, %v", text, k, err)
		}
	}
}

func TestAKeyKnowsItsTimeOnlyWhenItIsAVersion7UUID(t *testing.T) {
	t.Parallel()
	made, ok := key(t, v7).Time()
	if !ok || !made.Equal(v7Time) {
		t.Errorf("time %v, %v; want %v", made, ok, v7Time)
	}
	for _, other := range []string{v4, "01890a5d-ac96-774b-0cce-b302099a8057" /* wrong variant */, "01890a5dac96774bbcceb302099a8057", "order:2026-11-30"} {
		if made, ok := key(t, other).Time(); ok {
			t.Errorf("%s: has time %v", other, made)
		}
	}
}

// TestKeysLieInTheTableByTimeAndOpaqueOnesBehindThem: the id decides the partition.
func TestKeysLieInTheTableByTimeAndOpaqueOnesBehindThem(t *testing.T) {
	t.Parallel()
	if id := key(t, v7).ID(); id[0] != 0x01 || id[15] != 0x57 {
		t.Errorf("a version 7 key's id is not itself: %x", id)
	}
	seen := map[[16]byte]string{key(t, v7).ID(): v7}
	for _, text := range []string{v4, "ffffffff-ffff-4fff-bfff-ffffffffffff", "order:2026-11-30", "Order:2026-11-30"} {
		id := key(t, text).ID()
		if id[0] != 0xff {
			t.Errorf("%s: id %x is among the times", text, id)
		}
		if other, known := seen[id]; known {
			t.Errorf("%s and %s share an id", text, other)
		}
		seen[id] = text
	}
	if key(t, v4).ID() != key(t, strings.ToUpper(v4)).ID() {
		t.Error("one UUID has two ids")
	}
	if !key(t, v4).IsUUID() || !key(t, v7).IsUUID() || key(t, "order:2026-11-30").IsUUID() {
		t.Error("IsUUID is wrong")
	}
	if got := key(t, v7).Short(); len(got) != 13 {
		t.Errorf("a log would show %q", got)
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{v7, `"` + v7 + `"`, v4, "order:2026-11-30", "", `"`, "\x00", strings.Repeat("k", 129), "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKey(text)
		if err != nil {
			return
		}
		if len(k.String()) < MinKey || len(k.String()) > MaxKey {
			t.Fatalf("%q became %q", text, k)
		}
		again, err := ParseKey(`"` + k.String() + `"`)
		if err != nil || again != k {
			t.Fatalf("%q quoted is %q, %v", k, again, err)
		}
		_, timed := k.Time()
		if behind := k.ID()[0] == 0xff; timed == behind && !strings.HasPrefix(k.String(), "ff") {
			t.Fatalf("%q: has a time %v, lies behind all times %v", k, timed, behind)
		}
		if back := KeyOfID(k.ID(), k.String()); back != k && !(timed && k.ID()[0] == 0xff) { // the year 10889
			t.Fatalf("%q has the id of %q", k, back)
		}
		if k.IsUUID() {
			if upper, err := ParseKey(strings.ToUpper(k.String())); err != nil || upper != k {
				t.Fatalf("%q in capitals is %q, %v", k, upper, err)
			}
		}
		if strings.Trim(k.String(), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") != "" {
			t.Fatalf("%q was accepted", k)
		}
	})
}

func TestFlowsAndClientsAreNeverTheSameConsumer(t *testing.T) {
	t.Parallel()
	a, b := FlowConsumer("checkout", "1"), FlowConsumer("contact", "1")
	if a.ID >= 0 || b.ID >= 0 || a.ID == b.ID || a.ID == FlowConsumer("checkout", "2").ID || a != FlowConsumer("checkout", "1") {
		t.Errorf("%v, %v", a, b)
	}
	if FlowConsumer("a", "b\x00c").ID == FlowConsumer("a\x00b", "c").ID {
		t.Log("kinds are constants without NUL, so this does not matter")
	}
}

func TestDecideOverAllStates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const ttl = 72 * time.Hour
	mine, other := Fingerprint{Sum: [32]byte{1}}, Fingerprint{Sum: [32]byte{2}}
	done := func(age time.Duration) Answer { return Answer{Status: 201, At: now.Add(-age)} }
	for _, c := range []struct {
		name  string
		claim Claim
		want  Decision
	}{
		{"running within its lease", Claim{State: Running, LeaseLeft: time.Second}, Wait},
		{"running with the longest lease", Claim{State: Running, LeaseLeft: MaxLease}, Wait},
		{"running past its lease", Claim{State: Running, LeaseLeft: 0}, TakeOver},
		{"running long past its lease", Claim{State: Running, LeaseLeft: -time.Hour}, TakeOver},
		{"running with a lease from a wrong clock", Claim{State: Running, LeaseLeft: MaxLease + 1}, TakeOver},
		{"released", Claim{State: Released}, TakeOver},
		{"done just now", Claim{State: Done, Answer: done(0)}, Replay},
		{"done at the end of its time", Claim{State: Done, Answer: done(ttl)}, Replay},
		{"done too long ago", Claim{State: Done, Answer: done(ttl + 1)}, Gone},
		{"done in the future of this clock", Claim{State: Done, Answer: done(-time.Hour)}, Replay},
		{"tombstone", Claim{State: Tombstone, Answer: done(0)}, Gone},
	} {
		c.claim.Fingerprint = mine
		if got := Decide(c.claim, mine, now, ttl); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
		if got := Decide(c.claim, other, now, ttl); got != Mismatch {
			t.Errorf("%s, for another request: got %d, want a mismatch", c.name, got)
		}
	}
}

func TestAnUnknownKeyIsJudgedByItsOwnTime(t *testing.T) {
	t.Parallel()
	const ttl = 72 * time.Hour
	for _, c := range []struct {
		name string
		key  string
		age  time.Duration
		want string
	}{
		{"fresh", v7, 0, ""}, {"at the end of its time", v7, ttl, ""}, {"too old", v7, ttl + time.Millisecond, "idempotency_key_expired"},
		{"a little ahead", v7, -maxKeyAhead, ""}, {"far ahead", v7, -maxKeyAhead - time.Millisecond, "idempotency_key_from_the_future"},
		{"without a time", v4, 1000 * time.Hour, ""}, {"opaque", "order:2026-11-30", 1000 * time.Hour, ""},
	} {
		err := CheckUnknownKey(key(t, c.key), v7Time.Add(c.age), ttl)
		got := ""
		if e, ok := errors.AsType[*Error](err); ok {
			got = e.Code
		}
		if got != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.name, got, err, c.want)
		}
	}
}

func TestMoneyNeverOverflows(t *testing.T) {
	t.Parallel()
	most, least := EUR(math.MaxInt64), EUR(math.MinInt64)
	for _, c := range []struct {
		name string
		ok   bool
		got  func() (Money, bool)
		want int64
	}{
		{"1+2", true, func() (Money, bool) { return EUR(1).Plus(EUR(2)) }, 3},
		{"most+0", true, func() (Money, bool) { return most.Plus(EUR(0)) }, math.MaxInt64},
		{"most+1", false, func() (Money, bool) { return most.Plus(EUR(1)) }, 0},
		{"least-1", false, func() (Money, bool) { return least.Plus(EUR(-1)) }, 0},
		{"most+least", true, func() (Money, bool) { return most.Plus(least) }, -1},
		{"other currency", false, func() (Money, bool) { return EUR(1).Plus(Money{1, "USD"}) }, 0},
		{"3x4", true, func() (Money, bool) { return EUR(3).Times(4) }, 12},
		{"x0", true, func() (Money, bool) { return most.Times(0) }, 0},
		{"x1", true, func() (Money, bool) { return least.Times(1) }, math.MinInt64},
		{"x2", false, func() (Money, bool) { return most.Times(2) }, 0},
		{"half+1 x2", false, func() (Money, bool) { return EUR(math.MaxInt64/2 + 1).Times(2) }, 0},
		{"least x2", false, func() (Money, bool) { return least.Times(2) }, 0},
		{"x-1", false, func() (Money, bool) { return EUR(1).Times(-1) }, 0},
	} {
		if got, ok := c.got(); ok != c.ok || got.Amount != c.want {
			t.Errorf("%s: got %d %v, want %d %v", c.name, got.Amount, ok, c.want, c.ok)
		}
	}
}
