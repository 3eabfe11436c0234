//go:build !linux && !darwin

package throwaway

import (
	"errors"
	"syscall"
)

// These stand-ins let the module compile everywhere; no server starts.

const (
	sigInt  = syscall.SIGINT
	sigTerm = syscall.SIGTERM
	sigStop = syscall.SIGTERM
	sigCont = syscall.SIGTERM
)

type account struct{}

func unprivileged() (*account, error) { return nil, nil }

func attributes(*account) *syscall.SysProcAttr { return nil }

func signal(int, syscall.Signal) {}

func alive(int) bool { return false }

func descendants(int) []int { return nil }

func newFolder(string, string, *account) (string, func(), error) {
	return "", nil, errors.New("throwaway servers need Linux or macOS")
}
