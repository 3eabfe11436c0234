package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"
)

// policy lets the page run its own scripts and call its own shop, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var (
	//go:embed docs.html
	docsHTML string
	//go:embed docs.js
	docsJS []byte
	//go:embed docs.css
	docsCSS []byte
)

var docsPage = template.Must(template.New("docs").Parse(docsHTML))

// mountDocs serves the page and its files, all of them from here: it works without a network.
func mountDocs(r gin.IRouter, demoKey string) {
	var html bytes.Buffer
	if err := docsPage.Execute(&html, demoKey); err != nil {
		panic(err) // the template and its value are constant
	}
	page := file{kind: "text/html; charset=utf-8", body: html.Bytes()}
	r.GET("/docs", func(c *gin.Context) {
		c.Header("Content-Security-Policy", policy)
		page.serve(c)
	})
	r.GET("/docs/docs.js", file{kind: "text/javascript; charset=utf-8", body: docsJS}.serve)
	r.GET("/docs/docs.css", file{kind: "text/css; charset=utf-8", body: docsCSS}.serve)
	r.GET("/docs/swagger-ui-bundle.js", packed("text/javascript; charset=utf-8", "swagger-ui-bundle.js.gz").serve)
	r.GET("/docs/swagger-ui.css", packed("text/css; charset=utf-8", "swagger-ui.css.gz").serve)
}

// file is served from memory and checked by its reader each time.
type file struct {
	kind string
	body []byte
	gzip bool // the body is compressed
}

// packed is a file of Swagger UI.
func packed(kind, name string) file {
	body, err := static.FS.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("swgui has changed: %v", err))
	}
	return file{kind: kind, body: body, gzip: true}
}

func (f file) serve(c *gin.Context) {
	body := f.body
	header := c.Writer.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "no-cache")
	if f.gzip {
		header.Set("Vary", "Accept-Encoding")
		if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
			header.Set("Content-Encoding", "gzip")
		} else {
			body = unpacked(body)
		}
	}
	sum := sha256.Sum256(body)
	header.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(body))
}

func unpacked(body []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		panic(err) // the file is part of the program
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return plain
}
