package outbound

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// notPublic are networks that IsGlobalUnicast and IsPrivate let through and that are nobody's server on
// the internet (IANA's special-purpose registries), or one inside a hosting company.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	ipv6Internet = netip.MustParsePrefix("2000::/3")
	nat64        = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// isPublic reports whether an address is one of the open internet. An IPv4 address in IPv6 clothes
// (mapped, or behind NAT64) is judged by what it stands for; 6to4 and Teredo, which nobody needs any
// more, are not public.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if nat64.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is6() && !ipv6Internet.Contains(ip) {
		return false
	}
	for _, network := range notPublic {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

// mayDial decides about the address that a connection is about to be made to.
func (c *Client) mayDial(to netip.AddrPort) bool {
	if c.demo && to.Addr().Unmap().IsLoopback() {
		return true
	}
	return isPublic(to.Addr()) && (c.demo || to.Port() == 443)
}

const maxURL = 500

// CheckURL says what is wrong with a URL to send to, as an end of the sentence "url ...". It looks at
// the text alone: what a name resolves to is checked whenever a connection is made.
func (c *Client) CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return errors.New("must not be empty")
	case len(text) > maxURL:
		return errors.New("must have at most 500 characters")
	case err != nil || u.Opaque != "" || !isHost(u.Hostname()):
		return errors.New("must be an address such as https://example.nl/webhooks")
	case u.User != nil:
		return errors.New("must not hold a user name or password")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return errors.New("must not have a fragment")
	case c.demo && isLoopback(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https"):
		return nil
	case u.Scheme != "https":
		return errors.New("must start with https://")
	case !c.demo && u.Port() != "" && u.Port() != "443":
		return errors.New("must use port 443")
	case isLoopback(u.Hostname()) || !mayBePublic(u.Hostname()):
		return errors.New("must be on the public internet")
	}
	return nil
}

func isHost(host string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:"
	return host != "" && len(host) <= 253 && strings.Trim(host, allowed) == "" && !strings.HasPrefix(host, ".")
}

func isLoopback(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// mayBePublic refuses addresses that are not public, and hosts that some resolvers read as an address
// though they are not written as one (2130706433, 0177.0.0.1, 0x7f.1).
func mayBePublic(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPublic(ip)
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	return len(labels) > 1 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}
