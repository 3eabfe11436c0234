package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"example.com/eenmaal/domain"
)

// StartStaffSession keeps a sign-in under the hash of its token, ends the session of the token before it,
// if there is one, and forgets those that are over.
func (db *DB) StartStaffSession(ctx context.Context, token, before string, s domain.StaffSession) error {
	tx := db.Begin()
	tx.queue(`DELETE FROM staff_sessions WHERE token_hash = ? OR expires_at <= ?`, hashOf(before), db.Now())
	tx.queue(`INSERT INTO staff_sessions (token_hash, staff, created_at, seen_at, expires_at) VALUES (?, ?, ?, ?, ?)`,
		hashOf(token), s.Staff, s.CreatedAt, s.SeenAt, s.ExpiresAt)
	return tx.Commit(ctx)
}

// StaffSession finds the session of a token. ok is false when there is none, or it is over.
func (db *DB) StaffSession(ctx context.Context, token string) (s domain.StaffSession, ok bool, err error) {
	err = db.sql.QueryRowContext(ctx, db.dialect.placeholders(selectStaffSession), hashOf(token), db.Now()).
		Scan(&s.Staff, &s.CreatedAt, &s.SeenAt, &s.ExpiresAt)
	if errors.Is(err, sql.ErrNoRows) {
		return domain.StaffSession{}, false, nil
	}
	s.CreatedAt, s.SeenAt, s.ExpiresAt = s.CreatedAt.UTC(), s.SeenAt.UTC(), s.ExpiresAt.UTC()
	return s, err == nil, err
}

const selectStaffSession = `SELECT staff, created_at, seen_at, expires_at FROM staff_sessions WHERE token_hash = ? AND expires_at > ?`

// SeeStaffSession notes that a session was used.
func (db *DB) SeeStaffSession(ctx context.Context, token string) error {
	tx := db.Begin()
	tx.queue(`UPDATE staff_sessions SET seen_at = ? WHERE token_hash = ?`, db.Now(), hashOf(token))
	return tx.Commit(ctx)
}

// EndStaffSession ends a session, for whoever holds its token.
func (db *DB) EndStaffSession(ctx context.Context, token string) error {
	tx := db.Begin()
	tx.queue(`DELETE FROM staff_sessions WHERE token_hash = ?`, hashOf(token))
	return tx.Commit(ctx)
}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// SignInTries gives the times of a subject's last sign-ins that have not succeeded since then, newest
// first and at most so many.
func (db *DB) SignInTries(ctx context.Context, subject string, since time.Time, limit int) ([]time.Time, error) {
	var tries []time.Time
	err := db.gorm.WithContext(ctx).Table("sign_in_tries").Where("subject = ? AND tried_at > ?", subject, since).
		Order("tried_at DESC").Limit(limit).Pluck("tried_at", &tries).Error
	for i, t := range tries {
		tries[i] = t.UTC()
	}
	return tries, err
}

// NoteSignInTry keeps a sign-in that is about to be decided on, for each of its subjects, and forgets
// those from before the given time.
func (db *DB) NoteSignInTry(ctx context.Context, subjects []string, forget time.Time) error {
	tx := db.Begin()
	tx.queue(`DELETE FROM sign_in_tries WHERE tried_at <= ?`, forget)
	for _, subject := range subjects {
		tx.queue(`INSERT INTO sign_in_tries (id, subject, tried_at) VALUES (?, ?, ?)`, uuid.Must(uuid.NewV7()).String(), subject, tx.Now())
	}
	return tx.Commit(ctx)
}

// ForgetSignInTries forgets the tries of subjects that have signed in.
func (db *DB) ForgetSignInTries(ctx context.Context, subjects []string) error {
	tx := db.Begin()
	for _, subject := range subjects {
		tx.queue(`DELETE FROM sign_in_tries WHERE subject = ?`, subject)
	}
	return tx.Commit(ctx)
}

// NoteStaffAction keeps who asked for something. Asking again with the same key changes nothing: the
// first one to ask is the one who did it. again reports that it was kept before.
func (db *DB) NoteStaffAction(ctx context.Context, a domain.StaffAction) (again bool, err error) {
	var kept int64
	tx := db.Begin()
	tx.queue(`INSERT INTO staff_actions (id, staff, action, about, key, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key, action) DO NOTHING`,
		uuid.Must(uuid.NewV7()).String(), a.Staff, a.Action, a.About, a.Key.String(), tx.Now()).counting(&kept)
	err = tx.Commit(ctx)
	return err == nil && kept == 0, err
}

// StaffActions reads what the staff has asked for about one thing, oldest first.
func (db *DB) StaffActions(ctx context.Context, about string) ([]domain.StaffAction, error) {
	var rows []struct {
		Staff, Action, About, Key string
		At                        time.Time
	}
	err := db.gorm.WithContext(ctx).Table("staff_actions").Where("about = ?", about).Order("id").Limit(200).Find(&rows).Error
	list := make([]domain.StaffAction, len(rows))
	for i, r := range rows {
		key, _ := domain.ParseKey(r.Key) // written by NoteStaffAction
		list[i] = domain.StaffAction{Staff: r.Staff, Action: r.Action, About: r.About, Key: key, At: r.At.UTC()}
	}
	return list, err
}
