package person

// themeSheet returns a style sheet with a partner's colours. They were checked when they were stored: nothing else can
// be in them.
func themeSheet(_ *Pages, r *request) (answer, error) {
	accent, accentText := r.theme.EffectiveColours()
	sheet := ":root{--accent:" + accent + ";--on-accent:" + accentText + "}\n"
	return file{kind: "text/css; charset=utf-8", body: []byte(sheet)}, nil
}

// themeLogo is a picture that this program drew anew.
func themeLogo(_ *Pages, r *request) (answer, error) {
	if len(r.theme.Logo) == 0 {
		return nil, errNotFound
	}
	return file{kind: "image/png", body: r.theme.Logo}, nil
}
