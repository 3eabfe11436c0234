package idempotent

import (
	"reflect"
	"slices"
	"testing"
)

type sample struct {
	Email string   `json:"email"`
	Items []thing  `json:"items"`
	Count int64    `json:"count"`
	Note  string   `json:"note,omitzero"`
	Tags  []string `json:"tags,omitzero"`
}

type thing struct {
	SKU string `json:"sku"`
	N   int64  `json:"n"`
}

var sampleFields = fieldsOf(reflect.TypeFor[sample]())

func printOf(t testing.TB, path, body string) (print [32]byte, in sample) {
	t.Helper()
	if err := decode([]byte(body), &in); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	p, err := sampleFields.fingerprint(path, in)
	if err != nil {
		t.Fatal(err)
	}
	return p.Sum, in
}

// TestAFingerprintIsOfTheMeaning covers T48: spelling does not matter, every field does.
func TestAFingerprintIsOfTheMeaning(t *testing.T) {
	t.Parallel()
	const base = `{"email":"zoë@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":3}`
	want, _ := printOf(t, "POST /x", base)
	for _, same := range []string{
		`{ "count":3, "items":[ {"n":1,"sku":"a"}, {"sku":"b", "n":2} ], "email":"zo\u00eb@example.nl" }`,
		`{"email":"zoe` + "\u0308" + `@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":3}`,
		`{"email":"zoë@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":3,"note":""}`,
	} {
		if got, _ := printOf(t, "POST /x", same); got != want {
			t.Errorf("differs: %s", same)
		}
	}
	for _, other := range []string{
		`{"email":"zoe@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":3}`,
		`{"email":"zoë@example.nl","items":[{"sku":"b","n":2},{"sku":"a","n":1}],"count":3}`,
		`{"email":"zoë@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":3}],"count":3}`,
		`{"email":"zoë@example.nl","items":[{"sku":"a","n":1}],"count":3}`,
		`{"email":"zoë@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":4}`,
		`{"email":"zoë@example.nl","items":[{"sku":"a","n":1},{"sku":"b","n":2}],"count":3,"note":"x"}`,
	} {
		if got, _ := printOf(t, "POST /x", other); got == want {
			t.Errorf("is the same: %s", other)
		}
	}
	if got, _ := printOf(t, "POST /y", base); got == want {
		t.Error("the path does not matter")
	}
}

func TestAMismatchNamesTheFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	a, _ := sampleFields.fingerprint("", sample{Email: "a", Count: 1})
	b, _ := sampleFields.fingerprint("", sample{Email: "b", Count: 1, Note: "n"})
	if got := sampleFields.differing(a, b); !slices.Equal(got, []string{"email", "note"}) {
		t.Errorf("got %v", got)
	}
	if got := sampleFields.differing(a, a); got != nil {
		t.Errorf("equal ones differ in %v", got)
	}
	b.Fields = b.Fields[:8]
	if got := sampleFields.differing(a, b); got != nil {
		t.Errorf("a record of another version differs in %v", got)
	}
}

// TestANewOptionalFieldDoesNotChangeOldFingerprints: retries across a deploy still match.
func TestANewOptionalFieldDoesNotChangeOldFingerprints(t *testing.T) {
	t.Parallel()
	type before struct {
		Email string  `json:"email"`
		Items []thing `json:"items"`
		Count int64   `json:"count"`
	}
	old, _ := fieldsOf(reflect.TypeFor[before]()).fingerprint("p", before{Email: "a", Items: []thing{{"x", 1}}, Count: 2})
	now, _ := sampleFields.fingerprint("p", sample{Email: "a", Items: []thing{{"x", 1}}, Count: 2})
	if old.Sum != now.Sum {
		t.Error("an absent new field makes every retry a mismatch")
	}
}

func TestAFieldWithoutAJSONNameIsRefusedAtStartUp(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a field that is not in the fingerprint was accepted")
		}
	}()
	fieldsOf(reflect.TypeFor[struct{ Hidden string }]())
}
