//go:build !linux

package chaos

import (
	"os"
	"os/exec"
)

const supported = false

func dieWithUs(*exec.Cmd)                   { panic("unsupported") }
func asPostgres(*exec.Cmd, string) error    { panic("unsupported") }
func freeze(*os.Process)                    { panic("unsupported") }
func thaw(*os.Process)                      { panic("unsupported") }
func terminate(*os.Process)                 { panic("unsupported") }
func killFamily(*os.Process)                { panic("unsupported") }
func allocate(*os.File, int64, int64) error { panic("unsupported") }
func killed(*os.ProcessState) bool          { panic("unsupported") }
