package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

type asset struct {
	body   []byte
	packed []byte // by gzip; nil for what is packed already
	hash   string
	kind   string
}

var assets = func() map[string]asset {
	all := map[string]asset{}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	for _, e := range entries {
		body, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		all[e.Name()] = asset{body, pack(e.Name(), body), hex.EncodeToString(sum[:6]), kindOf(e.Name())}
	}
	return all
}()

func pack(name string, body []byte) []byte {
	if path.Ext(name) == ".png" {
		return nil
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level that exists
	_, _ = w.Write(body)                                       // to memory
	_ = w.Close()
	return packed.Bytes()
}

func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(path.Ext(name))
	}
}

// AssetURL is the address of a static file. It changes with the file's content, so the file may be
// kept for ever.
func AssetURL(name string) string { return "/static/" + name + "?v=" + assets[name].hash }

// ServeAsset answers a request for a static file, and reports whether there is one. Only the address
// that AssetURL gives may be kept for ever: the same name without its hash may change.
func ServeAsset(w http.ResponseWriter, r *http.Request, name string) bool {
	a, ok := assets[name]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("ETag", `"`+a.hash+`"`)
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == a.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Vary", "Accept-Encoding")
	body := a.body
	if a.packed != nil && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", `"`+a.hash+`-gzip"`)
		body = a.packed
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	return true
}

// takesGzip reports whether a client said that it reads gzip. One that weighs encodings against each other
// gets the file as it is.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(part) == "gzip" {
			return true
		}
	}
	return false
}
