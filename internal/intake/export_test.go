package intake

import "time"

// SetEvery shortens the pause between two looks at the parts of an import.
func (s *Spreader) SetEvery(d time.Duration) { s.every = d }

// SetSpan shortens the spans of an importer.
func (im *Importer) SetSpan(n int64) { im.spanBytes = n }

// WorthKeeping tells whether what was scanned since a moment would be made a part.
func (im *Importer) WorthKeeping(scanned int64, since time.Time) bool {
	return im.worthKeeping(scanned, since)
}
