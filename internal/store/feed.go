package store

import "vigia/internal/seal"

func feedPlace(name string) seal.Place { return seal.Place{Table: "feed", Column: "secret", Row: name} }
