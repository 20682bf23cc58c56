package site

import "github.com/vigiahq/vigia/bench/load"

// Item is a subscription of the n-th made-up person, as the body of a request has it.
func Item(n int64) string {
	cpf := load.CPF(int(n))
	return `{"start_date":"2026-02-01","expiry_date":"","plan_id":"` + Plan + `","is_group_plan":false,"beneficiary":{"primary_card":"4111111111111111",` +
		`"user_card":"5555555555554444","name":"Pessoa de Exemplo da Silva","cpf":"` + cpf + `","birth_date":"1990-05-17","gender":"F","email":"pessoa` + cpf +
		`@exemplo.com.br","phone_number":"5511987654321","address":{"zipcode":"01001000","street":"Rua das Laranjeiras","number":"100",` +
		`"neighborhood":"Centro","city":"São Paulo","state":"SP"}}}`
}
