package idempotent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/text/unicode/norm"

	"example.com/eenmaal/domain"
)

// meaning is a command as text, by other means than the fingerprint: equal texts mean the same. An
// absent list of tags is not an empty one, since the field is optional.
func meaning(in sample) string {
	text := func(s string) string { return fmt.Sprintf("%q", norm.NFC.String(s)) }
	b := fmt.Sprint(text(in.Email), in.Count, text(in.Note), in.Tags == nil, len(in.Items), len(in.Tags))
	for _, item := range in.Items {
		b += fmt.Sprint(text(item.SKU), item.N)
	}
	for _, tag := range in.Tags {
		b += text(tag)
	}
	return b
}

// FuzzEqualCommandsHaveEqualFingerprints: two texts have one fingerprint if and only if they decode to
// one command.
func FuzzEqualCommandsHaveEqualFingerprints(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"email":"a","items":[],"count":1}`, `{"count":1,"items":[],"email":"a"}`},
		{`{"email":"a"}`, `{"email":"b"}`}, {`{"count":1}`, `{"count":1.0}`}, {`{"note":""}`, `{}`},
		{`{"email":"\u00e9"}`, `{"email":"é"}`}, {`{"email":"e` + "\u0301" + `"}`, `{"email":"é"}`},
		{`{"tags":["a","b"]}`, `{"tags":["ab"]}`}, {`{"email":"a\",\"note\":\"b"}`, `{"email":"a","note":"b"}`}, {`{`, `null`},
		{`{"count":9007199254740993}`, `{"count":9007199254740992}`}, {`{"tags":[]}`, `{}`}, {`{"items":[{"sku":"a"}]}`, `{"items":[{"sku":"a","n":0}]}`},
		{`{"email":"` + "\u0338" + `"}`, `{"note":"` + "\u0338" + `"}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var a, b sample
		if decode([]byte(first), &a) != nil || decode([]byte(second), &b) != nil {
			return
		}
		fa, errA := sampleFields.fingerprint("", a)
		fb, errB := sampleFields.fingerprint("", b)
		if errA != nil || errB != nil {
			t.Fatalf("decoded and not fingerprinted: %v, %v", errA, errB)
		}
		if same := meaning(a) == meaning(b); same != (fa.Sum == fb.Sum) {
			t.Fatalf("one command: %v, one fingerprint: %v\n%s\n%s", same, !same, first, second)
		}
		if fa.Sum == fb.Sum && len(sampleFields.differing(fa, fb)) > 0 {
			t.Fatalf("one fingerprint, but %v differ", sampleFields.differing(fa, fb))
		}
	})
}

// speller writes one command in many ways.
type speller struct{ *rand.Rand }

func (s speller) space() string { return []string{"", "", " ", "\n\t", "  \r\n"}[s.IntN(5)] }

// text writes a string with any of its characters escaped, composed or decomposed.
func (s speller) text(value string) string {
	switch s.IntN(3) {
	case 0:
		value = norm.NFC.String(value)
	case 1:
		value = norm.NFD.String(value)
	}
	var b strings.Builder
	for _, r := range value {
		switch {
		case r == '"' || r == '\\' || r < ' ' || s.IntN(4) == 0:
			if high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00; r > 0xffff {
				fmt.Fprintf(&b, `\u%04x\u%04X`, high, low)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func (s speller) spell(in sample) string {
	member := func(name, value string) string {
		return s.space() + `"` + name + `"` + s.space() + ":" + s.space() + value + s.space()
	}
	items := make([]string, len(in.Items))
	for i, item := range in.Items {
		parts := []string{member("sku", s.text(item.SKU)), member("n", fmt.Sprint(item.N))}
		s.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		items[i] = s.space() + "{" + strings.Join(parts, ",") + "}" + s.space()
	}
	parts := []string{member("email", s.text(in.Email)), member("items", "["+strings.Join(items, ",")+"]")}
	if in.Count != 0 || s.IntN(2) == 0 { // an absent number is 0
		parts = append(parts, member("count", fmt.Sprint(in.Count)))
	}
	if in.Note != "" || s.IntN(2) == 0 {
		parts = append(parts, member("note", s.text(in.Note)))
	}
	s.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return s.space() + "{" + strings.Join(parts, ",") + "}" + s.space()
}

// FuzzASpellingDoesNotMatterAndAValueDoes: order, spacing, escapes and Unicode forms give one
// fingerprint; any changed value gives another; a null is never an absent field.
func FuzzASpellingDoesNotMatterAndAValueDoes(f *testing.F) {
	f.Add("zoë@example.nl", "mug", int64(1), int64(9007199254740993), "", uint64(1))
	f.Add("e\u0301", "\U0001F600", int64(-1), int64(0), "note", uint64(2))
	f.Add("\u0338", `"\`, int64(1)<<62, int64(-1)<<63, "\x00", uint64(3))
	f.Add("\u1100\u1161\u11a8", "ﬁ", int64(0), int64(9223372036854775807), "Å", uint64(4))
	f.Fuzz(func(t *testing.T, email, sku string, n, count int64, note string, seed uint64) {
		for _, text := range []string{email, sku, note} {
			if !utf8.ValidString(text) {
				return
			}
		}
		s := speller{rand.New(rand.NewPCG(seed, 0))}
		in := sample{Email: email, Items: []thing{{sku, n}, {"b", 2}}, Count: count, Note: note}
		want, _ := printOf(t, "POST /x", s.spell(in))
		for range 3 {
			if text := s.spell(in); func() bool { got, _ := printOf(t, "POST /x", text); return got != want }() {
				t.Fatalf("another spelling is another request: %s", text)
			}
		}
		for i, other := range []sample{
			{Email: email + "x", Items: in.Items, Count: count, Note: note},
			{Email: email, Items: []thing{{sku, n ^ 1}, {"b", 2}}, Count: count, Note: note},
			{Email: email, Items: []thing{{"b", 2}, {sku, n}}, Count: count, Note: note},
			{Email: email, Items: in.Items[:1], Count: count, Note: note},
			{Email: email, Items: in.Items, Count: count ^ 1, Note: note},
			{Email: email, Items: in.Items, Count: count, Note: note + "x"},
		} {
			if i == 2 && norm.NFC.String(sku) == "b" && n == 2 {
				continue // the two items are one and the same
			}
			if got, _ := printOf(t, "POST /x", s.spell(other)); got == want {
				t.Fatalf("change %d does not matter: %+v, %+v", i, in, other)
			}
		}
		var out sample
		if err := decode([]byte(strings.Replace(s.spell(in), "{", `{"note":null,`, 1)), &out); err == nil {
			t.Fatal("a null was taken for an absent field")
		}
	})
}

// FuzzTheDecoderIsStrict: what it takes is one object with one meaning, and what it refuses it can
// explain to the client.
func FuzzTheDecoderIsStrict(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"email":"a"}`, `{"email":null}`, `{"email":"a","email":"b"}`, `{"Email":"a"}`, `{"other":1}`, `{"count":1e2}`, `{"count":"1"}`,
		`{} {}`, `[]`, `null`, `"null"`, ``, "\xff", `{"email":"\ud800"}`, `{"items":[{"sku":"a","n":1,"x":2}]}`, `{"note":"null"}`,
		`{"` + strings.Repeat("x", 63) + `é":1}`, `{"items":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "\ufeff{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var in sample
		err := decode([]byte(text), &in)
		if err != nil {
			if domain.KindOf(err) != domain.Malformed {
				t.Fatalf("%q: %v", text, err)
			}
			problem := ProblemOf(err)
			if explained, err := jsonv2.Marshal(problem); err != nil || len(explained) > 4096 {
				t.Fatalf("%q: a problem of %d bytes, %v", text, len(explained), err)
			}
			return
		}
		if !utf8.ValidString(text) || hasNull(text) {
			t.Fatalf("%q was taken", text)
		}
		loose := json.NewDecoder(strings.NewReader(text))
		loose.DisallowUnknownFields()
		var other sample
		if err := loose.Decode(&other); err != nil || loose.More() {
			t.Fatalf("%q is more than one object: %v", text, err)
		}
		if meaning(other) != meaning(in) {
			t.Fatalf("%q means %+v, and %+v to another decoder", text, in, other)
		}
		again, err := jsonv2.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var back sample
		if err := decode(again, &back); err != nil || meaning(back) != meaning(in) {
			t.Fatalf("%q is written %s and read %+v, %v", text, again, back, err)
		}
	})
}

// hasNull looks for a null with another decoder.
func hasNull(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if token == nil {
			return true
		}
	}
}
