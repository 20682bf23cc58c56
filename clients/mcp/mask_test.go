package mcp

import "testing"

// TestMasks: a value is known again by its owner, and what is not understood is hidden whole.
func TestMasks(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{kind: "email", value: "ana@vazamento.test", want: "a***@v***.test"},
		{kind: "email", value: "ana", want: "***"},
		{kind: "email", value: "érica@exemplo.com.br", want: "é***@e***.br"},
		{kind: "domain", value: "vazamento.test", want: "v***.test"},
		{kind: "domain", value: "localhost", want: "***"},
		{kind: "cpf", value: "529.982.247-25", want: "***.***.247-**"},
		{kind: "cpf", value: "5299822472", want: "***"},
		{kind: "phone", value: "+55 21 98765-4321", want: "****4321"},
		{kind: "phone", value: "4321", want: "***"},
		{kind: "credit_card", value: "4111111111111111", want: "****1111"},
		{kind: "pix_key", value: "123e4567-e89b-42d3-a456-426614174000", want: "***-4000"},
		{kind: "cnpj", value: "11222333000181", want: "***"},
		{kind: "passport", value: "AB123456", want: "***"},
	} {
		if got := maskValue(c.kind, c.value); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.value, got, c.want)
		}
	}
}
