// Package generated holds a Go client that oapi-codegen makes of the contract, to see that it compiles. It is not
// shipped and nothing may import it.
package generated

import "github.com/vigiahq/vigia/clients/generated/golang/made"

// CityOf reads the city of somebody who is enrolled: neither the beneficiary nor the address may be left out.
func CityOf(item made.NewSubscription) string { return item.Beneficiary.Address.City }

// PauseWebhook tells the request that pauses a webhook from what an answer says of a webhook's state.
func PauseWebhook() made.SetWebhookStateJSONRequestBody {
	return made.WebhookStateChange{State: "paused"}
}
