package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/subscription"
)

// newPerson returns a made-up person. The CPFs have valid check digits and are known test numbers.
func newPerson(name, cpf, birth, gender, email, phone, street, city, state, zip string) subscription.Beneficiary {
	return subscription.Beneficiary{
		PrimaryCard: "0001-" + cpf[:4],
		UserCard:    "0002-" + cpf[:4],
		Name:        name,
		CPF:         cpf,
		BirthDate:   birth,
		Gender:      gender,
		Email:       email,
		Phone:       phone,
		Address: subscription.Address{
			Zipcode:      zip,
			Street:       street,
			Number:       "100",
			Neighborhood: "Centro",
			City:         city,
			State:        state,
		},
	}
}

// people are those of the sandbox partner; the tour's curl lines name the first.
var people = []subscription.Beneficiary{
	newPerson(
		"Ana Beatriz Jequitibá", "52998224725", "1988-04-12", "F", "ana@vazamento.test", "+5511987654321",
		"Rua das Palmeiras", "São Paulo", "SP", "01310100",
	),
	newPerson(
		"Caio Ipê Fernandes", "11144477735", "1975-09-30", "M", "caio.ipe@exemplo.com.br", "+5521987651234",
		"Rua do Catete", "Rio de Janeiro", "RJ", "22220000",
	),
	newPerson(
		"Davi Aroeira Lima", "12345678909", "1999-01-05", "M", "davi.aroeira@exemplo.com.br", "+5531988887777",
		"Avenida Afonso Pena", "Belo Horizonte", "MG", "30130001",
	),
	newPerson(
		"Elisa Cedro Martins", "98765432100", "1962-11-21", "F", "elisa.cedro@exemplo.com.br", "+5571999998888",
		"Ladeira do Pelourinho", "Salvador", "BA", "40026280",
	),
}

var (
	// The live partner's people are made from their number, so that the dump to import can name them without reading
	// the database.
	firstNames = []string{
		"Alice", "Bento", "Cecília", "Davi", "Eloá", "Fábio", "Gabriela", "Heitor", "Isadora", "João", "Lívia",
		"Miguel", "Nina", "Otávio",
	}
	surnames = []string{
		"Angelim", "Baru", "Cumaru", "Embaúba", "Figueira", "Guapuruvu", "Imbuia", "Jatobá", "Laranjeira",
		"Mangaba", "Oiti", "Pau-Ferro", "Quaresmeira",
	}
	cities = []struct{ name, state, zip, code string }{
		{"São Paulo", "SP", "01310100", "11"},
		{"Recife", "PE", "50050000", "81"},
		{"Curitiba", "PR", "80020300", "41"},
		{"Fortaleza", "CE", "60060120", "85"},
		{"Porto Alegre", "RS", "90010150", "51"},
	}
	plainLetters = strings.NewReplacer("á", "a", "ã", "a", "é", "e", "í", "i", "ú", "u", "ç", "c", "-", "")
)

// makePerson returns the n-th made-up person.
func makePerson(n int) subscription.Beneficiary {
	first, last, city := firstNames[n%len(firstNames)], surnames[n/3%len(surnames)], cities[n%len(cities)]
	digits := fmt.Sprintf("%09d", 700_000_000+n)
	email := fmt.Sprintf(
		"%s.%s%d@exemplo.com.br",
		plainLetters.Replace(strings.ToLower(first)),
		plainLetters.Replace(strings.ToLower(last)),
		n,
	)
	return newPerson(
		first+" "+last, withCheckDigits(digits), fmt.Sprintf("%d-%02d-%02d", 1950+n%55, 1+n%12, 1+n%28),
		string("FM"[n%2]), email, "+55"+city.code+"98"+digits[2:], "Rua das Acácias", city.name, city.state, city.zip,
	)
}

// withCheckDigits makes a CPF of nine digits.
func withCheckDigits(nine string) string {
	for range 2 {
		sum := 0
		for i := range len(nine) {
			sum += int(nine[i]-'0') * (len(nine) + 1 - i)
		}
		nine += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return nine
}

// strangers is the number of the first made-up person who is not a customer of any partner.
const strangers = 100_000

// writeTable writes a table of people; its columns are named as leaked tables name theirs.
func writeTable(path string, columns []string, people []int) error {
	var table strings.Builder
	table.WriteString(strings.Join(columns, ";") + "\n")
	for _, n := range people {
		p := makePerson(n)
		fields := map[string]string{
			"nome":       p.Name,
			"email":      p.Email,
			"cpf":        p.CPF,
			"telefone":   p.Phone,
			"nascimento": p.BirthDate,
			"endereco":   p.Address.Street + ", " + p.Address.City,
			"senha":      fmt.Sprintf("flor%dazul", n%997),
		}
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = fields[c]
		}
		table.WriteString(strings.Join(row, ";") + "\n")
	}
	return os.WriteFile(path, []byte(table.String()), 0o600)
}

// dumpFile is a dump for the user of the demo to import and see people being found.
const dumpFile = "vazamento-para-importar.csv"

// writeDump writes a dump with a third of the live partner's people among many others.
func (w *world) writeDump() (path string, err error) {
	path = filepath.Join(w.app.Config.Data, dumpFile)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	var list []int
	for n := range 20_000 {
		if n%150 == 0 {
			list = append(list, n/150*3+1) // who of them is a customer is seen by importing it
		}
		list = append(list, strangers+50_000+n)
	}
	return path, writeTable(path, []string{"nome", "email", "cpf", "telefone", "senha"}, list)
}
