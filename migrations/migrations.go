// Package migrations holds the database schema as numbered SQL files, one folder per dialect with the
// same tables and columns in both. store applies them in order; a number is never reused.
package migrations

import "embed"

//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS
