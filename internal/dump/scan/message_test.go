package scan

import "testing"

func TestKnown(t *testing.T) {
	for head, want := range map[string]bool{
		"From ana Mon Mar 11\n":          true,
		"Subject: x\n y\nReceived: by\n": true,
		"nome: Ana\nemail: a@b.com\n":    false,
		"nome;email\n":                   false,
		"":                               false,
		"MIME-Version: 1.0\n":            true,
	} {
		if got := IsMessage([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func TestUnquote(t *testing.T) {
	for line, want := range map[string]string{
		"maria=40exem=\r\n": "maria@exem", "a=3D=zz\n": "a==zz\n",
		"529=2e982= \n": "529.982", "=4": "=4",
	} {
		if got := string(AppendUnquoted(nil, []byte(line))); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}
