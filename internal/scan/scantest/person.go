package scantest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/vigiahq/vigia/internal/identifier"
)

// Value is an identifier of a made-up person, in normal form.
type Value struct {
	Kind   identifier.Kind
	Normal string
}

// Person is what one record truly holds, known because it was written.
type Person struct {
	Values []Value
	// Classes are words of the breach vocabulary.
	Classes  map[string]bool
	Password string
	Site     string
}

// datum is a field of a record as it is written.
type datum struct {
	class string // of the vocabulary; empty for what is no class, such as a number of the record
	text  string
	value Value
}

// people makes up records.
type people struct {
	rnd  *rand.Rand
	dump *Dump
	last []Value
	used map[string]bool
	id   int
}

// newPeople returns a source of made-up people; the same seed gives the same people.
func newPeople(seed uint64) *people {
	p := &people{rnd: rand.New(rand.NewPCG(seed, 3)), used: map[string]bool{}}
	p.dump = &Dump{rnd: p.rnd, truth: func(kind identifier.Kind, normal []byte, meant bool) {
		if meant {
			p.last = append(p.last, Value{kind, string(normal)})
		}
	}}
	return p
}

// identifier has the dump write an identifier that no other person has.
func (p *people) identifier(class string, write func()) datum {
	for {
		p.dump.out, p.last = p.dump.out[:0], p.last[:0]
		write()
		if key := fmt.Sprint(p.last[0]); !p.used[key] {
			p.used[key] = true
			return datum{class, string(p.dump.out), p.last[0]}
		}
	}
}

// pick returns one of the texts at random; a text given twice is twice as likely.
func (p *people) pick(from ...string) string { return from[p.rnd.IntN(len(from))] }

// hex returns n random hexadecimal digits.
func (p *people) hex(n int) string {
	p.dump.out = p.dump.out[:0]
	p.dump.hex(n)
	return string(p.dump.out)
}

// digits returns n random digits.
func (p *people) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('0' + p.rnd.IntN(10)))
	}
	return b.String()
}

// password makes up what people choose, and what parsers stumble over.
func (p *people) password() string {
	base := p.pick(words...) + strconv.Itoa(p.rnd.IntN(10_000))
	switch p.rnd.IntN(16) {
	case 0:
		return base + p.pick(":", ";", ",", "|") + p.pick(words...)
	case 1:
		return base + p.pick(`"`, `'`, `\`, "''", `"",`) + "x" + strconv.Itoa(p.rnd.IntN(100))
	case 2: // a password that contains an e-mail address
		return "x!" + p.pick(LocalNames...) + strconv.Itoa(p.rnd.IntN(1_000_000)) + "@" + p.pick(Domains...) + "!9"
	case 3:
		return strconv.Itoa(100_000 + p.rnd.IntN(900_000))
	case 4:
		return p.pick(LocalNames...) + p.pick("", "!", "123", "@2020")
	case 5:
		return p.pick("Ç", "ã", "é") + base + p.pick("#", "$", "%", "&")
	case 6:
		return base + p.pick("),(", "'),('", `"},{"`, "{}", "</a>", "=")
	}
	return strings.ToUpper(base[:1]) + base[1:] + p.pick("", "!", "#", "@", ".")
}

// hash returns a random text in the form of a password hash: bcrypt, SHA-1, Argon2 or MD5.
func (p *people) hash() string {
	switch p.rnd.IntN(4) {
	case 0:
		return "$2y$10$" + p.hex(53)
	case 1:
		return p.hex(40)
	case 2:
		return "$argon2id$v=19$m=65536,t=3,p=4$" + p.hex(22) + "$" + p.hex(43)
	}
	return p.hex(32)
}

// date returns a random date between two years in one of the forms that dumps have.
func (p *people) date(from, to int) string {
	y, m, d := from+p.rnd.IntN(to-from), 1+p.rnd.IntN(12), 1+p.rnd.IntN(28)
	switch p.rnd.IntN(3) {
	case 0:
		return fmt.Sprintf("%02d/%02d/%d", d, m, y)
	case 1:
		return fmt.Sprintf("%d-%02d-%02d 00:00:00", y, m, d)
	}
	return fmt.Sprintf("%d-%02d-%02d", y, m, d)
}

// ip returns a random IPv4 address.
func (p *people) ip() string {
	return fmt.Sprintf("%d.%d.%d.%d", 1+p.rnd.IntN(220), p.rnd.IntN(256), p.rnd.IntN(256), 1+p.rnd.IntN(254))
}

// kind is a kind of column: its class, what it is called in three languages, and how a value is made up.
type kind struct {
	class string
	names []string
	make  func(*people) datum
}

// plainKind returns a kind of column whose values are no identifiers.
func plainKind(class string, names string, text func(*people) string) kind {
	return kind{class, strings.Split(names, ","), func(p *people) datum { return datum{class: class, text: text(p)} }}
}

// columnKinds are what tables of people have. The first four are identifiers.
var columnKinds = []kind{
	{"email", strings.Split("email,e-mail,Email,E-MAIL,user_email,correo,correo_electronico,Correo Electrónico,mail,emailAddress,email_cliente", ","),
		func(p *people) datum { return p.identifier("email", p.dump.email) }},
	{"cpf", strings.Split("cpf,CPF,nr_cpf,cpf_cliente,CPF do titular,num_cpf", ","), func(p *people) datum { return p.identifier("cpf", p.dump.cpf) }},
	{"phone", strings.Split("telefone,phone,celular,teléfono,telefono,phone_number,Telefone Celular,tel,whatsapp,mobile,móvil,fone", ","),
		func(p *people) datum { return p.identifier("phone", func() { p.dump.phone(unlabelled) }) }},
	{"card", strings.Split("cartao,card_number,credit_card,numero_cartao,tarjeta,numero_tarjeta", ","), func(p *people) datum { return p.identifier("card", p.dump.card) }},
	plainKind("password", "senha,password,contraseña,contrasena,clave,passwd,pwd,Senha,PASSWORD,user_password,pass", (*people).password),
	plainKind("password_hash", "password_hash,senha_hash,hash_senha,passwordHash,encrypted_password,hash,contrasena_hash", (*people).hash),
	plainKind("name", "nome,name,nombre,full_name,Nome Completo,nombre_completo,nome_cliente,fullName,apellidos,sobrenome", func(p *people) string {
		return p.pick(FirstNames...) + " " + p.pick(LastNames...)
	}),
	plainKind("birth_date", "data_nascimento,nascimento,birth_date,date_of_birth,dob,fecha_nacimiento,Data de Nascimento,dt_nasc,birthday", func(p *people) string { return p.date(1940, 2008) }),
	plainKind("address", "endereco,endereço,address,direccion,dirección,logradouro,street_address,rua", func(p *people) string {
		return p.pick("Rua ", "Av. ", "Travessa ") + p.pick(LastNames...) + " " + strconv.Itoa(1+p.rnd.IntN(3000))
	}),
	plainKind("address", "cep,zip_code,codigo_postal,CEP", func(p *people) string {
		return strconv.Itoa(10000+p.rnd.IntN(80000)) + "-" + strconv.Itoa(100+p.rnd.IntN(900))
	}),
	plainKind("document", "rg,RG,passport,pasaporte,dni,cnh,documento_rg", func(p *people) string { return p.pick("MG", "SP", "X", "") + p.digits(8) + p.pick("", "X") }),
	plainKind("ip_address", "ip,ip_address,last_ip,endereco_ip,direccion_ip,lastIp,registration_ip", (*people).ip),
	plainKind("username", "username,usuario,login,nick,nome_usuario,nombre_usuario,userName", func(p *people) string {
		return p.pick(LocalNames...) + "_" + p.pick(LocalNames...) + strconv.Itoa(p.rnd.IntN(1000))
	}),
	plainKind("financial", "salario,salary,renda,saldo,balance,renda_mensal,income,sueldo", func(p *people) string { return strconv.Itoa(1000+p.rnd.IntN(9000)) + "." + p.digits(2) }),
	plainKind("cookies", "cookie,cookies,session_cookie", func(p *people) string { return "sid=" + p.hex(24) }),
	plainKind("health", "diagnostico,diagnosis,tipo_sanguineo,blood_type", func(p *people) string { return p.pick("asma", "CID J45", "O+", "A-", "diabetes") }),
	// What is no class, and must not be taken for one.
	plainKind("", "created_at,data_cadastro,fecha_alta,updated_at,last_login,password_changed_at,data_alteracao_senha", func(p *people) string { return p.date(2015, 2024) }),
	plainKind("", "city,cidade,ciudad,estado,uf,country", func(p *people) string { return p.pick("Recife", "Santos", "Lima", "Porto Alegre") }),
	plainKind("", "status,ativo,active,email_verified,is_admin,senha_expirada,password_reset", func(p *people) string { return p.pick("1", "0", "true", "false", "ativo") }),
	plainKind("", "token,remember_token,api_token,session_id,reset_token,uuid", func(p *people) string { return p.hex(32) }),
	plainKind("", "company_name,empresa,nome_empresa,product_name,nombre_producto,nome_mae", func(p *people) string { return p.pick(LastNames...) + " " + p.pick("Ltda", "S.A.", "e Filhos") }),
	plainKind("", "password_salt,salt,user_agent,obs", func(p *people) string { return p.pick("Mozilla/5.0", "x9f2", "cliente novo", "nao ligar") }),
}
