//go:build !linux

package chaos

import (
	"os"
	"os/exec"
)

const supported = false

func dieWithUs(*exec.Cmd)                { panic("unsupported") }
func asPostgres(*exec.Cmd, string) error { panic("unsupported") }
func freeze(int)                         { panic("unsupported") }
func thaw(int)                           { panic("unsupported") }
func terminate(int)                      { panic("unsupported") }
func killFamily(int)                     { panic("unsupported") }
func killed(*os.ProcessState) bool       { panic("unsupported") }
