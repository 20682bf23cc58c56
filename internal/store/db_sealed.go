package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vigiahq/vigia/internal/platform/seal"
)

// sealValue seals a text, bytes, or anything else as JSON.
func (c core) sealValue(place seal.Place, value any) ([]byte, error) {
	var plain []byte
	var err error
	switch v := value.(type) {
	case string:
		plain = []byte(v)
	case []byte:
		plain = v
	default:
		plain, err = json.Marshal(v)
	}
	var sealed []byte
	if err == nil {
		sealed, err = c.keys.Seal(place, plain)
	}
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", place.Table, place.Column, err)
	}
	return sealed, nil
}

// sealOptional is sealValue for a column that is NULL where there is no text.
func (c core) sealOptional(place seal.Place, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	return c.sealValue(place, text)
}

// openSealed undoes sealValue: into is a *string, a *[]byte, or what JSON is read into.
func (c core) openSealed(place seal.Place, sealed []byte, into any) error {
	plain, err := c.keys.Unseal(place, sealed)
	if err == nil {
		switch v := into.(type) {
		case *string:
			*v = string(plain)
		case *[]byte:
			*v = plain
		default:
			err = json.Unmarshal(plain, into)
		}
	}
	return wrapError("open "+place.Table+"."+place.Column, err)
}

// unseals returns a target of Scan that opens a sealed column into a value. The place may name columns that stand
// before it in the row. NULL changes nothing.
func (c core) unseals(into any, place func() seal.Place) sql.Scanner {
	return scanFunc(func(sealed []byte) error {
		if sealed == nil {
			return nil
		}
		return c.openSealed(place(), sealed, into)
	})
}

// readSealed runs a query for one sealed value and opens it; missing is returned when there is no row.
func (c core) readSealed(
	ctx context.Context, q querier, place seal.Place, into any, missing error, query string, args ...any,
) error {
	err := readColumns(ctx, q, []any{c.unseals(into, func() seal.Place { return place })}, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}
