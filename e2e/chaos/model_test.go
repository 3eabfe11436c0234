package chaos

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The model of one key: what anybody may be told about it, whatever the order of things was. A key is
// bound to the first payload and to the first final answer.
type key struct {
	print string // payload that owns the key; empty while it is free
	hash  string // final answer; empty while nobody has seen one
	done  bool   // somebody has seen that there is a final answer
}

type request struct {
	scope string
	print string // empty for a look
}

type told struct {
	outcome, hash string
	rival         bool // of a key that is another request's: one with another payload was on its way
}

var model = porcupine.NondeterministicModel{
	Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
		place := map[string]int{}
		for _, one := range all {
			scope := one.Input.(request).scope
			i, known := place[scope]
			if !known {
				i, place[scope] = len(parts), len(parts)
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], one)
		}
		return parts
	},
	Init: func() []any { return []any{key{}} },
	Step: func(state, input, output any) []any {
		var next []any
		for _, k := range state.(key).next(input.(request), output.(told)) {
			next = append(next, k)
		}
		return next
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(request), output.(told)
		return fmt.Sprintf("%s %q -> %s %s", in.scope, in.print, out.outcome, out.hash)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state.(key)) },
}

// next gives the states in which the key can be after a request that was told this. There is none when
// nobody may be told so.
func (k key) next(in request, out told) []key {
	free, mine := k.print == "", k.print == in.print
	switch {
	case out.outcome == final && (free || mine) && (k.hash == "" || k.hash == out.hash):
		return []key{{in.print, out.hash, true}}
	case out.outcome == reused && (!free && !mine || free && out.rival):
		return []key{k} // a request is refused also for the sake of one that has not claimed the key yet
	case out.outcome == unknown && free:
		return []key{k, {print: in.print}}
	case out.outcome == unknown:
		return []key{k}
	case out.outcome == none && free:
		return []key{k}
	case out.outcome == opened && !free && !k.done:
		return []key{k}
	case out.outcome == done && !free:
		return []key{{k.print, k.hash, true}}
	default:
		return nil
	}
}

// operations makes the history fit for the model. A payment claims its key and has its answer later, so
// whoever sends a payload may also claim the key at any time from then on; after an attempt of unknown
// outcome, even when nobody waits any more. Those of one payload cannot be told apart, so one such claim
// stands for all: without this a single key with hundreds of them takes for ever.
func operations(attempts []attempt) (list []porcupine.Operation) {
	claims := map[request]bool{}
	for _, a := range slices.SortedFunc(slices.Values(attempts), func(a, b attempt) int { return cmp.Compare(a.Call, b.Call) }) {
		in := request{a.scope(), a.Print}
		if a.Print != "" && a.Outcome != reused && !claims[in] {
			claims[in] = true
			list = append(list, porcupine.Operation{ClientId: a.Client, Input: in, Call: a.Call, Output: told{outcome: unknown}, Return: math.MaxInt64})
		}
		if a.Outcome != unknown {
			list = append(list, porcupine.Operation{ClientId: a.Client, Input: in, Call: a.Call, Output: told{a.Outcome, a.Hash, a.Outcome == reused && a.hasRival(attempts)}, Return: a.Return})
		}
	}
	return list
}

// hasRival reports whether a request with the same key and another payload may have run beside this one. A
// replica refuses the second at once, before the first has claimed the key: so of two payloads at the same
// moment both can be refused, when a third request, on the other replica, is faster than the first.
func (a attempt) hasRival(all []attempt) bool {
	return slices.ContainsFunc(all, func(b attempt) bool {
		return b.scope() == a.scope() && b.Print != "" && b.Print != a.Print &&
			b.Call < a.Return && (b.Return > a.Call || b.Outcome == unknown)
	})
}

// judgeHistory tells of which keys the answers cannot be explained by any one order of things that agrees
// with the times, and draws a picture of those. Not knowing is no yes.
func judgeHistory(attempts []attempt, dir string) (stories []string) {
	m := model.ToModel()
	var culprits []porcupine.Operation
	for _, part := range m.Partition(operations(attempts)) {
		if verdict := porcupine.CheckOperationsTimeout(m, part, 30*time.Second); verdict != porcupine.Ok {
			stories = append(stories, fmt.Sprintf("%s: %s", part[0].Input.(request).scope, verdict))
			culprits = append(culprits, part...)
		}
	}
	if stories == nil {
		return nil
	}
	view := filepath.Join(dir, "history.html")
	_, info := porcupine.CheckOperationsVerbose(m, culprits, 10*time.Second)
	file, err := os.Create(view)
	if err == nil {
		defer func() { _ = file.Close() }()
		err = porcupine.Visualize(m, info, file)
	}
	if err != nil {
		view = err.Error()
	}
	return append(stories, "see "+view)
}

// The judge is judged: histories made by hand, right and wrong.
func TestModelKnowsRightFromWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		right bool
		all   []attempt
	}{
		{"a replay", true, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "A", final, "x")}},
		{"another payload is refused beside the first", true, []attempt{told1(0, 9, "A", final, "x"), told1(1, 2, "B", reused, ""), told1(3, 4, "", none, "")}},
		{"two payloads at once are both refused for a third", true, []attempt{told1(0, 9, "A", final, "x"), told1(1, 8, "B", reused, ""), told1(2, 3, "A", reused, "")}},
		{"the owner is refused after his answer", false, []attempt{told1(0, 1, "A", final, "x"), told1(2, 9, "B", reused, ""), told1(3, 4, "A", reused, "")}},
		{"another answer", false, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "A", final, "y")}},
		{"another payload is refused", true, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "B", reused, "")}},
		{"another payload runs", false, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "B", final, "y")}},
		{"another payload is answered with the first one's", false, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "B", final, "x")}},
		{"a fresh key is refused", false, []attempt{told1(0, 1, "A", reused, ""), told1(2, 3, "A", final, "x")}},
		{"the second of two at once wins", true, []attempt{told1(0, 9, "A", reused, ""), told1(1, 8, "B", final, "x")}},
		{"an unknown one had won", true, []attempt{told1(0, 1, "B", unknown, ""), told1(2, 3, "A", reused, ""), told1(4, 5, "B", final, "x")}},
		{"an unknown one comes later", true, []attempt{told1(0, 1, "B", unknown, ""), told1(2, 3, "", none, ""), told1(4, 5, "A", reused, "")}},
		{"the refused payload runs after all, for the other one came to nothing", true, []attempt{told1(0, 1, "B", unknown, ""), told1(2, 3, "A", reused, ""), told1(4, 5, "A", final, "x")}},
		{"the refused payload runs after the other one", false, []attempt{told1(0, 1, "B", final, "x"), told1(2, 3, "A", reused, ""), told1(4, 5, "A", final, "y")}},
		{"a look in the middle", true, []attempt{told1(0, 9, "A", final, "x"), told1(1, 2, "", none, ""), told1(3, 4, "", opened, ""), told1(5, 6, "", done, "")}},
		{"a look that finds the key free again", false, []attempt{told1(0, 9, "A", unknown, ""), told1(1, 2, "", opened, ""), told1(3, 4, "", none, "")}},
		{"a look before", true, []attempt{told1(0, 1, "", none, ""), told1(2, 3, "A", final, "x"), told1(4, 5, "", done, "")}},
		{"a look that forgets", false, []attempt{told1(0, 1, "A", final, "x"), told1(2, 3, "", none, "")}},
		{"a look that goes back", false, []attempt{told1(0, 1, "A", unknown, ""), told1(2, 3, "", done, ""), told1(4, 5, "", opened, "")}},
		{"a look at what nobody did", false, []attempt{told1(0, 1, "", done, ""), told1(2, 3, "A", final, "x")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judgeHistory(c.all, t.TempDir()); (got == nil) != c.right {
				t.Errorf("the judge says %v", got)
			}
		})
	}
}

func told1(call, ret int64, print, outcome, hash string) attempt {
	return attempt{Call: call, Return: ret, Key: "k", Print: print, Outcome: outcome, Hash: hash}
}

// Hundreds of attempts without an answer must not keep the judge from a verdict.
func TestModelJudgesAKeyWithManyUnknowns(t *testing.T) {
	t.Parallel()
	var all []attempt
	for i := range int64(400) {
		all = append(all, told1(10*i, 10*i+5, "A", unknown, ""), told1(10*i+1, 10*i+4, "", opened, ""))
	}
	all[1].Outcome = none
	all = append(all, told1(9000, 9001, "A", final, "x"))
	if got := judgeHistory(all, t.TempDir()); got != nil {
		t.Errorf("the judge says %v", got)
	}
	all = append(all, told1(9002, 9003, "A", final, "y"))
	if got := judgeHistory(all, t.TempDir()); got == nil || !strings.HasSuffix(got[0], string(porcupine.Illegal)) {
		t.Errorf("of a wrong answer at its end the judge says %v", got)
	}
}
