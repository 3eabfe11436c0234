package idempotent

import (
	"reflect"
	"slices"
	"testing"
)

type cancel struct {
	OrderID string `json:"-" path:"id"`
	Line    string `json:"-" path:"line"`
	Reason  string `json:"reason,omitzero"`
	Amount  int64  `json:"amount,omitzero"`
}

var cancelFields = fieldsOf(reflect.TypeFor[cancel]())

func TestAStoredCommandIsReadBackWithItsPath(t *testing.T) {
	t.Parallel()
	for _, in := range []cancel{{}, {OrderID: "7"}, {OrderID: "a\"b", Line: "ë", Reason: "x", Amount: 1<<63 - 1}} {
		text, err := cancelFields.pack(in)
		if err != nil {
			t.Fatal(err)
		}
		var back cancel
		if err := cancelFields.unpack(text, &back); err != nil || back != in {
			t.Errorf("%+v came back as %+v: %v", in, back, err)
		}
		before, _ := cancelFields.fingerprint("p", in)
		if after, _ := cancelFields.fingerprint("p", back); after.Sum != before.Sum {
			t.Errorf("%+v has another fingerprint when it is read back", in)
		}
	}
	plain := sample{Email: "a", Items: []thing{{"x", 1}}, Tags: []string{"t"}}
	text, err := sampleFields.pack(plain)
	if err != nil {
		t.Fatal(err)
	}
	var back sample
	if err := sampleFields.unpack(text, &back); err != nil || !reflect.DeepEqual(back, plain) {
		t.Errorf("got %+v %v", back, err)
	}
	for _, broken := range []string{``, `{}`, `{"body":{"other":1}}`, `{"reason":"x"}`} {
		if err := cancelFields.unpack([]byte(broken), &back); err == nil {
			t.Errorf("%q was read as a command", broken)
		}
	}
}

// TestThePathIsPartOfTheFingerprint: the same key for order 7 and then 8 is a mistake of the client.
func TestThePathIsPartOfTheFingerprint(t *testing.T) {
	t.Parallel()
	seven, _ := cancelFields.fingerprint("p", cancel{OrderID: "7"})
	eight, _ := cancelFields.fingerprint("p", cancel{OrderID: "8"})
	if got := cancelFields.differing(seven, eight); seven.Sum == eight.Sum || !slices.Equal(got, []string{"id"}) {
		t.Errorf("they differ in %v", got)
	}
	swapped, _ := cancelFields.fingerprint("p", cancel{Line: "7"})
	if swapped.Sum == seven.Sum {
		t.Error("one parameter counts as another")
	}
}

func TestACommandThatDoesNotFitItsPathIsRefusedAtStartUp(t *testing.T) {
	t.Parallel()
	for pattern, fits := range map[string]bool{
		"POST /orders/:id/lines/:line/cancellations": true, "POST /lines/:line/orders/:id": true,
		"POST /orders/:id": false, "POST /orders": false, "POST /orders/:id/lines/:line/:more": false, "POST /orders/:id/*line": true,
	} {
		if err := cancelFields.checkPattern(pattern); (err == nil) != fits {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	for _, wrong := range []reflect.Type{
		reflect.TypeFor[struct {
			ID string `json:"id" path:"id"`
		}](),
		reflect.TypeFor[struct {
			ID int `json:"-" path:"id"`
		}](),
		reflect.TypeFor[struct {
			id string `json:"-" path:"id"`
		}](),
		reflect.TypeFor[struct {
			ID    string `json:"-" path:"id"`
			Other string `json:"id"`
		}](),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", wrong)
				}
			}()
			fieldsOf(wrong)
		}()
	}
}
