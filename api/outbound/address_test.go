package outbound

import (
	"net/netip"
	"testing"
)

// TestOnlyPublicAddressesAreDialled covers S30 and F26: one row per class of address.
func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	t.Parallel()
	strict, demo := New(Config{}), New(Config{Demo: true})
	for _, c := range []struct {
		address      string
		strict, demo bool
	}{
		{"93.184.215.14:443", true, true},
		{"[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443", true, true},
		{"[::ffff:93.184.215.14]:443", true, true},
		{"[64:ff9b::5db8:d70e]:443", true, true}, // the first, behind NAT64
		{"93.184.215.14:80", false, true},
		{"93.184.215.14:8443", false, true},
		{"93.184.215.14:22", false, true},

		{"127.0.0.1:443", false, true},
		{"127.8.8.8:9999", false, true},
		{"[::1]:443", false, true},
		{"[::ffff:127.0.0.1]:443", false, true},

		{"0.0.0.0:443", false, false},
		{"0.1.2.3:443", false, false},
		{"[::]:443", false, false},
		{"[::ffff:0.0.0.0]:443", false, false},
		{"10.0.0.1:443", false, false},
		{"172.16.0.1:443", false, false},
		{"172.31.255.255:443", false, false},
		{"192.168.1.1:443", false, false},
		{"[::ffff:10.0.0.1]:443", false, false},
		{"[::ffff:192.168.1.1]:443", false, false},
		{"169.254.169.254:443", false, false},
		{"[::ffff:169.254.169.254]:443", false, false},
		{"100.64.0.1:443", false, false},
		{"100.100.100.200:443", false, false},
		{"100.127.255.255:443", false, false},
		{"168.63.129.16:443", false, false},
		{"192.0.0.170:443", false, false},
		{"192.0.2.1:443", false, false},
		{"192.88.99.1:443", false, false},
		{"198.18.0.1:443", false, false},
		{"198.51.100.1:443", false, false},
		{"203.0.113.1:443", false, false},
		{"224.0.0.1:443", false, false},
		{"239.255.255.250:443", false, false},
		{"240.0.0.1:443", false, false},
		{"255.255.255.255:443", false, false},
		{"[fe80::1]:443", false, false},
		{"[fe80::1%eth0]:443", false, false},
		{"[2606:2800:21f:cb07:6820:80da:af6b:8b2c%eth0]:443", false, false},
		{"[fec0::1]:443", false, false},
		{"[fc00::1]:443", false, false},
		{"[fd00:ec2::254]:443", false, false},
		{"[ff02::1]:443", false, false},
		{"[::7f00:1]:443", false, false}, // IPv4-compatible
		{"[64:ff9b::7f00:1]:443", false, false},
		{"[64:ff9b::a9fe:a9fe]:443", false, false},
		{"[64:ff9b::a00:1]:443", false, false},
		{"[64:ff9b:1::a00:1]:443", false, false},
		{"[2002:7f00:1::]:443", false, false},
		{"[2002:a00:1::1]:443", false, false},
		{"[2001::1]:443", false, false}, // Teredo
		{"[2001:db8::1]:443", false, false},
		{"[3fff::1]:443", false, false},
		{"[100::1]:443", false, false},
		{"[5f00::1]:443", false, false},
	} {
		to := netip.MustParseAddrPort(c.address)
		if got := strict.mayDial(to); got != c.strict {
			t.Errorf("%s: %v, want %v", c.address, got, c.strict)
		}
		if got := demo.mayDial(to); got != c.demo {
			t.Errorf("%s in demo mode: %v, want %v", c.address, got, c.demo)
		}
	}
}

// TestAURLIsCheckedBeforeItIsKept covers S30: the forms in which a URL hides where it leads.
func TestAURLIsCheckedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	strict, demo := New(Config{}), New(Config{Demo: true})
	for _, c := range []struct {
		url          string
		strict, demo bool
	}{
		{"https://example.nl/webhooks", true, true},
		{"https://example.nl", true, true},
		{"https://EXAMPLE.nl:443/webhooks?token=a%20b", true, true},
		{"https://xn--bcher-kva.example/", true, true},
		{"https://93.184.215.14/", true, true},
		{"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", true, true},
		{"https://example.nl:8443/", false, true},
		{"http://localhost:9000/hook", false, true},
		{"http://hooks.localhost:9000/hook", false, true},
		{"http://127.0.0.1:9000/hook", false, true},
		{"https://127.0.0.1/hook", false, true},
		{"http://[::1]:9000/hook", false, true},
		{"https://[::ffff:127.0.0.1]/", false, true},

		{"", false, false},
		{"example.nl/webhooks", false, false},
		{"//example.nl/webhooks", false, false},
		{"https:example.nl", false, false},
		{"https:///webhooks", false, false},
		{"http://example.nl/", false, false},
		{"ftp://example.nl/", false, false},
		{"file:///etc/passwd", false, false},
		{"gopher://127.0.0.1/", false, false},
		{"https://user@example.nl/", false, false},
		{"https://user:password@example.nl/", false, false},
		{"https://example.nl@127.0.0.1/", false, false},
		{"https://example.nl#@127.0.0.1/", false, false},
		{"https://example.nl/#", false, false},
		{"https://example.nl\\@127.0.0.1/", false, false},
		{"https://exa mple.nl/", false, false},
		{"https://example.nl\n/", false, false},
		{"https://b\u00fccher.example/", false, false},
		{"https://intranet/", false, false},
		{"https://.nl/", false, false},
		{"https://10.0.0.1/", false, false},
		{"https://169.254.169.254/latest/meta-data/", false, false},
		{"https://[fd00:ec2::254]/", false, false},
		{"https://[fe80::1%25eth0]/", false, false},
		{"https://2130706433/", false, false},
		{"https://0x7f000001/", false, false},
		{"https://0x7f.1/", false, false},
		{"https://0177.0.0.1/", false, false},
		{"https://127.1/", false, false},
		{"https://10.1./", false, false},
		{"https://0/", false, false},
	} {
		if err := strict.CheckURL(c.url); (err == nil) != c.strict {
			t.Errorf("%q: %v", c.url, err)
		}
		if err := demo.CheckURL(c.url); (err == nil) != c.demo {
			t.Errorf("%q in demo mode: %v", c.url, err)
		}
	}
}
