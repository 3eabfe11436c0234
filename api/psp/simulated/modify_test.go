package simulated_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/eenmaal/api/psp/simulated"
	"example.com/eenmaal/domain"
)

// paidCharge makes a charge of 41.95 and gives the path of its modifications.
func (p *provider) paidCharge(t *testing.T) (id, path string) {
	t.Helper()
	want(t, p.post(t, "key-paid", order("EM-1", "tok_ok")), http.StatusCreated, "")
	id = p.entries(t, "reference", "EM-1")[0].ID
	return id, chargesPath + "/" + id
}

func (p *provider) refunded(t *testing.T, want int64) {
	t.Helper()
	if got := p.entries(t, "reference", "EM-1"); len(got) != 1 || got[0].Refunded != want {
		t.Errorf("got %+v, want one charge with %d refunded", got, want)
	}
}

func TestAModificationIsAnsweredAlikeAndListed(t *testing.T) {
	t.Parallel()
	p := setup(t)
	id, path := p.paidCharge(t)
	first := p.postTo(t, path+"/refunds", "key-1", `{"amount":1000}`)
	want(t, first, http.StatusCreated, "")
	if again := p.postTo(t, path+"/refunds", "key-1", ` { "amount" : 1000 } `); again != first {
		t.Errorf("repeat: got %+v, want %+v", again, first)
	}
	if list := p.get(t, "/psp/v1/modifications?idempotency_key=key-1"); list.body != `{"modifications":[`+first.body+`]}` {
		t.Errorf("got %s, want %s in it", list.body, first.body)
	}
	want(t, p.postTo(t, path+"/refunds", "key-2", `{"amount":1}`), http.StatusCreated, "")
	if again := p.postTo(t, path+"/refunds", "key-1", `{"amount":1000}`); again != first {
		t.Errorf("repeat after a change: got %+v, want %+v as it was", again, first)
	}
	var now entry
	if err := json.Unmarshal([]byte(p.get(t, path).body), &now); err != nil || now.ID != id || now.Refunded != 1001 || now.Version != 3 {
		t.Errorf("got %+v, %v, want the charge with 1001 refunded and version 3", now, err)
	}
	want(t, p.get(t, chargesPath+"/ch_none"), http.StatusNotFound, "charge_not_found")
	want(t, p.get(t, "/psp/v1/modifications"), http.StatusBadRequest, "filter_required")
}

func TestAModificationThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	_, path := p.paidCharge(t)
	for _, c := range []struct {
		name, path, key, body string
		status                int
		code                  string
	}{
		{"no key", path + "/refunds", "", `{"amount":1}`, 400, "key_required"},
		{"no amount", path + "/refunds", "key-1", `{}`, 400, "amount_invalid"},
		{"negative", path + "/refunds", "key-1", `{"amount":-1}`, 400, "amount_invalid"},
		{"fraction", path + "/refunds", "key-1", `{"amount":0.5}`, 400, "malformed"},
		{"void of an amount", path + "/voids", "key-1", `{"amount":1}`, 400, "amount_invalid"},
		{"no such charge", chargesPath + "/ch_none/refunds", "key-1", `{"amount":1}`, 404, "charge_not_found"},
		{"key of the charge", path + "/refunds", "key-paid", `{"amount":1}`, 422, "key_reused"},
		{"nothing to capture", path + "/captures", "key-2", `{"amount":1}`, 422, "exceeds_rest"},
		{"nothing to void", path + "/voids", "key-3", `{}`, 422, "exceeds_rest"},
		{"overflow", path + "/refunds", "key-4", `{"amount":9223372036854775807}`, 422, "exceeds_rest"},
	} {
		t.Run(c.name, func(t *testing.T) { want(t, p.postTo(t, c.path, c.key, c.body), c.status, c.code) })
	}
	want(t, p.postTo(t, path+"/refunds", "key-1", `{"amount":1}`), http.StatusCreated, "")
	p.refunded(t, 1)
}

// A key that was told "no" must stay refused: its sender has been told that nothing will happen.
func TestARefusalIsTheAnswerOfItsKey(t *testing.T) {
	t.Parallel()
	p := pages(t, simulated.ServerConfig{})
	e := p.pending(t, "EM-1", "ideal")
	refunds := chargesPath + "/" + e.ID + "/refunds"
	first := p.postTo(t, refunds, "key-1", `{"amount":1}`)
	want(t, first, http.StatusUnprocessableEntity, "exceeds_rest")
	p.press(t, e.RedirectURL, "approve")
	if again := p.postTo(t, refunds, "key-1", `{"amount":1}`); again != first {
		t.Errorf("got %+v, want %+v", again, first)
	}
	want(t, p.postTo(t, refunds, "key-2", `{"amount":1}`), http.StatusCreated, "")
	p.refunded(t, 1)
}

func TestFaultsMeetTheNextCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault    string
		status   int // of the first answer; 0 is silence
		code     string
		refunded int64 // after the first request
		again    int   // status of the repeat
	}{
		{"done_then_timeout", 0, "", 1000, 201},
		{"done_then_500", 500, "internal", 1000, 201},
		{"unavailable_once", 503, "unavailable", 0, 201},
		{"slow", 201, "", 1000, 201},
		{"refuse", 422, "refused", 0, 422},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			id, path := p.paidCharge(t)
			p.fault(t, domain.Capture, "refuse", "") // of another call
			p.fault(t, domain.Refund, "refuse", "ch_other")
			p.fault(t, domain.Refund, c.fault, id)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			if c.status == 0 {
				go func() {
					for p.entries(t, "reference", "EM-1")[0].Refunded == 0 {
						time.Sleep(time.Millisecond)
					}
					hangUp()
				}()
			}
			got, err := p.postPath(ctx, path+"/refunds", "key-1", `{"amount":1000}`)
			if c.status == 0 && err == nil {
				t.Errorf("got %+v, want silence", got)
			}
			if c.status != 0 {
				want(t, got, c.status, c.code)
			}
			p.refunded(t, c.refunded)
			if again := p.postTo(t, path+"/refunds", "key-1", `{"amount":1000}`); again.status != c.again {
				t.Errorf("repeat: got %+v, want %d", again, c.again)
			}
			want(t, p.postTo(t, path+"/refunds", "key-2", `{"amount":1}`), http.StatusCreated, "") // the fault is over
		})
	}
	p := setup(t)
	for _, body := range []string{`{}`, `{"call":"charge","fault":"slow"}`, `{"call":"refund","fault":"fire"}`} {
		want(t, p.postTo(t, "/psp/v1/faults", "", body), http.StatusBadRequest, "fault_invalid")
	}
}

// T27: after the provider has forgotten the key, a resumed capture hears that nothing is left. It was
// our own capture that took it.
func TestAlreadyCapturedOnAResumeIsSuccess(t *testing.T) {
	t.Parallel()
	now := newClock()
	p := serve(t, simulated.ServerConfig{Path: ledgerFile(t), Now: now.read, KeyTTL: time.Hour})
	client := p.client(t, simulated.ClientConfig{Attempts: 1})
	reserve := request("tok_ok")
	reserve.Manual = true
	charge, err := client.Charge(t.Context(), "key-1", reserve)
	if err != nil {
		t.Fatal(err)
	}
	p.fault(t, domain.Capture, "done_then_500", charge.ID)
	all := domain.ModifyRequest{Kind: domain.Capture, ChargeID: charge.ID, Amount: domain.EUR(4195)}
	if _, err := client.Modify(t.Context(), "key-2", all); err == nil || domain.KindOf(err) == domain.Refused {
		t.Fatalf("got %v, want an unknown outcome", err)
	}
	now.pass(time.Hour + time.Second)
	got, err := client.Modify(t.Context(), "key-2", all)
	if err != nil || got.Charge.Captured != domain.EUR(4195) || got.Charge.Version != 2 {
		t.Errorf("got %+v, %v, want the capture that was made", got, err)
	}
	if _, err := client.Modify(t.Context(), "key-3", all); domain.KindOf(err) != domain.Refused {
		t.Errorf("another key: got %v, want it refused", err)
	}
}

func TestARefusalIsBelievedOnlyAfterALookUp(t *testing.T) {
	t.Parallel()
	no := script{422, `{"code":"exceeds_rest","message":"-"}`}
	r := domain.ModifyRequest{Kind: domain.Refund, ChargeID: "ch_1", Amount: domain.EUR(1000)}
	made := `{"id":"mod_1","kind":"refund","charge_id":"ch_1","idempotency_key":"key-1","amount":1000,"charge":{"id":"ch_1","reference":"EM-1",` +
		`"idempotency_key":"key-0","amount":4195,"currency":"EUR","status":"succeeded","captured":4195,"refunded":1000,"version":2}}`
	list := func(items ...string) script {
		return script{200, `{"modifications":[` + strings.Join(items, ",") + `]}`}
	}
	for _, c := range []struct {
		name    string
		answers []script
		refused bool
		done    bool
	}{
		{"none", []script{no, list()}, true, false},
		{"made", []script{no, list(made)}, false, true},
		{"made twice", []script{no, list(made, made)}, false, false},
		{"another", []script{no, list(strings.Replace(made, "1000", "999", 1))}, false, false},
		{"another charge", []script{no, list(strings.Replace(made, `"id":"ch_1"`, `"id":"ch_2"`, 1))}, false, false},
		{"no list", []script{no, {200, `{}`}}, false, false},
		{"not told", []script{no, {500, ``}}, false, false},
		{"key reused", []script{{422, `{"code":"key_reused"}`}}, false, false},
		{"not JSON", []script{{422, `<html>`}}, false, false},
		{"unavailable", []script{{503, `{"code":"unavailable","charged":false}`}}, false, false},
		{"failed, then made", []script{{500, ``}, {201, made}}, false, true},
		{"made for another key", []script{{201, strings.Replace(made, "key-1", "key-2", 1)}}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, _ := scripted(t, c.answers...)
			got, err := p.client(t, simulated.ClientConfig{}).Modify(t.Context(), "key-1", r)
			if (err == nil) != c.done || (domain.KindOf(err) == domain.Refused) != c.refused || c.done && got.ID != "mod_1" {
				t.Errorf("got %+v, %v, want done %v, refused %v", got, err, c.done, c.refused)
			}
			if err != nil && strings.Contains(err.Error(), "key-1") {
				t.Errorf("got %v, which tells the key", err)
			}
		})
	}
}

func TestTwoProcessesOnOneLedgerNeverRefundTooMuch(t *testing.T) {
	t.Parallel()
	path := ledgerFile(t)
	one, two := serve(t, simulated.ServerConfig{Path: path}), serve(t, simulated.ServerConfig{Path: path})
	_, refunds := one.paidCharge(t)
	var all sync.WaitGroup
	for i := range 10 {
		for _, p := range []*provider{one, two} {
			all.Go(func() {
				for _, key := range []string{fmt.Sprintf("key-%d", i), fmt.Sprintf("%s-%d", url.PathEscape(p.URL), i)} {
					if got, err := p.postPath(t.Context(), refunds+"/refunds", key, `{"amount":1000}`); err != nil || got.status != 201 && got.status != 422 {
						t.Errorf("got %+v, %v", got, err)
					}
				}
			})
		}
	}
	all.Wait()
	one.refunded(t, 4000)
}

// A ledger of before modifications and versions keeps its charges and keys.
func TestAnOlderLedgerIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/old.db"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	mark := sha256.Sum256([]byte(order("EM-1", "tok_ok")))
	_, err = db.ExecContext(t.Context(), `
		CREATE TABLE charges (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, reference TEXT NOT NULL, idempotency_key TEXT NOT NULL,
			amount INTEGER NOT NULL CHECK (amount > 0), currency TEXT NOT NULL,
			status TEXT NOT NULL CHECK (status IN ('succeeded', 'declined')),
			captured INTEGER NOT NULL, refunded INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT;
		CREATE INDEX charges_reference ON charges (reference);
		CREATE INDEX charges_key ON charges (idempotency_key);
		CREATE TABLE keys (key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, tries INTEGER NOT NULL, status INTEGER, answer BLOB, first_used INTEGER NOT NULL) STRICT;
		CREATE INDEX keys_first_used ON keys (first_used);
		INSERT INTO charges VALUES (1, 'ch_1', 'EM-1', 'key-1', 4195, 'EUR', 'succeeded', 4195, 0, 1772366400000);
		INSERT INTO keys VALUES ('key-1', ?, 1, 201, ?, 1772366400000);`, hex.EncodeToString(mark[:]), []byte(`{"id":"ch_1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second opening finds it up to date
		p := serve(t, simulated.ServerConfig{Path: path, Now: newClock().read})
		if got := p.entries(t, "reference", "EM-1"); len(got) != 1 || got[0].Version < 1 || got[0].Captured != 4195 || got[0].ID != "ch_1" {
			t.Fatalf("got %+v, want the old charge", got)
		}
		if got := p.post(t, "key-1", order("EM-1", "tok_ok")); got != (answer{http.StatusCreated, `{"id":"ch_1"}`}) {
			t.Errorf("got %+v, want the old answer of the key", got)
		}
		want(t, p.post(t, "key-1", order("EM-1", "tok_declined")), http.StatusUnprocessableEntity, "key_reused")
		want(t, p.postTo(t, chargesPath+"/ch_1/refunds", "key-2", `{"amount":1}`), http.StatusCreated, "")
		p.refunded(t, 1)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
