package console

import (
	"context"

	"github.com/vigiahq/vigia/internal/cyber"
)

// devicePage is a device with what its page shows; Shown says that its key stands in clear.
type devicePage struct {
	cyber.Device
	PartnerName string
	Person      string
	State       cyber.KeyState
	Shown       bool
	Systems     []cyber.System
}

// Live reports whether something can still be done about the key.
func (p devicePage) Live() bool { return p.State != cyber.KeyEnded }

// deviceStates and endReasons are how the page says where a key stands.
var (
	deviceStates = map[cyber.KeyState]badge{
		cyber.KeyIssued: {"warn", "Aguardando ativação"},
		cyber.KeyActive: {"good", "Protegido"},
		cyber.KeyEnded:  {"", "Encerrado"},
	}
	endReasons = map[cyber.EndReason]string{
		cyber.EndExpired:      "venceu",
		cyber.EndRevoked:      "revogada",
		cyber.EndMoved:        "transferida para outro aparelho",
		cyber.EndSubscription: "fim da assinatura",
	}
)

func (c *Console) gatherDevice(ctx context.Context, who viewer, id cyber.KeyID) (devicePage, error) {
	d, err := c.Rules.Endpoints.DeviceByID(ctx, id)
	if err != nil {
		return devicePage{}, err
	}
	reveals, err := c.currentReveals(ctx, who.who.ID)
	if err != nil {
		return devicePage{}, err
	}
	p, err := c.Rules.Partners.PartnerByID(ctx, d.Partner)
	if err != nil {
		return devicePage{}, err
	}
	return devicePage{
		Device:      d,
		Shown:       reveals[c.referenceOf(d.Partner, d.User)] != nil,
		PartnerName: p.Name,
		Person:      c.personPath(d.Partner, d.User),
		State:       d.KeyStateAt(c.Now()),
		Systems:     cyber.ListSystems(),
	}, nil
}

func (p devicePage) Badge() badge { return deviceStates[p.State] }

// Ending returns why the key ended.
func (p devicePage) Ending() string { return endReasons[p.EndReason] }

// KeyMasked returns the last characters of the activation key.
func (p devicePage) KeyMasked() string { return lastFourDigits(p.Key) }

// showDevice shows a device with its key masked.
func showDevice(c *Console, r *request) (answer, error) {
	page, err := c.gatherDevice(r.Context(), r.viewer, cyber.KeyID(r.PathValue("id")))
	return newView("device", "Dispositivo", page, err)
}

// revealDevice shows the key of a device for a while, after the operator's reason is in the audit trail.
func revealDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.DeviceByID(r.Context(), cyber.KeyID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return c.recordReveal(r, c.referenceOf(d.Partner, d.User), redirect{to: joinPath("devices", d.ID)})
}

// revokeDevice ends the key of a device at once.
var revokeDevice = changeHandler("epp.revoke", "id", "/devices/{id}", "device.revoked",
	func(r *request, in *Rules, id cyber.KeyID) (string, error) {
		_, err := in.Endpoints.RevokeDevice(r.Context(), id)
		return "", err
	})

// replaceDevice ends the key of a device and gives the person one for another device, valid until the old one would
// have ended.
func replaceDevice(c *Console, r *request) (answer, error) {
	id, system := cyber.KeyID(r.PathValue("id")), cyber.System(r.trimmedField("system"))
	var made cyber.Device
	err := c.changeWithAudit(r, "epp.replace", func(ctx context.Context, in *Rules) (string, string, error) {
		var err error
		made, err = in.Endpoints.ReplaceDevice(ctx, id, system, r.trimmedField("name"))
		return string(id), string(made.ID), err
	})
	if err != nil {
		return nil, err
	}
	return redirect{joinPath("devices", made.ID), "device.replaced"}, nil
}

// findDevice looks an activation key up; a POST, so that the key stands in no address.
func findDevice(c *Console, r *request) (answer, error) {
	d, err := c.Rules.Endpoints.FindDevice(r.Context(), r.trimmedField("key"))
	if err != nil {
		return nil, err
	}
	if err := c.recordAction(r, "epp.find", string(d.ID), ""); err != nil {
		return nil, err
	}
	return redirect{to: joinPath("devices", d.ID)}, nil
}
