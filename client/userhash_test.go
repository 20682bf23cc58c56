package client

import "testing"

// The first three are the vectors of the partner contract.
func TestUserHash(t *testing.T) {
	for _, c := range []struct{ cpf, salt, want string }{
		{"52998224725", "sal-do-parceiro-1", "f3a6d2a6bf5aab2fc716e4e7c50d341d625c0d845efaab6812e42d589f1f3d2ead004dd4d9f3387923e46c64e952892b2c5ead56dbc62d03d53699b3cdec61ae"},
		{"11144477735", "Zq8vN2kXw5", "9b9c62fb3f35c0470a4af9abafdaf7b6425274004b0a6bf9a759fb62178a7fe9cddd5addc03445c8567125e9665f0d8042eb17622cf746728542870300d283b5"},
		{"12345678909", "açúcar e sal", "25196ab6944c3ffd39ee59e1bda179115e0b528850976aa27290a145b5ec95b2f2adddb7b8404b436ecb2ffec2a0cce9885ffa4d30c4a7d9ec57d920bbf71fd5"},
		{" 529.982.247-25 ", "sal-do-parceiro-1", "f3a6d2a6bf5aab2fc716e4e7c50d341d625c0d845efaab6812e42d589f1f3d2ead004dd4d9f3387923e46c64e952892b2c5ead56dbc62d03d53699b3cdec61ae"},
	} {
		if got := UserHash(c.cpf, c.salt); got != c.want {
			t.Errorf("UserHash(%q, %q) = %s", c.cpf, c.salt, got)
		}
	}
}
