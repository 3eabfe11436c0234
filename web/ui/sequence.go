package ui

import (
	"strings"
	"time"

	"example.com/eenmaal/domain"
)

// Lane is one of the three who talk with each other in a sequence.
type Lane string

const (
	LaneClient   Lane = "client"
	LaneShop     Lane = "shop"
	LaneProvider Lane = "provider"
)

// SequenceEvent is one line of a sequence, ready to be shown.
type SequenceEvent struct {
	At       time.Time
	From, To Lane
	Tone     Tone
	Kind     string
	Text     Text
	Code     string // what the sentence is about, in the program's words
	Where    Text   // the same, in words of the language
	Endpoint string
	Request  string // the part of its id that tells it from others
	Process  string
	Attempt  int64
	Times    int64
}

// Replay is the tone of what happened before.
const Replay Tone = "replay"

type lineOf struct {
	from, to Lane
	tone     Tone
	text     Text
}

// linesOf say how each kind of event is told.
var linesOf = map[domain.KeyEventKind]lineOf{
	domain.KeyClaimed:    {LaneClient, LaneShop, Info, TEvClaimed},
	domain.KeyStepped:    {LaneShop, LaneShop, Info, TEvStepped},
	domain.KeyCalling:    {LaneShop, LaneProvider, Info, TEvCalling},
	domain.KeyCalled:     {LaneProvider, LaneShop, OK, TEvCalled},
	domain.KeyFinished:   {LaneShop, LaneClient, OK, TEvFinished},
	domain.KeyStopped:    {LaneShop, LaneShop, Warn, TEvStopped},
	domain.KeyTakenOver:  {LaneClient, LaneShop, Info, TEvTakenOver},
	domain.KeyResumed:    {LaneShop, LaneShop, Info, TEvResumed},
	domain.KeyWaits:      {LaneClient, LaneShop, Replay, TEvWaits},
	domain.KeyWaited:     {LaneShop, LaneClient, Replay, TEvWaited},
	domain.KeyReplayed:   {LaneShop, LaneClient, Replay, TEvReplayed},
	domain.KeyInProgress: {LaneShop, LaneClient, Warn, TEvInProgress},
	domain.KeyMismatched: {LaneShop, LaneClient, Danger, TEvMismatch},
	domain.KeyHeard:      {LaneProvider, LaneShop, Info, TEvHeard},
}

// Sequence makes the lines of a journal. What is done in one transaction has one line, its end, which
// then tells of the request as well.
func Sequence(events []domain.KeyEvent) []SequenceEvent {
	var list []SequenceEvent
	begun := map[domain.Scope]bool{}
	for _, e := range events {
		line := sequenceEvent(e)
		if e.Kind == domain.KeyFinished && !begun[e.Scope] {
			line.Text = TEvOnce
		}
		begun[e.Scope] = true
		list = append(list, line)
	}
	return list
}

func sequenceEvent(e domain.KeyEvent) SequenceEvent {
	line, known := linesOf[e.Kind]
	if !known {
		line = lineOf{LaneShop, LaneClient, Warn, TEvTurnedAway}
	}
	s := SequenceEvent{At: e.At, From: line.from, To: line.to, Tone: line.tone, Kind: string(e.Kind), Text: line.text,
		Code: strings.TrimSpace(e.Step + " " + e.Detail), Endpoint: e.Endpoint, Request: shortRequest(e.Request), Process: e.Process,
		Attempt: e.Attempt, Times: e.Times}
	switch e.Kind {
	case domain.KeyReplayed:
		s.Code, s.Where = "", map[string]Text{"memory": TInMemory, "redis": TInRedis, "database": TInDatabase}[e.Detail]
	case domain.KeyCalled:
		if e.Detail == "ok" { // an answer came. That may be a no, of which the next line tells
			s.Code = e.Step
		} else {
			s.Tone, s.Text = Warn, TEvNotCalled
		}
	case domain.KeyWaited, domain.KeyInProgress, domain.KeyMismatched:
		s.Code = ""
	case domain.KeyFinished:
		if strings.HasPrefix(e.Detail, "4") {
			s.Tone = Warn
		}
	}
	return s
}

// shortRequest is the end of a request's id: ids of one moment begin alike.
func shortRequest(id string) string { return id[max(0, len(id)-6):] }

// place is the class that puts a line into its lanes.
func (e SequenceEvent) place() string {
	switch {
	case e.From == e.To:
		return "seq-shop"
	case e.From == LaneClient || e.To == LaneClient:
		return "seq-client"
	default:
		return "seq-provider"
	}
}

// arrow points from left to right or back, as the lanes lie.
func (e SequenceEvent) arrow() string {
	switch {
	case e.From == e.To:
		return "•"
	case e.From == LaneClient || e.To == LaneProvider:
		return "→"
	default:
		return "←"
	}
}

// Clock writes a time of the day to the millisecond, as it is on the clocks of Amsterdam.
func Clock(t time.Time) string { return t.In(amsterdam).Format("15:04:05.000") }

// laneName is what a lane is called; client names the one who asks.
func laneName(l Lane, client Text) Text {
	switch l {
	case LaneShop:
		return TLaneShop
	case LaneProvider:
		return TLaneProvider
	default:
		return client
	}
}
