package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ, which is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf adds up the user and system time of processes, dead and buried children included. Where there
// is no /proc it is zero, and the report leaves the column empty.
func cpuOf(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // ended: its parent has its time
		}
		// Fields are counted after the name, which may hold spaces: utime, stime, cutime, cstime.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, field := range fields[11:15] {
			n, _ := strconv.Atoi(field)
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// residentOf is the memory a process holds, in MiB; zero where it cannot be read.
func residentOf(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(value)[0])
			return float64(kib) / 1024
		}
	}
	return 0
}
