package stored_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
)

// madeUpPerson is a person who does not exist, with what a dump holds of people.
type madeUpPerson struct {
	email, cpf, phone, password, site string
}

// makePeople makes up n people; the same seed gives the same people.
func makePeople(seed uint64, n int) []madeUpPerson {
	rnd := rand.New(rand.NewPCG(seed, 1))
	people := make([]madeUpPerson, n)
	for i := range people {
		cpf := fmt.Appendf(nil, "%09d00", rnd.IntN(1_000_000_000))
		for check := 0; !identifier.IsValidCPF(cpf); check++ {
			cpf = fmt.Appendf(cpf[:9], "%02d", check)
		}
		people[i] = madeUpPerson{
			email:    fmt.Sprintf("pessoa.%d@loja%d.exemplo.com.br", rnd.IntN(1_000_000_000), rnd.IntN(50)),
			cpf:      string(cpf[:3]) + "." + string(cpf[3:6]) + "." + string(cpf[6:9]) + "-" + string(cpf[9:]),
			phone:    "+55119" + strconv.Itoa(10_000_000+rnd.IntN(89_999_999)),
			password: fmt.Sprintf("%x!", rnd.Uint64()),
			site:     fmt.Sprintf("banco%d.example.org", rnd.IntN(100)),
		}
	}
	return people
}

// madeUpFormats write a person in the ways dumps are written; the header comes first.
var madeUpFormats = []struct {
	header string
	write  func(p madeUpPerson, i int) string
}{
	{"", func(p madeUpPerson, _ int) string { return p.email + ":" + p.password + "\n" }},
	{"id;email;cpf;telefone;senha\n", func(p madeUpPerson, i int) string {
		return fmt.Sprintf("%d;%s;%s;%s;%s\n", i, p.email, p.cpf, p.phone, p.password)
	}},
	{"", func(p madeUpPerson, i int) string {
		return fmt.Sprintf(
			"INSERT INTO `users` (`id`, `email`, `cpf`, `phone`, `password`) VALUES (%d,'%s','%s','%s','%s');\n",
			i,
			p.email,
			p.cpf,
			p.phone,
			p.password,
		)
	}},
	{"", func(p madeUpPerson, i int) string {
		text, _ := json.Marshal(
			map[string]any{"id": i, "email": p.email, "cpf": p.cpf, "phone": p.phone, "password": p.password},
		)
		return string(text) + "\n"
	}},
	{"", func(p madeUpPerson, _ int) string {
		return "URL: https://" + p.site + "/login\nUsername: " + p.email + "\nPassword: " + p.password +
			"\n===============\n"
	}},
	{"", func(p madeUpPerson, _ int) string {
		return "https://" + p.site + "/login:" + p.email + ":" + p.password + "\n"
	}},
	{"", func(p madeUpPerson, i int) string {
		return fmt.Sprintf(
			"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Maria %d\r\nEMAIL;TYPE=INTERNET:%s\r\nTEL;TYPE=CELL:%s\r\nEND:VCARD\r\n",
			i,
			p.email,
			p.phone,
		)
	}},
	{"", func(p madeUpPerson, i int) string {
		return fmt.Sprintf("dn: uid=u%d,dc=exemplo,dc=com\nmail: %s\ntelephoneNumber: %s\n\n", i, p.email, p.phone)
	}},
}

// madeUpDump returns a dump of files in all formats one behind the other, and the fingerprints of every identifier in
// it.
func madeUpDump(seed uint64, size int, fingerprint func(byte, []byte) uint64) (text []byte, truth []uint64) {
	for n := 0; len(text) < size; n++ {
		format := madeUpFormats[0] // mostly combo lines, as in the large public collections
		if n%4 == 3 {
			format = madeUpFormats[n/4%len(madeUpFormats)]
		}
		text = append(text, format.header...)
		for i, p := range makePeople(seed<<20+uint64(n), 100) {
			record := format.write(p, i)
			text = append(text, record...)
			truth = append(truth, fingerprint(byte(identifier.Email), []byte(p.email)))
			if strings.Contains(record, p.cpf) {
				truth = append(
					truth,
					fingerprint(byte(identifier.CPF), []byte(strings.NewReplacer(".", "", "-", "").Replace(p.cpf))),
				)
			}
			if strings.Contains(record, p.phone) {
				truth = append(truth, fingerprint(byte(identifier.Phone), []byte(p.phone)))
			}
		}
	}
	return text, truth
}

// madeUpFiles writes a file of n people in each of the formats, and returns the paths.
func (v *env) madeUpFiles(n int) (files []string) {
	for k, format := range madeUpFormats {
		text := format.header
		for i, p := range makePeople(uint64(k), n) {
			text += format.write(p, i)
		}
		files = append(files, v.File(fmt.Sprintf("%02d.txt", k), text))
	}
	return files
}
