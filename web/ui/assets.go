package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"time"
)

//go:embed static
var static embed.FS

type asset struct {
	body []byte
	hash string
	kind string
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
		all[e.Name()] = asset{body, hex.EncodeToString(sum[:6]), kindOf(e.Name())}
	}
	return all
}()

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
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.body))
	return true
}
