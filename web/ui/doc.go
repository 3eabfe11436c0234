// Package ui holds what all pages share: the layout, its components, the pictures, the style sheet and
// script, and every sentence of the shop in English and Dutch.
//
// A component receives finished values. It reads no request and knows no rule of the shop.
package ui

//go:generate go tool templ generate
