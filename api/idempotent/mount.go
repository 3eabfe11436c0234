package idempotent

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"example.com/eenmaal/domain"
	"example.com/eenmaal/domain/fault"
)

// Handle is the operation as an HTTP handler. consumer gives the authenticated caller; it runs after
// whatever refuses strangers.
func (o *Operation[In, Out]) Handle(consumer func(*gin.Context) domain.Consumer) gin.HandlerFunc {
	return func(c *gin.Context) {
		var in In
		key, err := KeyOf(c.Request.Header)
		if err == nil {
			err = o.accepts(key)
		}
		scope := domain.Scope{Key: key, Consumer: consumer(c).ID, Endpoint: o.number}
		if err != nil {
			o.turnAway(c, scope, consumer(c), err)
			return
		}
		if err = o.read(c, &in); err != nil {
			o.turnAway(c, scope, consumer(c), o.registry.linked(scope, err))
			return
		}
		reply, err := o.Do(c.Request.Context(), consumer(c), key, in)
		if err != nil {
			c.Writer.Header().Set("Idempotency-Status", statusHeader(outcome(reply, err)))
			WriteProblem(c, err)
			return
		}
		Write(c, reply)
	}
}

// turnAway answers a request that never became an attempt: nothing is recorded for its key.
func (o *Operation[In, Out]) turnAway(c *gin.Context, s domain.Scope, consumer domain.Consumer, err error) {
	o.came(c.Request.Context(), s, consumer, Reply{}, err)
	WriteProblem(c, err)
}

// read makes the command of a request: its body and the parameters of its path.
func (o *Operation[In, Out]) read(c *gin.Context, in *In) error {
	if !o.BodyOptional || hasBody(c.Request) {
		if err := readBody(c, o.MaxBody, in); err != nil {
			return err
		}
	}
	o.fields.fromPath(in, c.Param)
	return nil
}

// KeyOf reads the Idempotency-Key of a request. There must be exactly one.
func KeyOf(h http.Header) (domain.Key, error) {
	values := h.Values("Idempotency-Key")
	switch {
	case len(values) > 1:
		return domain.Key{}, domain.Errorf(domain.Malformed, "idempotency_key_ambiguous",
			"The request has %d Idempotency-Key headers; send one.", len(values))
	case len(values) == 1 && values[0] != "":
		return domain.ParseKey(values[0])
	case h.Get("X-Idempotency-Key") != "":
		return domain.Key{}, domain.Errorf(domain.Malformed, "idempotency_key_missing",
			"Send the key as Idempotency-Key; X-Idempotency-Key is not read.")
	default:
		return domain.Key{}, domain.Errorf(domain.Malformed, "idempotency_key_missing",
			"This endpoint needs an Idempotency-Key header: make one key per operation, before the first try, and keep it for every retry.")
	}
}

// hasBody reports whether a request has a body of at least one byte.
func hasBody(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0
	}
	ahead := bufio.NewReaderSize(r.Body, 16) // a body of unknown length must be looked at
	_, err := ahead.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return !errors.Is(err, io.EOF)
}

// readBody reads and decodes a JSON body of at most max bytes.
func readBody(c *gin.Context, max int64, into any) error {
	body, err := ReadBody(c, max)
	if err != nil {
		return err
	}
	return decode(body, into)
}

// ReadBody reads a JSON body of at most max bytes as it came. Its errors are *domain.Error.
func ReadBody(c *gin.Context, max int64) ([]byte, error) {
	kind, params, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || kind != "application/json" || (params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8")) {
		return nil, domain.Errorf(domain.Malformed, "unsupported_media_type", "The Content-Type must be application/json in UTF-8.")
	}
	if encoding := c.GetHeader("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, domain.Errorf(domain.Malformed, "unsupported_media_type", "A compressed body is not accepted.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, max))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, domain.Errorf(domain.TooLarge, "body_too_large", "The body is larger than %d bytes.", max)
	}
	if err != nil {
		return nil, domain.Errorf(domain.Malformed, "body_malformed", "The body did not arrive whole.")
	}
	return body, nil
}

// Write sends a reply: the stored bytes and headers, and fresh ones that tell about this exchange.
// The first answer and every replay go through here.
func Write(c *gin.Context, reply Reply) {
	header := c.Writer.Header()
	for name, values := range reply.Answer.Header {
		header[name] = values
	}
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(reply.Answer.Body)))
	header.Set("Idempotent-Replayed", strconv.FormatBool(reply.Replayed))
	header.Set("Idempotency-Status", statusHeader(outcome(reply, nil)))
	header.Set("Idempotency-Expires", reply.Expires.UTC().Format(http.TimeFormat))
	if reply.Answer.Request != "" {
		header.Set("Idempotency-Original-Request-Id", reply.Answer.Request)
	}
	_ = fault.Point(c.Request.Context(), "before_write") // may cut us off, or hold us up; the answer stands
	c.Status(reply.Answer.Status)
	if _, err := c.Writer.Write(reply.Answer.Body); err != nil {
		_ = c.Error(err) // the client has gone; its retry gets the stored bytes
	}
}
