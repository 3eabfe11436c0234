// Command evidence writes one page, as HTML and as Markdown, of what the heavy tests measured: the shop
// killed at every point, chaos, several replicas, and the bugs that chaos must see. Every number on it is
// read from a file that one of those tests wrote; a part whose file is not there did not run, and the page
// says so.
//
//	go run ./e2e/evidence -from bin/evidence -to e2e/evidence
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	from := flag.String("from", "bin/evidence", "folder with the files of the tests")
	to := flag.String("to", "e2e/evidence", "folder for evidence.html and evidence.md")
	tokens := flag.String("tokens", "web/ui/static/tokens.css", "the shop's colours and type")
	flag.Parse()
	if err := write(*from, *to, *tokens); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func write(from, to, tokens string) error {
	style, err := os.ReadFile(tokens) //nolint:gosec // a path from the command line of a developer
	if err != nil {
		return err
	}
	p, err := read(from)
	if err != nil {
		return err
	}
	p.At, p.Machine, p.Style = time.Now().UTC(), thisMachine(), string(style)
	for name, render := range map[string]func(page) ([]byte, error){"evidence.html": html, "evidence.md": markdown} {
		text, err := render(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o644) //nolint:gosec // it is to be read
		}
		if err != nil {
			return err
		}
	}
	return nil
}
