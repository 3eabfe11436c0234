package simulated

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// readReturnBase reads ServerConfig.ReturnBase. nil means that any shop may be returned to.
func readReturnBase(base string) (*url.URL, error) {
	if base == "" {
		return nil, nil
	}
	u, ok := webAddress(base)
	if !ok {
		return nil, errors.New("it is not an http address")
	}
	return u, nil
}

// mayReturnTo reports whether a customer may be sent to the address. It compares what a browser would
// make of it, and not letters: http://shop.example.evil begins as http://shop.example does. Without
// an address the customer stays.
func (s *Server) mayReturnTo(address string) bool {
	if address == "" {
		return true
	}
	u, ok := webAddress(address)
	if !ok {
		return false
	}
	base := s.returnBase
	return base == nil || u.Scheme == base.Scheme && u.Host == base.Host && within(base.Path, u.Path)
}

func webAddress(address string) (u *url.URL, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsRune(address, '\\') {
		return nil, false
	}
	return u, u.Scheme == "http" || u.Scheme == "https"
}

func within(base, p string) bool {
	folder := strings.TrimRight(path.Clean("/"+base), "/") + "/"
	return strings.HasPrefix(path.Clean("/"+p)+"/", folder)
}
