package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"

	"example.com/eenmaal/domain"
)

// Consumer is a consumer as a caller.
func Consumer(c domain.Consumer) string { return strconv.FormatInt(c.ID, 10) }

// Address is a network address as a caller. Of IPv6 it takes the network, since one line has 2^64
// addresses in it. The name goes to Redis, so it is a hash and not the address.
func Address(text string) string {
	if ip, err := netip.ParseAddr(text); err == nil {
		ip = ip.Unmap().WithZone("")
		if ip.Is6() {
			network, _ := ip.Prefix(64) // no error: an IPv6 address has 128 bits
			ip = network.Addr()
		}
		text = ip.String()
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

type addressKey struct{}

// WithAddress notes in a context from which address a request came.
func WithAddress(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, addressKey{}, text)
}

// AddressOf is the caller that WithAddress noted, empty when there is none.
func AddressOf(ctx context.Context) string {
	text, ok := ctx.Value(addressKey{}).(string)
	if !ok {
		return ""
	}
	return Address(text)
}
