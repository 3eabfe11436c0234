package domain

// Cursor says which part of a long list is wanted: what comes after Before, towards the older end, or
// before After, towards the newer one. The zero Cursor asks for the newest.
type Cursor struct{ Before, After string }

// Part is one page of a long list, newest first. Older and Newer are the cursors of the pages beside it,
// empty where the list ends.
type Part[T any] struct {
	Items        []T
	Older, Newer string
}
