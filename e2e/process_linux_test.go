package e2e

import (
	"os/exec"
	"syscall"
)

// dieWithUs lets the kernel end a process when the tests are killed.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
