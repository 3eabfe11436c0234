package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
)

// TestPagesAreLight holds the files that every page loads to their budget, as they travel to a browser.
func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	weights := map[string]int{}
	for name := range assets {
		r, w := httptest.NewRequest(http.MethodGet, AssetURL(name), nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
		if !ServeAsset(w, r, name) || w.Code != http.StatusOK {
			t.Fatalf("%s: %d", name, w.Code)
		}
		weights[path.Ext(name)] += w.Body.Len()
	}
	for kind, most := range map[string]int{".css": 12 << 10, ".js": 8 << 10, ".svg": 1 << 10, ".png": 150 << 10} {
		if got := weights[kind]; got == 0 || got > most {
			t.Errorf("%s: %d bytes, want at most %d", kind, got, most)
		}
		t.Logf("%s: %d of %d bytes", kind, weights[kind], most)
	}
}

func TestAFileIsTheSamePackedAndNot(t *testing.T) {
	t.Parallel()
	for name, a := range assets {
		for _, accepts := range []string{"", "gzip", "br, gzip", "gzip;q=0", "identity"} {
			r, w := httptest.NewRequest(http.MethodGet, AssetURL(name), nil), httptest.NewRecorder()
			r.Header.Set("Accept-Encoding", accepts)
			ServeAsset(w, r, name)
			body := io.Reader(w.Body)
			packed := w.Header().Get("Content-Encoding") == "gzip"
			if want := a.packed != nil && (accepts == "gzip" || accepts == "br, gzip"); packed != want || w.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s for %q: packed %t, varies by %q", name, accepts, packed, w.Header().Get("Vary"))
			}
			if packed {
				var err error
				if body, err = gzip.NewReader(w.Body); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, a.body) {
				t.Errorf("%s for %q: %d bytes, want %d: %v", name, accepts, len(got), len(a.body), err)
			}
			again := httptest.NewRecorder()
			r.Header.Set("If-None-Match", w.Header().Get("ETag"))
			if ServeAsset(again, r, name); again.Code != http.StatusNotModified {
				t.Errorf("%s for %q, asked for again: %d", name, accepts, again.Code)
			}
		}
	}
}
