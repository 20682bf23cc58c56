package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// secretPage shows secrets that exist in full only now.
type secretPage struct {
	Heading, Text string
	Secrets       []shownSecret
	Back          string
	BackLabel     string
	// Once says that the page is not shown again when it is reloaded.
	Once bool
}

// shownSecret is a secret on the page that shows it once; Help says what it is for.
type shownSecret struct{ Label, Value, Help string }

// secretCookie carries a page of secrets from the form that made them to the page that shows them, so that the
// browser's Back and Reload send no form again. It is sealed by the session's token, which the server does not keep,
// and lasts for minutes.
const (
	secretCookie = "__Host-vigia-secret" //nolint:gosec // a name
	secretTime   = 5 * time.Minute
)

// showSecretsNext leads to the page of secrets that were made just now. Nothing of them stays on the server.
func showSecretsNext(r *request, p secretPage) (answer, error) {
	sealer, err := r.secretSealer()
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sealed := sealer.Seal(nil, nil, plain, nil) //nolint:gosec // the cipher draws the nonce itself
	r.kept = newSecretCookie(base64.RawURLEncoding.EncodeToString(sealed), int(secretTime/time.Second))
	return redirect{to: "/secret"}, nil
}

// newSecretCookie returns the cookie with what is sealed in it; a negative age takes it away.
func newSecretCookie(sealed string, age int) *http.Cookie {
	c := newCookie(secretCookie, sealed) //nolint:gosec // it has all three attributes: see there
	c.MaxAge = age
	return c
}

// secretSealer returns the cipher of the session's page of secrets.
func (r *request) secretSealer() (cipher.AEAD, error) {
	cookie, err := r.Cookie(cookieName)
	if r.cookie != nil && r.cookie.MaxAge >= 0 { // a session that begins with this answer
		cookie, err = r.cookie, nil
	}
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256([]byte("secret page " + cookie.Value))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// showSecrets shows the secrets that the session made last, for a few minutes or once. The session goes on under
// another token behind a page that is shown once, so that the cookie, whoever kept it, opens nothing any more.
func showSecrets(c *Console, r *request) (answer, error) {
	cookie, err := r.Cookie(secretCookie)
	if err != nil {
		return redirect{to: "/"}, nil // the time to read them is over
	}
	sealer, err := r.secretSealer()
	if err != nil {
		return nil, err
	}
	var page secretPage
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err == nil {
		sealed, err = sealer.Open(nil, nil, sealed, nil)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &page)
	}
	if err != nil {
		return redirect{to: "/"}, nil // those of another session
	}
	if page.Once {
		token, err := c.Rules.Operators.RenewToken(r.Context(), &r.session)
		if err != nil {
			return nil, err
		}
		r.cookie = sessionCookie(token)
		r.kept = newSecretCookie("", -1)
	}
	return view{"secret", page.Heading, page}, nil
}
