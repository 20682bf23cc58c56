package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The live partner's people are made from their number, so that the dump to import can name them without reading the database.

var (
	firstNames = []string{"Alice", "Bento", "Cecília", "Davi", "Eloá", "Fábio", "Gabriela", "Heitor", "Isadora", "João", "Lívia", "Miguel", "Nina", "Otávio"}
	surnames   = []string{"Angelim", "Baru", "Cumaru", "Embaúba", "Figueira", "Guapuruvu", "Imbuia", "Jatobá", "Laranjeira", "Mangaba", "Oiti", "Pau-Ferro", "Quaresmeira"}
	cities     = []struct{ name, state, zip, code string }{
		{"São Paulo", "SP", "01310100", "11"}, {"Recife", "PE", "50050000", "81"}, {"Curitiba", "PR", "80020300", "41"},
		{"Fortaleza", "CE", "60060120", "85"}, {"Porto Alegre", "RS", "90010150", "51"},
	}
	plainLetters = strings.NewReplacer("á", "a", "ã", "a", "é", "e", "í", "i", "ú", "u", "ç", "c", "-", "")
)

// makePerson returns the n-th made-up person.
func makePerson(n int) person {
	first, last, city := firstNames[n%len(firstNames)], surnames[n/3%len(surnames)], cities[n%len(cities)]
	digits := fmt.Sprintf("%09d", 700_000_000+n)
	return person{
		name: first + " " + last, cpf: withCheckDigits(digits), birth: fmt.Sprintf("%d-%02d-%02d", 1950+n%55, 1+n%12, 1+n%28), gender: string("FM"[n%2]),
		email: fmt.Sprintf("%s.%s%d@exemplo.com.br", plainLetters.Replace(strings.ToLower(first)), plainLetters.Replace(strings.ToLower(last)), n),
		phone: "+55" + city.code + "98" + digits[2:], street: "Rua das Acácias", city: city.name, state: city.state, zip: city.zip,
	}
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

// column is a field of a made-up dump.
type column string

// writeTable writes a table of people; its columns are named as leaked tables name theirs.
func writeTable(path string, columns []column, people []int) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	w := bufio.NewWriter(f)
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = string(c)
	}
	_, _ = fmt.Fprintln(w, strings.Join(cells, ";")) // an error stays with the writer until Flush
	for _, n := range people {
		p := makePerson(n)
		fields := map[column]string{
			"nome": p.name, "email": p.email, "cpf": p.cpf, "telefone": p.phone, "nascimento": p.birth, "endereco": p.street + ", " + p.city,
			"senha": fmt.Sprintf("flor%dazul", n%997),
		}
		for i, c := range columns {
			cells[i] = fields[c]
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, ";"))
	}
	return w.Flush()
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
	return path, writeTable(path, []column{"nome", "email", "cpf", "telefone", "senha"}, list)
}
