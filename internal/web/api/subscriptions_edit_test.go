package api

import (
	"fmt"
	"strings"
	"testing"
)

// TestBeneficiaryIsEdited: what a partner tells anew of a person is what is read from then on; the rest stays, also
// when a part of an edit is refused; and the audit trail says that it was edited and holds nothing of it.
func TestBeneficiaryIsEdited(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service) {
		s.plan(t, s.Live, "p")
		s.post(t, s.server.URL, s.Live.APIKey, itemsOf(9850, 9853))
		at := "/v1/subscriptions/p/" + cpfOf(9850)
		var before, now subscriptionWire
		s.as(t, s.Live, "GET", at, "").into(t, &before)
		s.as(t, s.Live, "POST", at+"/changes", `{"beneficiary":{"email":" Ana.Nova@exemplo.com.br ","phone_number":"+5521987650000","cpf":"`+cpfOf(9850)+`","address":{"zipcode":"20040002","complement":"Fundos","state":"RJ"}}}`).into(t, new(subscriptionNow))
		s.as(t, s.Live, "GET", at, "").into(t, &now)
		want := before
		b := &want.Beneficiary
		b.Email, b.Phone, b.Address.Zipcode, b.Address.Complement, b.Address.State = "Ana.Nova@exemplo.com.br", "+5521987650000", "20040002", "Fundos", "RJ"
		if now != want || now == before {
			t.Errorf("%+v, want %+v", now, want)
		}
		for body, refusal := range map[string]string{
			`{"beneficiary":{}}`: "move, expiry_date", `{"beneficiary":{"email":null}}`: "move, expiry_date", `{"move":"end","beneficiary":{"name":"Ana"}}`: "move, expiry_date",
			`{"beneficiary":{"name":"Outra","email":"sem-arroba"}}`: "beneficiary.email: ", `{"beneficiary":{"name":"  "}}`: "beneficiary.name: ",
			`{"beneficiary":{"cpf":"` + cpfOf(9851) + `"}}`: "beneficiary.cpf: cannot be changed", `{"beneficiary":{"gender":"x"}}`: "beneficiary.gender: ",
			`{"beneficiary":{"birth_date":"2999-01-01"}}`: "beneficiary.birth_date: ", `{"beneficiary":{"phone_number":"1"}}`: "beneficiary.phone_number: ",
			`{"beneficiary":{"address":{"state":"XX"}}}`: "beneficiary.address.state: ", `{"beneficiary":{"address":{"zipcode":"1"}}}`: "beneficiary.address.zipcode: ",
			`{"beneficiary":{"primary_card":"` + strings.Repeat("1", 33) + `"}}`: "beneficiary.primary_card: ", `{"beneficiary":{"address":{"city":7}}}`: "beneficiary.address.city: wrong JSON type",
		} {
			if got := s.as(
				t,
				s.Live,
				"POST",
				at+"/changes",
				body,
			); got.status != 400 ||
				!strings.HasPrefix(got.header.Get(detailHeader), refusal) {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		var edited subscriptionsEdited
		s.as(t, s.Live, "POST", "/v1/subscription-changes", `{"plan_id":"p","items":[{"cpf":"`+cpfOf(9851)+`","beneficiary":{"name":"Bia Nova"},"partner_internal_id":"b-1"},{"cpf":"`+cpfOf(9859)+`","expiry_date":""},
			{"cpf":"12","expiry_date":""},{"cpf":"`+cpfOf(9850)+`"},{"cpf":"`+cpfOf(9850)+`","expiry_date":"2020-01-01","beneficiary":{"name":"Outra","gender":"x","cpf":"`+cpfOf(9851)+`"}}]}`).into(t, &edited)
		const outcome = `{partial_success 1 4 [{1 [beneficiary.cpf: nenhuma assinatura em vigor]} {2 [beneficiary.cpf: deve ter 11 dígitos]} {3 [item: não diz o que mudar]} ` +
			`{4 [expiry_date: não pode ser anterior a start_date beneficiary.cpf: não pode mudar: encerre a assinatura e cadastre de novo beneficiary.gender: deve ser M ou F]}]}`
		if fmt.Sprint(edited) != outcome {
			t.Errorf("%v", edited)
		}
		var still subscriptionWire
		if s.as(t, s.Live, "GET", at, "").into(t, &still); still != now {
			t.Errorf("what was refused changed %+v to %+v", now, still)
		}
		if s.as(t, s.Live, "GET", "/subscriptions/p/"+cpfOf(9851), "").into(t, &now); now.Beneficiary.Name != "Bia Nova" || now.Beneficiary.CPF != cpfOf(9851) {
			t.Errorf("%+v", now)
		}
		for body, refusal := range map[string]string{`{"plan_id":"p","items":[]}`: "items: 1 to 1000", `{"items":[{"cpf":"1"}]}`: "plan_id: 1 to 255"} {
			if got := s.as(
				t,
				s.Live,
				"POST",
				"/subscription-changes",
				body,
			); got.status != 400 ||
				!strings.HasPrefix(got.header.Get(detailHeader), refusal) {
				t.Errorf("%s: %d %s", body, got.status, got.header.Get(detailHeader))
			}
		}
		s.audited(t, "subscription.edit", "subscription.edit")
	})
}
