package throwaway

import "syscall"

// dieWithParent does nothing: macOS has no such promise, so a killed test
// leaves its server running there.
func dieWithParent(*syscall.SysProcAttr) {}
