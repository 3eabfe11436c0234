package api

import "example.com/eenmaal/store"

func (a *API) emit(*store.Tx, int64, string, string, any) {}
