package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
)

// ErrNoList is in the tree of an error for a server that answers and does not list its models.
var ErrNoList = errors.New("the server does not list its models")

// listing is what a list of models, and an error in its place, has in both APIs
// (https://platform.claude.com/docs/en/api/models/list, https://platform.openai.com/docs/api-reference/models/list).
type listing struct {
	Data    []listed `json:"data"`
	HasMore bool     `json:"has_more"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

type listed struct {
	ID string `json:"id"`
}

// Listed asks a provider for its models at their address, which spends nothing, and says whether name is one of them. A list
// with more pages than the first says nothing about a name that is not on it. Errors are those of Conversation.Say, or ErrNoList.
func (w Wire) Listed(ctx context.Context, provider, name, url string, header http.Header) (known, whole bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false, false, err
	}
	req.Header = header.Clone()
	var list listing
	_, x, err := Again(ctx, Turn{}, nil, func(ctx context.Context) (Reply, error) {
		res, err := w.Client().Do(req.WithContext(ctx))
		if err != nil {
			return Reply{}, err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err == nil && json.Unmarshal(body, &list) != nil && res.StatusCode == http.StatusOK {
			err = ErrNoList
		}
		return Reply{}, err
	})
	switch {
	case x.Status == http.StatusNotFound || errors.Is(err, ErrNoList):
		return false, false, ErrNoList
	case err != nil || x.Status != http.StatusOK:
		if err == nil {
			err = errors.New(http.StatusText(x.Status))
		}
		return false, false, Failed(ctx, provider, name, x, list.Error.Message, err)
	}
	return slices.Contains(list.Data, listed{name}), !list.HasMore, nil
}
