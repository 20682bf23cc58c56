package console

import "github.com/vigiahq/vigia/internal/operator"

// Rights of a partner's people, and the lack of one, which is a decision too.
const (
	closed    = operator.NoRight
	look      = operator.Look
	integrate = operator.Integrate
	attend    = operator.Attend
)

// portalRights decides for every route that needs a session who of a partner's people may use it. A route that is missing is
// closed to them, and TestPortalDecidesEveryRoute asks for the decision.
var portalRights = map[string]operator.Right{
	"GET unknown": look, // the page that says that there is no such page

	"GET /second-factor":  look,
	"GET /secret":         look,
	"POST /second-factor": look,

	"POST /logout": look,

	"GET /prove":  look,
	"POST /prove": look,

	"GET /account":                            look,
	"POST /account/password":                  look,
	"POST /account/logout":                    look,
	"POST /account/recovery":                  look,
	"POST /account/passkeys/begin":            look,
	"POST /account/passkeys":                  look,
	"POST /account/passkeys/{passkey}/remove": look,
	"POST /account/noticed":                   look,

	"GET /{$}": look,

	"GET /partners":                           closed,
	"GET /partners/new":                       closed,
	"POST /partners/new":                      closed,
	"GET /partners/{id}":                      look,
	"POST /partners/{id}/settings":            closed,
	"POST /partners/{id}/suspend":             closed,
	"POST /partners/{id}/resume":              closed,
	"POST /partners/{id}/first-looks/grant":   closed,
	"POST /partners/{id}/first-looks/release": closed,
	"GET /partners/{id}/keys/new":             integrate,
	"POST /partners/{id}/keys/new":            integrate,
	"GET /partners/{id}/keys/{key}/roll":      integrate,
	"POST /partners/{id}/keys/{key}/roll":     integrate,
	"POST /partners/{id}/keys/{key}/revoke":   integrate,
	"GET /partners/{id}/theme":                look,
	"POST /partners/{id}/theme":               integrate,
	"GET /partners/{id}/usage":                look,
	"GET /partners/{id}/requests":             look,
	"GET /partners/{id}/invite":               integrate,
	"POST /partners/{id}/invite":              integrate,

	"POST /sandbox": look,

	"GET /services":                                   closed,
	"POST /services":                                  closed,
	"GET /services/{id}":                              closed,
	"POST /services/{id}":                             closed,
	"POST /services/{id}/retire":                      closed,
	"POST /services/{id}/target":                      closed,
	"POST /services/{id}/questions":                   closed,
	"POST /services/{id}/questions/{question}/remove": closed,
	"POST /services/{id}/slots":                       closed,
	"POST /services/{id}/slots/{slot}/remove":         closed,

	"GET /webhooks/{partner}/new":                 integrate,
	"POST /webhooks/{partner}/new":                integrate,
	"GET /webhooks/{partner}/{endpoint}":          look,
	"POST /webhooks/{partner}/{endpoint}/test":    integrate,
	"GET /webhooks/{partner}/{endpoint}/rotate":   integrate,
	"POST /webhooks/{partner}/{endpoint}/rotate":  integrate,
	"POST /webhooks/{partner}/{endpoint}/enable":  integrate,
	"POST /webhooks/{partner}/{endpoint}/disable": integrate,
	"POST /webhooks/{partner}/{endpoint}/delete":  integrate,

	// Which of the lists, and what of many lines at once, is said by each list: see listing.portal and bulkAction.portal.
	"POST /lists/{list}/person":                look,
	"POST /lists/{list}/export":                look,
	"POST /lists/{list}/filters":               look,
	"POST /lists/{list}/filters/{filter}/drop": look,
	"POST /lists/{list}/bulk":                  look,
	"POST /lists/{list}/bulk/run":              look,
	"GET /exports":                             look,
	"GET /exports/{id}":                        look,

	"GET /plans":                        closed,
	"GET /plans/{partner}/new":          closed,
	"POST /plans/{partner}/new":         closed,
	"GET /plans/{partner}/edit/{plan}":  closed,
	"POST /plans/{partner}/edit/{plan}": closed,

	"GET /subscriptions":                          look,
	"POST /subscriptions/find":                    look,
	"GET /subscriptions/import":                   closed,
	"POST /subscriptions/import":                  closed,
	"POST /subscriptions/import/{file}":           closed,
	"GET /subscriptions/move":                     closed,
	"POST /subscriptions/move/holder":             closed,
	"POST /subscriptions/move/table":              closed,
	"GET /subscriptions/{partner}/{seq}":          look,
	"POST /subscriptions/{partner}/{seq}/reveal":  attend,
	"POST /subscriptions/{partner}/{seq}/end":     closed,
	"POST /subscriptions/{partner}/{seq}/suspend": closed,
	"POST /subscriptions/{partner}/{seq}/resume":  closed,

	"GET /search":  look,
	"POST /search": look,

	"GET /people/{partner}/{ref}":         look,
	"POST /people/{partner}/{ref}/reveal": attend,
	"POST /people/{partner}/{ref}/values": closed,
	"POST /people/{partner}/{ref}/case":   attend,

	"GET /monitoring":                           look,
	"POST /monitoring/find":                     look,
	"POST /monitoring/values":                   closed,
	"POST /monitoring/{partner}/{asset}/reveal": attend,

	"GET /findings":                                   look,
	"GET /findings/{partner}/{finding}":               look,
	"POST /findings/{partner}/{finding}/steps/{step}": attend,
	"POST /findings/{partner}/{finding}/recheck":      attend,
	"POST /findings/{partner}/{finding}/resolve":      attend,

	"GET /breaches":                      closed,
	"GET /breaches/new":                  closed,
	"POST /breaches/new":                 closed,
	"POST /breaches/upload":              closed,
	"GET /breaches/{name}":               closed,
	"POST /breaches/{name}/edit":         closed,
	"GET /breaches/{name}/renew":         closed,
	"POST /breaches/{name}/renew":        closed,
	"POST /breaches/{name}/renew/upload": closed,
	"POST /breaches/{name}/verify":       closed,
	"POST /breaches/{name}/retract":      closed,

	"GET /feeds":                closed,
	"GET /feeds/new":            closed,
	"POST /feeds/new":           closed,
	"POST /feeds/{name}/run":    closed,
	"POST /feeds/{name}/pause":  closed,
	"POST /feeds/{name}/resume": closed,

	"GET /passwords":           closed,
	"POST /passwords/import":   closed,
	"POST /passwords/upload":   closed,
	"POST /passwords/download": closed,
	"POST /passwords/verify":   closed,

	"GET /cases":               look,
	"GET /cases/{id}":          look,
	"POST /cases/{id}/move":    closed,
	"POST /cases/{id}/assign":  closed,
	"POST /cases/{id}/take":    closed,
	"POST /cases/{id}/end":     closed,
	"POST /cases/{id}/undo":    closed,
	"POST /cases/{id}/write":   attend,
	"POST /cases/{id}/writing": attend,
	"POST /cases/{id}/reveal":  attend,
	"POST /cases/assign":       closed,
	"GET /answers":             closed,
	"POST /answers":            closed,
	"POST /answers/delete":     closed,

	"GET /devices":                         look,
	"POST /devices/find":                   attend,
	"POST /devices/pools/{system}/source":  closed,
	"POST /devices/pools/{system}/load":    closed,
	"POST /devices/pools/{system}/install": closed,
	"GET /devices/{id}":                    look,
	"POST /devices/{id}/reveal":            attend,
	"POST /devices/{id}/revoke":            attend,
	"POST /devices/{id}/replace":           attend,

	"GET /messages":                                 closed,
	"GET /messages/{event}/{channel}/{lang}":        closed,
	"POST /messages/{event}/{channel}/{lang}":       closed,
	"POST /messages/{event}/{channel}/{lang}/reset": closed,

	"GET /content":              closed,
	"GET /content/new":          closed,
	"POST /content/new":         closed,
	"POST /content/yaml":        closed,
	"GET /content/export":       closed,
	"GET /content/{id}":         closed,
	"POST /content/{id}":        closed,
	"POST /content/{id}/yaml":   closed,
	"POST /content/{id}/reset":  closed,
	"POST /content/{id}/retire": closed,
	"POST /content/{id}/offer":  closed,

	"GET /events":                           look,
	"GET /events/report":                    look,
	"GET /events/types":                     look,
	"POST /events/replay":                   integrate,
	"GET /events/{partner}/{event}":         look,
	"POST /events/{partner}/{event}/replay": integrate,

	"GET /deliveries":         look,
	"POST /deliveries/replay": integrate,

	"GET /jobs":              closed,
	"GET /jobs/{id}/events":  closed,
	"POST /jobs/{id}/cancel": closed,

	"GET /subjects":          closed,
	"POST /subjects/find":    closed,
	"POST /subjects/access":  closed,
	"POST /subjects/export":  closed,
	"GET /subjects/erase":    closed,
	"POST /subjects/erase":   closed,
	"GET /subjects/erasures": closed,

	"GET /incidents":           closed,
	"POST /incidents":          closed,
	"POST /incidents/download": closed,

	"GET /keys":         closed,
	"POST /keys/count":  closed,
	"POST /keys/rotate": closed,

	"GET /audit":         integrate,
	"POST /audit/verify": closed,

	"GET /operators":               integrate,
	"GET /operators/new":           closed,
	"POST /operators/new":          closed,
	"GET /operators/{id}":          integrate,
	"POST /operators/{id}/role":    integrate,
	"POST /operators/{id}/disable": integrate,
	"POST /operators/{id}/enable":  integrate,
	"POST /operators/{id}/logout":  integrate,
	"POST /operators/{id}/reset":   integrate,
}
