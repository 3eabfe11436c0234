package main

import (
	"errors"
	"os"
	"testing"

	"example.com/eenmaal/store/throwaway"
)

func TestCommandFindsTheServicesAndItsStatusIsOurs(t *testing.T) {
	const script = `
		case $TEST_POSTGRES_URL in postgres://*@127.0.0.1:*) ;; *) exit 1 ;; esac
		case $TEST_REDIS_URL in redis://127.0.0.1:*) ;; *) exit 2 ;; esac
		[ "$EENMAAL_TEST_ALL" = 1 ] || exit 3
		[ -z "$TEST_SMTP_URL" ] || case $TEST_SMTP_URL-$TEST_INBOX_URL in smtp://127.0.0.1:*-http://127.0.0.1:*) ;; *) exit 4 ;; esac
		exit 7`
	status, err := run([]string{"sh", "-c", script})
	if errors.Is(err, throwaway.ErrNotInstalled) && os.Getenv("EENMAAL_TEST_ALL") == "" {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	if status != 7 || err != nil {
		t.Errorf("status, error = %d, %v; want 7 and none", status, err)
	}
}

func TestMissingCommandIsAnError(t *testing.T) {
	status, err := run([]string{"no-such-command"})
	if status == 0 || err == nil {
		t.Errorf("status, error = %d, %v; want a failure", status, err)
	}
}
