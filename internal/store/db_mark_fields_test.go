package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/vigiahq/vigia/internal/dump/feed"
	"github.com/vigiahq/vigia/internal/notify/message"
	"github.com/vigiahq/vigia/internal/plan"
)

// TestGrantsCoverEveryField: whatever stands in a row that grants power is under its keyed hash, also what is added one
// day.
func TestGrantsCoverEveryField(t *testing.T) {
	coverEveryField(t, partnerGrant)
	coverEveryField(t, apiKeyGrant)
	coverEveryField(t, operatorGrant)
	coverEveryField(t, sessionGrant)
	coverEveryField(
		t,
		func(m message.Template) *grant { return templateGrant("", m) },
		"Origin",
	) // whose text it is, not kept
	coverEveryField(t, func(p plan.Plan) *grant {
		coverage, err := p.Coverage.MarshalCoverage()
		if err != nil {
			t.Fatal(err)
		}
		return coverageGrant(p, string(coverage))
	})
	coverEveryField(t, serviceGrant)
	coverEveryField(t, questionGrant)
	coverEveryField(t, breachGrant, "Basis", "Content") // not kept with the breach; checked where the file is read
	coverEveryField(t, func(f feed.Feed) *grant {
		settings, err := json.Marshal(f.Settings)
		if err != nil {
			t.Fatal(err)
		}
		return feedSettingsGrant(f, string(settings))
	}, "Target", "Secret", "State", "Failures", "Error", "NextAt", "LastAt") // sealed; where it stands
	coverEveryField(t, sharedGrant)
	coverEveryField(t, endpointGrant, "URL", "Keys", "FailingSince", "ChangedAt") // sealed; where it stands
}

// coverEveryField changes one field after the other and expects another MAC, but for those that are named.
func coverEveryField[T any](t *testing.T, covered func(T) *grant, but ...string) {
	t.Helper()
	var zero T
	before := bytes.Join(covered(zero).parts, []byte{0})
	var change func(v reflect.Value, name string)
	value := reflect.New(reflect.TypeFor[T]()).Elem()
	change = func(v reflect.Value, name string) {
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
			for i := range v.NumField() {
				f := v.Type().Field(i).Name
				if f != "Forged" && !slices.Contains(but, f) { // Forged says what came of looking
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
		case []plan.SubLimit:
			v.Set(reflect.ValueOf([]plan.SubLimit{{Name: "x"}}))
		default:
			switch v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			case reflect.String:
				v.SetString("x")
			case reflect.Slice: // of texts
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				v.Index(0).SetString("x")
			case reflect.Int, reflect.Int64:
				v.SetInt(1)
			case reflect.Uint8, reflect.Uint64:
				v.SetUint(1)
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
