// Package e2e tests from outside: the built binary, in processes of its own, with a real browser in
// front of it. What happened is read from the shop's database by plain SQL and from the provider's
// ledger over HTTP; nothing of the shop's code is used here.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	binary   string   // the built shop
	provider *process // the simulated payment provider that tests share
	chromium string   // the program; empty without one

	browser   context.Context //nolint:containedctx // how chromedp holds a browser
	restoring func() (context.Context, error)
)

// everything forbids skipping for lack of a browser or of a database.
var everything = os.Getenv("EENMAAL_TEST_ALL") != ""

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait more than they work, so more of them run than there are processors.
	parallel := false
	flag.Visit(func(f *flag.Flag) { parallel = parallel || f.Name == "test.parallel" })
	if !parallel {
		_ = flag.Set("test.parallel", "4") // a number, so there is no error
	}
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "eenmaal-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary = filepath.Join(dir, "shop")
	build := exec.Command("go", "build", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", binary, "../cmd/shop")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the shop: %w\n%s", err, out)
	}
	provider, err = startProcess([]string{"psp"}, settings{"DATA_DIR": filepath.Join(dir, "provider")})
	if err != nil {
		return 1, err
	}
	defer provider.kill()
	if chromium = findChromium(); chromium == "" {
		return m.Run(), nil
	}
	ctx, closeBrowser, err := openBrowser(filepath.Join(dir, "browser"), "Translate,BlinkGenPropertyTrees,BackForwardCache")
	if err != nil {
		return 1, err
	}
	defer closeBrowser()
	browser = ctx
	closeSecond := func() {}
	restoring = sync.OnceValues(func() (context.Context, error) {
		ctx, stop, err := openBrowser(filepath.Join(dir, "restoring"), "Translate,BlinkGenPropertyTrees")
		if err == nil {
			closeSecond = stop
		}
		return ctx, err
	})
	defer func() { closeSecond() }()
	return m.Run(), nil
}

func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// openBrowser starts a browser. There is one for nearly all tests, in which Back loads a page anew, and
// one for those about pages that Back restores from memory.
func openBrowser(dir, withoutFeatures string) (ctx context.Context, closeIt func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.UserDataDir(dir), chromedp.WindowSize(1200, 900), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-features", withoutFeatures),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	closeIt = func() { cancel(); stop() }
	if err := chromedp.Do(ctx); err != nil {
		closeIt()
		return nil, nil, fmt.Errorf("start %s: %w", chromium, err)
	}
	return ctx, closeIt, nil
}

// needBrowser skips a test on a machine without Chromium, or fails it where nothing may be left out.
func needBrowser(t *testing.T) {
	t.Helper()
	if chromium != "" {
		return
	}
	if everything {
		t.Fatal("Chromium is not installed")
	}
	t.Skip("NOT TESTED: Chromium is not installed")
}

// eventually waits until ok gives true.
func eventually(t *testing.T, within time.Duration, what func() string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what())
		}
	}
}
