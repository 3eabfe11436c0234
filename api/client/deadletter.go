package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DeadLetters keeps the calls that the client must not go on retrying, for a person or a job to look
// at. These are
//
//   - calls whose outcome is unknown at the end of the budget,
//   - 409 without Retry-After (the key was used for another request) and 410 (the key is too old),
//   - 401 and 403 (wrong credentials),
//   - 400 and every other refusal that says that the program, not its user, made a mistake.
//
// 402, 404 and 422 are answers for the user, and no dead letters; nor is any GET.
type DeadLetters interface {
	// Put keeps one letter. It is called after the budget, with a little time of its own; the call
	// waits for it. When it fails, the call's error says so as well.
	Put(ctx context.Context, letter DeadLetter) error
}

// DeadLetter is a call that is retried no more, and why. Body is what the caller sent, personal data
// included.
type DeadLetter struct {
	Key    Key             `json:"key"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Reason Reason          `json:"reason"`
	Status int             `json:"status,omitzero"` // of the last answer, if there was one
	Code   string          `json:"code,omitzero"`
	At     time.Time       `json:"at"`
}

// Reason is why a call became a dead letter.
type Reason string

const (
	ReasonUnknown Reason = "outcome_unknown"
	ReasonRefused Reason = "refused"
)

// Call is the letter as a call: the same key and body. It is right to send after what was wrong has
// been repaired, and as long as the API remembers the key.
func (l DeadLetter) Call() Call {
	call := Call{Method: l.Method, Path: l.Path, Key: l.Key}
	if len(l.Body) > 0 {
		call.Body = l.Body
	}
	return call
}

// letterTime is what a letter may take, also when the caller has gone.
const letterTime = 5 * time.Second

// bury keeps the letter and gives cause back.
func (c *Client) bury(ctx context.Context, out *outgoing, letter DeadLetter, cause error) error {
	c.log.ErrorContext(ctx, "retried no more", "endpoint", out.endpoint(), "key", out.key, "attempts", out.attempts,
		"reason", letter.Reason, "status", letter.Status, "code", letter.Code)
	if c.letters == nil {
		return cause
	}
	letter.Key, letter.Method, letter.Path, letter.Body, letter.At = out.key, out.method, out.path, out.body, time.Now().UTC()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letterTime)
	defer cancel()
	if err := c.letters.Put(ctx, letter); err != nil {
		return errors.Join(cause, fmt.Errorf("dead letter not kept: %w", err))
	}
	return cause
}

// DeadLetterFile is a file of dead letters, one JSON object a line. A letter that Put has taken is on
// the disk.
//
// The letters hold the bodies of the calls: names, addresses, messages. Treat the file as such data
// must be treated: only its owner may read it, and a letter that was dealt with is deleted.
type DeadLetterFile struct {
	mu   sync.Mutex
	file *os.File
	torn bool // the last line was not written whole
}

// OpenDeadLetterFile opens the file to append to it, and makes it when it is not there.
func OpenDeadLetterFile(path string) (*DeadLetterFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	torn, err := endsTorn(file)
	if err == nil {
		err = syncFolder(filepath.Dir(path)) // a new file is only there once its folder says so
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &DeadLetterFile{file: file, torn: torn}, nil
}

func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return last[0] != '\n', nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Put appends one letter.
func (f *DeadLetterFile) Put(_ context.Context, letter DeadLetter) error {
	line, err := json.Marshal(letter)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.torn {
		line = append([]byte("\n"), line...)
	}
	_, err = f.file.Write(append(line, '\n'))
	f.torn = err != nil
	return errors.Join(err, f.file.Sync())
}

// Close closes the file.
func (f *DeadLetterFile) Close() error { return f.file.Close() }
