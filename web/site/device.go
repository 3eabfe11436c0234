package site

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Ordered is the cookie with the checkouts that ordered in this browser.
const Ordered = "ordered"

// maxOrders is how many orders a browser remembers.
const maxOrders = 10

// DeviceOrders gives the ids of the orders that were placed or looked up in this browser, the latest
// first. The cookie holds nothing but these ids, and nobody can add one to it unseen.
func (s *Site) DeviceOrders(c *gin.Context) []string {
	text, _ := s.SignedCookie(c, "orders")
	return strings.Fields(text)
}

// ForgetOrders empties that list, and forgets by which checkouts they were made. The orders themselves
// stay, and are found by their numbers.
func (s *Site) ForgetOrders(c *gin.Context) {
	s.SetSignedCookie(c, "orders", "", 0)
	s.SetSignedCookie(c, Ordered, "", 0)
}

// NoteOrder remembers an order in the visitor's browser. Noting one twice is noting it once.
func (s *Site) NoteOrder(c *gin.Context, id string) {
	known := s.DeviceOrders(c)
	if len(known) > 0 && known[0] == id {
		return
	}
	s.SetSignedCookie(c, "orders", strings.Join(LatestFirst(known, id, maxOrders), " "), month)
}

// LatestFirst puts an id before those that are known, each of them once and at most so many.
func LatestFirst(known []string, id string, most int) []string {
	all := append([]string{id}, slices.DeleteFunc(known, func(other string) bool { return other == id })...)
	return all[:min(len(all), most)]
}
