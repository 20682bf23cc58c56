package store

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/partner"
)

// TestGrantsCoverEveryField: whatever stands in a row that grants power is under its keyed hash, also what is added one
// day.
func TestGrantsCoverEveryField(t *testing.T) {
	coverEveryField(t, partnerGrant)
	coverEveryField(t, keyGrant)
	coverEveryField(t, operatorGrant)
	coverEveryField(t, sessionGrant)
}

func coverEveryField[T any](t *testing.T, covered func(T) *grant) {
	t.Helper()
	var zero T
	before := bytes.Join(covered(zero).parts, []byte{0})
	var change func(v reflect.Value, name string)
	value := reflect.New(reflect.TypeFor[T]()).Elem()
	change = func(v reflect.Value, name string) {
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
			for i := range v.NumField() {
				if f := v.Type().Field(i).Name; f != "Forged" { // says what came of looking
					change(v.Field(i), name+"."+f)
				}
			}
			return
		}
		defer v.SetZero()
		switch v.Interface().(type) {
		case time.Time:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		case []byte:
			v.SetBytes([]byte{1})
		case [][]byte:
			v.Set(reflect.ValueOf([][]byte{{1}}))
		case []partner.Scope:
			v.Set(reflect.ValueOf([]partner.Scope{partner.ScopeCyber}))
		default:
			switch v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			case reflect.String:
				v.SetString("x")
			case reflect.Int, reflect.Int64:
				v.SetInt(1)
			default:
				t.Fatalf("%s: teach this test about a %s", name, v.Type())
			}
		}
		if bytes.Equal(bytes.Join(covered(value.Interface().(T)).parts, []byte{0}), before) {
			t.Errorf("%s is not under the keyed hash of its row: a writer to the database may change it", name)
		}
	}
	change(value, reflect.TypeFor[T]().String())
}
