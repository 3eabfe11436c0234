package site

// Route is one route that changes something, and why calling it twice is safe.
type Route struct{ Method, Pattern, Why string }
