package main

import (
	"math/bits"
	"time"
)

// histogram counts times in buckets that are 1/32 of their value wide, from a microsecond to an hour.
type histogram [32 * 34]uint32

func (h *histogram) add(d time.Duration) { h[bucket(uint64(max(d.Microseconds(), 0)))]++ }

// bucket counts exactly below 32, and then 32 steps to each doubling.
func bucket(us uint64) int {
	if us < 32 {
		return int(us)
	}
	shift := bits.Len64(us) - 6
	return min(32*(shift+1)+int(us>>shift)-32, len(histogram{})-1)
}

// middle is a time in the middle of a bucket.
func middle(i int) time.Duration {
	if i < 32 {
		return time.Duration(i) * time.Microsecond
	}
	shift := i/32 - 1
	us := (uint64(i%32)+32)<<shift + uint64(1)<<shift/2
	return time.Duration(us) * time.Microsecond
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// at gives the time below which a fraction q of all times lies.
func (h *histogram) at(q float64) time.Duration {
	var total, seen float64
	for _, n := range h {
		total += float64(n)
	}
	for i, n := range h {
		if seen += float64(n); n > 0 && seen >= q*total {
			return middle(i)
		}
	}
	return 0
}
