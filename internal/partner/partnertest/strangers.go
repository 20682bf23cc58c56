// Package partnertest is for tests of the types that confine a partner's own people to their partner.
//
// It walks all of their methods, so that a method that is added, or renamed, is tested without anybody thinking of it.
package partnertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/vigiahq/vigia/internal/partner"
)

// RefuseStrangers calls every exported method of a wrapper with another partner's id, wherever a partner is named, and
// zero values else. Each must return an error and neither panic, as the nil store behind it does when it is reached,
// nor call a function that it is given. open are methods that show or change nothing of a partner.
func RefuseStrangers(t *testing.T, wrapper any, stranger partner.ID, open ...string) {
	t.Helper()
	value := reflect.ValueOf(wrapper)
	if value.NumMethod() == 0 {
		t.Fatal("there is no method")
	}
	for i := range value.NumMethod() {
		name := value.Type().Method(i).Name
		if slices.Contains(open, name) {
			continue
		}
		if err := tryStranger(t, value.Method(i), stranger); err != nil {
			t.Errorf("%T.%s with another partner's id: %v", wrapper, name, err)
		}
	}
}

// tryStranger calls one method. It returns why that is no refusal.
func tryStranger(t *testing.T, method reflect.Value, stranger partner.ID) (problem error) {
	t.Helper()
	defer func() {
		if reached := recover(); reached != nil {
			problem = fmt.Errorf("it reached the store: %v", reached)
		}
	}()
	kind := method.Type()
	args := make([]reflect.Value, 0, kind.NumIn())
	for i := range kind.NumIn() {
		if kind.IsVariadic() && i == kind.NumIn()-1 {
			break
		}
		args = append(args, strangersValue(t, kind.In(i), stranger))
	}
	results := method.Call(args)
	if len(results) == 0 {
		return errors.New("it cannot refuse")
	}
	if err, isError := results[len(results)-1].Interface().(error); !isError || err == nil {
		return fmt.Errorf("no error but %v", results)
	}
	return nil
}

// strangersValue returns an argument that names the stranger where its type names a partner.
func strangersValue(t *testing.T, kind reflect.Type, stranger partner.ID) reflect.Value {
	t.Helper()
	value := reflect.New(kind).Elem()
	switch {
	case kind == reflect.TypeFor[partner.ID]():
		value.Set(reflect.ValueOf(stranger))
	case kind == reflect.TypeFor[context.Context]():
		value.Set(reflect.ValueOf(t.Context()))
	case kind.Kind() == reflect.Func:
		value.Set(reflect.MakeFunc(kind, func([]reflect.Value) []reflect.Value { panic("the change was begun") }))
	case kind.Kind() == reflect.Struct:
		for _, name := range []string{"Partner", "ID"} {
			field := value.FieldByName(name)
			if field.IsValid() && field.Type() == reflect.TypeFor[partner.ID]() {
				field.Set(reflect.ValueOf(stranger))
			}
		}
	}
	return value
}
