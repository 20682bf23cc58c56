package partner

import (
	"bytes"
	"image"
	_ "image/jpeg" // logos come as JPEG too
	"image/png"

	"github.com/vigiahq/vigia/internal/platform/fault"
)

// The bounds of a logo: as sent, in dots, and as it goes out to people who pay by the byte.
const (
	MaxLogoFile = 256 << 10
	maxLogoWide = 1024
	maxLogoHigh = 512
	maxLogoSent = 20 << 10
)

// redrawPicture reads a picture and writes it anew, so that nothing goes out but what can be seen.
func redrawPicture(raw []byte) ([]byte, error) {
	if len(raw) > MaxLogoFile {
		return nil, ErrInvalid.With("logo", fault.FileKiB, MaxLogoFile>>10)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || format != "png" && format != "jpeg" {
		return nil, ErrInvalid.With("logo", fault.PictureFormat)
	}
	if size.Width > maxLogoWide || size.Height > maxLogoHigh || size.Width < 1 || size.Height < 1 {
		return nil, ErrInvalid.With("logo", fault.PictureSize, maxLogoWide, maxLogoHigh)
	}
	picture, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, ErrInvalid.With("logo", fault.PictureFormat)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture); err != nil {
		return nil, ErrInvalid.With("logo", fault.PictureFormat).Because(err)
	}
	if out.Len() > maxLogoSent {
		return nil, ErrInvalid.With("logo", fault.PictureKiB, (out.Len()+1023)>>10, maxLogoSent>>10)
	}
	return out.Bytes(), nil
}
