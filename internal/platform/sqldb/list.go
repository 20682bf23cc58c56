package sqldb

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// A list goes to the database as one argument. The text of the statement does not depend on its length, so that it
// stays prepared. And neither engine's planner knows the length: told of hundreds of values of a partner, it would read
// all that the partner has instead of looking each value up, because its statistics are samples, or of before a bulk
// load.

// NumbersCondition appends numbers to the arguments of a statement and returns the condition that a column is one of
// them: "seq " + e.NumbersCondition(&args, numbers).
func (e Engine) NumbersCondition(args *[]any, numbers []int64) string {
	if e == PostgreSQL {
		return anyCondition(args, numbers)
	}
	return jsonCondition(args, numbers, "value")
}

// TextsCondition is NumbersCondition for texts.
func (e Engine) TextsCondition(args *[]any, texts []string) string {
	if e == PostgreSQL {
		return anyCondition(args, texts)
	}
	return jsonCondition(args, texts, "value")
}

// BytesCondition is NumbersCondition for values that columns hold as bytes.
func (e Engine) BytesCondition(args *[]any, values []string) string {
	if e == PostgreSQL {
		list := make([][]byte, len(values))
		for i, v := range values {
			list[i] = []byte(v)
		}
		return anyCondition(args, list)
	}
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = hex.EncodeToString([]byte(v))
	}
	return jsonCondition(args, list, "unhex(value)")
}

// anyCondition is the condition on PostgreSQL, which has lists.
func anyCondition[T any](args *[]any, list []T) string {
	*args = append(*args, list)
	return "= ANY($" + strconv.Itoa(len(*args)) + ")"
}

// jsonCondition is the condition on SQLite, which takes a list as JSON; value is what an element of it stands for.
func jsonCondition[T int64 | string](args *[]any, list []T, value string) string {
	text, _ := json.Marshal(list) // of numbers and texts it never fails
	*args = append(*args, string(text))
	return "IN (SELECT " + value + " FROM json_each($" + strconv.Itoa(len(*args)) + "))"
}
