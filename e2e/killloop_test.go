package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// SQLite and its process are one: kill -9 at random moments, under four clients that order without a
// break, cuts off whatever is being written. What a client was told is there, and nothing twice.
func TestSQLiteSurvivesKillsUnderLoad(t *testing.T) {
	t.Parallel()
	const kills, clients = 20, 4
	w := &world{t: t, db: database{dir: t.TempDir()}, psp: provider, env: settings{"RATE_LIMIT": "0"}}
	addr := freeAddress()
	w.front = newProxy(t, addr)
	openWorld(w, addr)

	const plenty = 1_000_000 // mugs
	if _, err := w.sql.ExecContext(t.Context(), "UPDATE products SET stock = ? WHERE sku = 'mug'", plenty); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	told := make([]map[string]string, clients) // per client: its keys and the answers to them
	var working sync.WaitGroup
	for i := range told {
		told[i] = map[string]string{}
		working.Go(func() { orderUntil(stop, client{t, "http://" + addr}, told[i]) })
	}
	for range kills {
		time.Sleep(20*time.Millisecond + rand.N(300*time.Millisecond)) // the moment is by chance
		w.shop.kill()
		w.start()
	}
	close(stop)
	working.Wait()

	all := map[string]bool{}
	for _, answers := range told {
		for key, body := range answers {
			var order struct{ ID, Number string }
			if err := json.Unmarshal([]byte(body), &order); err != nil {
				t.Fatalf("%s was answered with %q", key, body)
			}
			if all[order.ID] {
				t.Errorf("two keys were answered with %s", body)
			}
			all[order.ID] = true
			if n := w.number("SELECT count(*) FROM orders WHERE id = '" + order.ID + "' AND number = '" + order.Number + "'"); n != 1 {
				t.Errorf("%s was answered with %s, of which there are %d", key, body, n)
			}
		}
	}
	if got := w.number("SELECT count(*) FROM orders"); got != len(all) || got < 100 {
		t.Errorf("%d orders are answered and there are %d, want the same and at least 100", len(all), got)
	}
	if left := w.number("SELECT stock FROM products WHERE sku = 'mug'"); left != plenty-len(all) {
		t.Errorf("%d mugs are left of %d after %d orders", left, plenty, len(all))
	}
	var verdict string
	if err := w.sql.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the file is %q, %v", verdict, err)
	}
	t.Logf("%d orders in %d lives", len(all), kills+1)
}

// orderUntil places one order after another, each with one key until its answer is final.
func orderUntil(stop <-chan struct{}, c client, told map[string]string) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		key := newKey()
		for end := time.Now().Add(2 * patience); told[key] == "" && time.Now().Before(end); {
			got, err := c.post("/v1/orders", key, orderOf("sanne@example.nl"))
			switch {
			case err == nil && got.status == http.StatusCreated:
				told[key] = got.body
			case err == nil && got.status < 500 && got.retryAfter == "":
				told[key] = fmt.Sprint(got) // final, and not what it should be
			default:
				time.Sleep(rand.N(50 * time.Millisecond))
			}
		}
		if told[key] == "" {
			c.t.Errorf("%s gets no final answer", key)
		}
	}
}
