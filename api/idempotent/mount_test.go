package idempotent_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/api/idempotent"
	"example.com/eenmaal/domain"
	"example.com/eenmaal/store/storetest"
)

func init() { gin.SetMode(gin.TestMode) }

// post sends one request to an engine, without a socket.
func post(engine http.Handler, path, key string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, body) //nolint:noctx // a test ends by its own deadline
	r.Header.Set("Idempotency-Key", key)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	return w
}

func somebodyCalls(*gin.Context) domain.Consumer { return somebody }

type cancelThing struct {
	ThingID string `json:"-" path:"id"`
	Reason  string `json:"reason,omitzero"`
}

type cancelled struct {
	ThingID string `json:"thing_id"`
	Reason  string `json:"reason,omitzero"`
}

func (c cancelled) HTTPStatus() int {
	if c.Reason == "later" {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func newCancel(t *testing.T, d storetest.Database) *gin.Engine {
	t.Helper()
	op, err := idempotent.Local(t.Context(), newRegistry(t, d.Open(t, nil)), "POST /things/:id/cancellations",
		idempotent.Options{TTL: time.Hour, BodyOptional: true},
		func(_ context.Context, _ *idempotent.Tx, in cancelThing) (cancelled, error) {
			return cancelled(in), nil
		})
	must(t, err)
	engine := gin.New()
	engine.POST("/things/:id/cancellations", op.Handle(somebodyCalls))
	return engine
}

func TestAnOptionalBodyMayBeLeftOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		engine := newCancel(t, d)
		key := freshKey(t).String()
		for i, body := range []io.Reader{nil, strings.NewReader(""), struct{ io.Reader }{strings.NewReader("")}} {
			w := post(engine, "/things/7/cancellations", key, body)
			if w.Code != 200 || w.Body.String() != `{"thing_id":"7"}`+"\n" || (w.Header().Get("Idempotent-Replayed") == "true") != (i > 0) {
				t.Errorf("no body, way %d: %d %s", i, w.Code, w.Body)
			}
		}
		for _, body := range []io.Reader{strings.NewReader("{}"), struct{ io.Reader }{strings.NewReader(" {} ")}} {
			if w := post(engine, "/things/7/cancellations", key, body, "Content-Type", "application/json"); w.Header().Get("Idempotent-Replayed") != "true" {
				t.Errorf("{} is another request than none: %d %s", w.Code, w.Body)
			}
		}
		if w := post(engine, "/things/7/cancellations", key, strings.NewReader("{}")); w.Code != 415 {
			t.Errorf("a body without a type: %d %s", w.Code, w.Body)
		}
		if w := post(engine, "/things/7/cancellations", freshKey(t).String(), struct{ io.Reader }{strings.NewReader(`{"reason":"later"}`)},
			"Content-Type", "application/json"); w.Code != 202 || w.Body.String() != `{"thing_id":"7","reason":"later"}`+"\n" {
			t.Errorf("a body of unknown length: %d %s", w.Code, w.Body)
		}
	})
}

func TestTheSameKeyForAnotherPathIsAMismatch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, d storetest.Database) {
		engine := newCancel(t, d)
		key := freshKey(t).String()
		if w := post(engine, "/things/7/cancellations", key, nil); w.Code != 200 {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if w := post(engine, "/things/8/cancellations", key, nil); w.Code != 409 || !strings.Contains(w.Body.String(), "idempotency_key_reused") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		for _, body := range []string{`{"id":"8"}`, `{"ThingID":"8"}`, `{"-":"8"}`} {
			if w := post(engine, "/things/7/cancellations", freshKey(t).String(), strings.NewReader(body), "Content-Type", "application/json"); w.Code != 400 {
				t.Errorf("the body may set the path's field: %d %s", w.Code, w.Body)
			}
		}
		if w := post(engine, "/things/%ff/cancellations", freshKey(t).String(), nil); w.Code != 400 {
			t.Errorf("a path that is no text: %d %s", w.Code, w.Body)
		}
	})
}
