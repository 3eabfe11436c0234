package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ground is a shop's database at rest, migrated and filled. Every run starts from a copy of it.
type ground struct{ db database }

func newGround(t *testing.T, db database) ground {
	t.Helper()
	shop, err := startProgram(needBreakable(t), nil, settings{"DATA_DIR": db.dir, "DATABASE_URL": db.url, "PSP_URL": "http://" + provider.addr})
	if err != nil {
		t.Fatal(err)
	}
	defer shop.kill()
	witness := db.open(t)
	awaitBegun(t, witness)
	if err := witness.Close(); err != nil {
		t.Fatal(err)
	}
	shop.interrupt(t)
	shop.exit(t, 20*time.Second)
	return ground{db}
}

// awaitBegun waits until a shop has done what it does when it begins. Only then its points are numbered,
// from the first request on.
func awaitBegun(t *testing.T, db *sql.DB) {
	t.Helper()
	ready := func() (ok bool) {
		query := `SELECT count(*) > 0 AND count(*) = sum(CASE state WHEN 'completed' THEN 1 ELSE 0 END) FROM river_job`
		if err := db.QueryRowContext(t.Context(), query).Scan(&ok); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	eventually(t, patience, func() string { return "the shop has begun" }, ready)
}

func (g ground) copy(t *testing.T) database {
	t.Helper()
	db := database{dir: filepath.Join(t.TempDir(), "data")}
	if g.db.url != "" {
		address, err := url.Parse(g.db.url)
		if err != nil {
			t.Fatal(err)
		}
		db.url = copyPostgres(t, path.Base(address.Path))
		return db
	}
	if err := os.CopyFS(db.dir, os.DirFS(g.db.dir)); err != nil {
		t.Fatal(err)
	}
	return db
}

// killRun is one shop that may die, with who keeps it running and a client that does not give up.
type killRun struct {
	*world
	mails   mailServer
	email   string // of the customer
	trace   string // file with the points that the process passed which may die
	patient bool   // an attempt may take long, so that there is one of each request
	asked   []exchange

	mu      sync.Mutex
	deaths  int
	revived *process
	failed  error
	stop    chan struct{}
	kept    chan struct{} // closed when nobody keeps the shop running any more
}

// exchange is a request and its final answer.
type exchange struct {
	path, key, body string
	answer          answer
}

// newKillRun starts a shop with these failpoints. Its provider lives on, whatever happens to the shop.
func newKillRun(t *testing.T, g ground, f killFlow, failpoints string) *killRun {
	t.Helper()
	addr := freeAddress()
	r := &killRun{mails: needMailServer(t), email: newKey() + "@example.nl", trace: filepath.Join(t.TempDir(), "trace"),
		stop: make(chan struct{}), kept: make(chan struct{})}
	more := settings{"SMTP_URL": r.mails.smtp.String(), "LEASE": "1s", "FAILPOINTS": "from=before_finish,trace=" + r.trace + failpoints}
	r.world = &world{t: t, db: g.copy(t), program: needBreakable(t), psp: provider, front: newProxy(t, addr), env: more}
	if f.bank {
		bank := freeAddress()
		psp, err := startProcess([]string{"psp"}, settings{"ADDR": bank, "DATA_DIR": t.TempDir(), "BASE_URL": r.front.url,
			"PSP_PUBLIC_URL": "http://" + bank, "PSP_WEBHOOK_URL": "http://" + addr + "/v1/webhooks/simulated"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(psp.kill)
		r.psp, r.pages = psp, "http://"+bank
	}
	openWorld(r.world, addr)
	awaitBegun(t, r.sql)
	go r.keep()
	t.Cleanup(r.leave)
	return r
}

// keep starts the shop again when it dies, without its failpoints.
func (r *killRun) keep() {
	defer close(r.kept)
	env := maps.Clone(r.env)
	delete(env, "FAILPOINTS")
	for shop := r.shop; ; {
		select {
		case <-r.stop:
			return
		case <-shop.gone:
		}
		err := r.letTimePass()
		if err == nil {
			shop, err = startProgram(r.program, nil, env)
		}
		r.mu.Lock()
		r.deaths, r.revived, r.failed = r.deaths+1, shop, err
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// letTimePass makes it a minute later for the jobs of the process that died: they are taken over when
// it must have ended, and somebody else may lead. The test of killed workers waits for that minute.
func (r *killRun) letTimePass() error {
	for _, statement := range []string{
		"UPDATE river_job SET attempted_at = '2026-01-01 00:00:00' WHERE state = 'running'",
		"DELETE FROM river_leader",
	} {
		if _, err := r.sql.Exec(statement); err != nil { //nolint:noctx // it may be over before the test
			return err
		}
	}
	return nil
}

// leave ends the run.
func (r *killRun) leave() {
	close(r.stop)
	<-r.kept
	if r.revived == nil {
		return
	}
	r.revived.kill()
	if r.t.Failed() {
		r.t.Logf("the shop that was started again printed:\n%s", r.revived.out)
	}
}

// died is how often the shop has died. It fails when it could not be started again.
func (r *killRun) died() int {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		r.t.Fatalf("the shop cannot be started again: %v", r.failed)
	}
	return r.deaths
}

// passed are the points that the first process passed. The last one is where it died, if it did.
func (r *killRun) passed() []string {
	r.t.Helper()
	text, err := os.ReadFile(r.trace)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// ask sends a request under a new key until its answer is final, as a client should: the same key each
// time, pauses of full jitter, a short time for each attempt.
func (r *killRun) ask(path, body string, status int, into any) {
	r.t.Helper()
	e := exchange{path: path, key: newKey(), body: body}
	e.answer = r.untilFinal(e)
	if e.answer.status != status {
		r.t.Fatalf("%s is answered with %d %s, want %d", path, e.answer.status, e.answer.body, status)
	}
	r.asked = append(r.asked, e)
	if err := json.Unmarshal([]byte(e.answer.body), into); err != nil {
		r.t.Fatal(err)
	}
}

func (r *killRun) untilFinal(e exchange) answer {
	r.t.Helper()
	for end, try := time.Now().Add(2*patience), 0; time.Now().Before(end); try++ {
		got, err := r.attempt(e, try)
		if err == nil && got.status < 500 && got.retryAfter == "" {
			return got
		}
		r.died() // or cannot live again
		time.Sleep(rand.N(min(1600*time.Millisecond, 50*time.Millisecond<<min(try, 6))))
	}
	r.t.Fatalf("%s gets no final answer", e.path)
	return answer{}
}

func (r *killRun) attempt(e exchange, try int) (answer, error) {
	within := 1500 * time.Millisecond
	if r.patient {
		within = patience
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.shop.addr+e.path, strings.NewReader(e.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer demo-alpha")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", e.key)
	if try > 0 {
		req.Header.Set("Retry-Attempt", fmt.Sprint(try))
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(text), resp.Header.Get("Retry-After"), resp.Header.Get("Location")}, err
}

// approve is the customer's yes at the bank, which must get through too.
func (r *killRun) approve(page string) {
	r.t.Helper()
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).
		PostForm(page, url.Values{"do": {"approve"}})
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		r.t.Fatalf("the bank answers %s", resp.Status)
	}
}
