package sqldb

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// A list goes to the database as one argument. The text of the statement does not depend on its length, so that it
// stays prepared. And neither engine's planner knows the length: told of hundreds of values of a partner, it would read
// all that the partner has instead of looking each value up, because its statistics are samples, or of before a bulk
// load.

// NumbersCondition appends numbers to the arguments of a statement and returns the condition that a column is one of
// them: "seq " + e.NumbersCondition(&args, numbers).
func (e Engine) NumbersCondition(args *[]any, numbers []int64) string {
	if e == PostgreSQL {
		return e.listCondition(args, numbers, "value")
	}
	text := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return e.listCondition(args, string(append(text, ']')), "value")
}

// TextsCondition is NumbersCondition for texts.
func (e Engine) TextsCondition(args *[]any, texts []string) string {
	if e == PostgreSQL {
		return e.listCondition(args, texts, "value")
	}
	text, _ := json.Marshal(texts) // of texts it never fails
	return e.listCondition(args, string(text), "value")
}

// BytesCondition is NumbersCondition for values that columns hold as bytes.
func (e Engine) BytesCondition(args *[]any, values []string) string {
	if e == PostgreSQL {
		list := make([][]byte, len(values))
		for i, v := range values {
			list[i] = []byte(v)
		}
		return e.listCondition(args, list, "value")
	}
	var text strings.Builder
	for i, v := range values {
		if i > 0 {
			text.WriteString(`","`)
		}
		text.WriteString(hex.EncodeToString([]byte(v)))
	}
	if len(values) == 0 {
		return e.listCondition(args, "[]", "unhex(value)")
	}
	return e.listCondition(args, `["`+text.String()+`"]`, "unhex(value)")
}

func (e Engine) listCondition(args *[]any, list any, value string) string {
	*args = append(*args, list)
	mark := "$" + strconv.Itoa(len(*args))
	if e == PostgreSQL {
		return "= ANY(" + mark + ")"
	}
	return "IN (SELECT " + value + " FROM json_each(" + mark + "))"
}
