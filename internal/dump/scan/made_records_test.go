package scan

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is a made-up dump with the truth of each of its records, in the order in which they were written.
type File struct {
	Name   string
	Text   []byte
	People []Person
}

// Format is a way in which dumps are written.
type Format struct {
	Name string
	// Headed says that columns, keys or labels say what is what.
	Headed bool
	// Bare formats show a reader only the identifiers: what the other values are cannot be found out from the text.
	Bare  bool
	write func(p *people, f *File, n int)
}

// Formats are all of them.
var Formats = []Format{
	{"combo list", false, false, comboFiles},
	{"url, user, password", false, false, credentials},
	{"comma", true, false, commaFiles},
	{"semicolon", true, false, semicolons},
	{"tab", true, false, tabFiles},
	{"fixed width", true, false, fixedWidth},
	{"insert", true, false, insertFiles},
	{"mysqldump", true, false, mysqldump},
	{"copy", true, false, copyFiles},
	{"json lines", true, false, jsonLines},
	{"json list", true, false, jsonList},
	{"stealer log", true, false, stealerLog},
	{"ldif", true, false, ldifFiles},
	{"vcard", true, false, vcardFiles},
	{"mail", false, false, mailFiles},
	{"no header", false, true, headless},
	{"two columns, no header", false, true, twoColumns},
	{"four hyphens", false, false, dashedFiles},
}

// Write makes a file of n records.
func (f Format) Write(seed uint64, n int) File {
	file := File{Name: "dump/" + f.Name + ".txt"}
	f.write(newPeople(seed), &file, n)
	return file
}

// chooseColumns returns the columns of one file: some of all there are, in any order, at least one of them an
// identifier.
func (p *people) chooseColumns() (columns []kind, names []string) {
	columns = append(columns, columnKinds[p.rnd.IntN(4)])
	if p.rnd.IntN(4) > 0 {
		columns[0] = columnKinds[0]
	}
	classes := map[string]bool{columns[0].class: true}
	for _, k := range p.rnd.Perm(len(columnKinds)) {
		if c := columnKinds[k]; len(columns) < 3+p.rnd.IntN(10) && (c.class == "" || !classes[c.class]) {
			columns = append(columns, c)
			classes[c.class] = true
		}
	}
	p.rnd.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	seen := map[string]bool{}
	for i := 0; i < len(columns); i++ {
		name := p.pickString(columns[i].names...)
		if seen[strings.ToLower(name)] {
			i--
			continue
		}
		seen[strings.ToLower(name)] = true
		names = append(names, name)
	}
	return columns, names
}

// makePerson fills the columns with values of a new person; a missing value is an empty text. It draws again until the
// person has at least one identifier.
func (p *people) makePerson(columns []kind) (Person, []string) {
	for {
		who, texts := Person{Classes: map[string]bool{}}, make([]string, len(columns))
		for i, c := range columns {
			if p.rnd.IntN(5) == 0 {
				continue
			}
			d := c.make(p)
			texts[i] = d.text
			who.addLeakedValue(d)
		}
		if len(who.Values) > 0 {
			return who, texts
		}
	}
}

// addLeakedValue adds a value to what is known to have leaked of the person.
func (w *Person) addLeakedValue(d datum) {
	if d.class != "" {
		w.Classes[d.class] = true
	}
	if d.class == "password" {
		w.Password = d.text
	}
	if d.value.Normal != "" {
		w.Values = append(w.Values, d.value)
	}
}

// writeFormatted appends to the file's text.
func (f *File) writeFormatted(format string, args ...any) {
	f.Text = fmt.Appendf(f.Text, format, args...)
}

// comboFiles writes a combo list that leads with an address, a CPF or a phone number, with passwords or hashes behind
// it.
func comboFiles(p *people, f *File, n int) {
	sep := p.pickString(":", ":", ":", ";", "|")
	lead := columnKinds[[]int{0, 0, 0, 0, 1, 2}[p.rnd.IntN(6)]]
	if lead.class != "email" {
		sep = ":"
	}
	hashes := p.rnd.IntN(5) == 0
	for range n {
		who := Person{Classes: map[string]bool{}}
		id := lead.make(p)
		who.addLeakedValue(id)
		secret := datum{class: "password", text: p.password()}
		if hashes {
			secret = datum{class: "password_hash", text: p.randomHash()}
		}
		if p.rnd.IntN(20) == 0 {
			secret = datum{text: p.pickString("", "", "NULL", "-")}
		}
		who.addLeakedValue(secret)
		f.writeFormatted("%s%s%s\n", id.text, sep, secret.text)
		f.People = append(f.People, who)
	}
}

// dashedFiles writes lists of accounts, the fields of which four hyphens part.
func dashedFiles(p *people, f *File, n int) {
	user := p.rnd.IntN(2) == 0
	for range n {
		who := Person{Classes: map[string]bool{}}
		id, secret := columnKinds[0].make(p), datum{class: "password", text: p.password()}
		if p.rnd.IntN(20) == 0 {
			secret = datum{text: p.pickString("", "", "NULL", "-")}
		}
		who.addLeakedValue(id)
		who.addLeakedValue(secret)
		if user {
			f.writeFormatted("%s%d----", p.pickString(LocalNames...), p.rnd.IntN(1000))
		}
		f.writeFormatted("%s----%s\n", id.text, secret.text)
		f.People = append(f.People, who)
	}
}

// pickSite returns a made-up address of a login page, and its host.
func (p *people) pickSite() (url, host string) {
	host = p.pickString("loja", "banco", "conta", "jogo") + strconv.Itoa(p.rnd.IntN(1000)) + "." +
		p.pickString(Domains...)
	return p.pickString("https://", "http://", "https://www.") + host +
		p.pickString("/", "/login", "/auth?next=%2Fconta&a=b", ":8443/entrar"), host
}

// credentials writes lines of a site, a login and a password, in which the site's own colons make the columns
// ambiguous.
func credentials(p *people, f *File, n int) {
	sep := p.pickString(":", ":", "|", ";")
	for range n {
		who := Person{Classes: map[string]bool{}}
		id := columnKinds[0].make(p)
		who.addLeakedValue(id)
		secret := datum{class: "password", text: p.password()}
		who.addLeakedValue(secret)
		url, host := p.pickSite()
		who.Site = host
		f.writeFormatted("%s%s%s%s%s\n", url, sep, id.text, sep, secret.text)
		f.People = append(f.People, who)
	}
}

func commaFiles(p *people, f *File, n int) { separated(p, f, n, ',') }
func semicolons(p *people, f *File, n int) { separated(p, f, n, ';') }
func tabFiles(p *people, f *File, n int)   { separated(p, f, n, '\t') }

// separated writes a table with a header; empty values are written in one of the ways that dumps do.
func separated(p *people, f *File, n int, sep rune) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma, w.UseCRLF = sep, p.rnd.IntN(4) == 0
	columns, names := p.chooseColumns()
	_ = w.Write(names) // never fails
	none := p.pickString("", "", "NULL", `\N`, "-")
	for range n {
		who, texts := p.makePerson(columns)
		for i := range texts {
			if texts[i] == "" {
				texts[i] = none
			}
		}
		_ = w.Write(texts)
		f.People = append(f.People, who)
	}
	w.Flush()
	f.Text = append(f.Text, out.Bytes()...)
}

// fixedWidth writes a table whose columns are padded with blanks to the longest value.
func fixedWidth(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	rows := [][]string{names}
	for range n {
		who, texts := p.makePerson(columns)
		rows, f.People = append(rows, texts), append(f.People, who)
	}
	widths := make([]int, len(names))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text)+2)
		}
	}
	for _, row := range rows {
		for i, text := range row {
			f.writeFormatted("%s%s", text, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)))
		}
		f.writeFormatted("\n")
	}
}

// quoteSQLText returns a text as an SQL literal, or none for an empty one.
func quoteSQLText(text, none string) string {
	if text == "" {
		return none
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// sqlTuple returns the texts as a row of VALUES.
func sqlTuple(texts []string, none string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = quoteSQLText(t, none)
	}
	return "(" + strings.Join(out, ",") + ")"
}

// insertFiles writes INSERT statements that name their columns, one row or fifty rows each.
func insertFiles(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	none := p.pickString("NULL", "''")
	perLine := p.rnd.IntN(2) == 0
	head := "INSERT INTO " + p.pickString("usuarios", "`db`.`users`", `"public"."clientes"`) + " (`" +
		strings.Join(names, "`, `") + "`) VALUES"
	for i := range n {
		who, texts := p.makePerson(columns)
		f.People = append(f.People, who)
		switch {
		case perLine:
			f.writeFormatted("%s %s;\n", head, sqlTuple(texts, none))
		case i%50 == 0:
			f.writeFormatted("%s\n%s", head, sqlTuple(texts, none))
		default:
			f.writeFormatted(",\n%s", sqlTuple(texts, none))
		}
		if !perLine && (i%50 == 49 || i == n-1) {
			f.writeFormatted(";\n")
		}
	}
}

// mysqldump writes INSERT statements without column names: those are in CREATE TABLE, behind another table that must
// not be taken for it.
func mysqldump(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	f.writeFormatted(
		"-- MySQL dump 10.13\nCREATE TABLE `produtos` (\n  `id` int(11) NOT NULL,\n  `password` varchar(9),\n  " +
			"PRIMARY KEY (`id`)\n);\n",
	)
	f.writeFormatted("CREATE TABLE `users` (\n")
	for _, name := range names {
		f.writeFormatted("  `%s` varchar(255) DEFAULT NULL,\n", name)
	}
	f.writeFormatted(
		"  PRIMARY KEY (`%s`),\n  KEY `k` (`%s`)\n) ENGINE=InnoDB;\nINSERT INTO `produtos` VALUES (1,'x'),(2,'y');\n",
		names[0],
		names[0],
	)
	for i := range n {
		who, texts := p.makePerson(columns)
		f.People = append(f.People, who)
		if i%300 == 0 {
			if i > 0 {
				f.writeFormatted(";\n")
			}
			f.writeFormatted("INSERT INTO `users` VALUES ")
		} else {
			f.writeFormatted(",")
		}
		f.writeFormatted("%s", sqlTuple(texts, "NULL"))
	}
	f.writeFormatted(";\n")
}

// copyFiles writes a dump of PostgreSQL: COPY blocks with tab-separated rows.
func copyFiles(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	f.writeFormatted(
		"--\n-- PostgreSQL database dump\n--\nCOPY public.log (id, senha) FROM stdin;\n1\tx\n\\.\n\nCOPY "+
			"public.users (\"%s\") FROM stdin;\n",
		strings.Join(names, `", "`),
	)
	for range n {
		who, texts := p.makePerson(columns)
		f.People = append(f.People, who)
		for i, t := range texts {
			if texts[i] = strings.NewReplacer(`\`, `\\`, "\t", `\t`).Replace(t); t == "" {
				texts[i] = `\N`
			}
		}
		f.writeFormatted("%s\n", strings.Join(texts, "\t"))
	}
	f.writeFormatted("\\.\n\n")
}

// nestMembers writes some of the members inside of another object.
func (p *people) nestMembers(names, texts []string) map[string]any {
	out, inner := map[string]any{}, map[string]any{}
	deep := p.rnd.IntN(2) == 0
	for i, name := range names {
		into := out
		if deep && i%3 == 1 {
			into = inner
		}
		if into[name] = texts[i]; texts[i] == "" {
			into[name] = nil
		}
	}
	if len(inner) > 0 {
		out[p.pickString("profile", "perfil", "dados", "data")] = inner
	}
	out["tags"] = []string{"a", "b"}
	out["orders"] = []map[string]any{{"id": p.rnd.IntN(1000), "total": 10}, {"id": p.rnd.IntN(1000), "total": 20}}
	return out
}

// jsonLines writes an object per line, some with nested objects.
func jsonLines(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	for range n {
		who, texts := p.makePerson(columns)
		text, _ := json.Marshal(p.nestMembers(names, texts))
		f.writeFormatted("%s\n", text)
		f.People = append(f.People, who)
	}
}

// jsonList writes one object with a list of people. It has a password member of its own that belongs to none of them.
func jsonList(p *people, f *File, n int) {
	columns, names := p.chooseColumns()
	var all []any
	for range n {
		who, texts := p.makePerson(columns)
		all = append(all, p.nestMembers(names, texts))
		f.People = append(f.People, who)
	}
	whole := map[string]any{"count": n, "password": "none of theirs", "users": all}
	if p.rnd.IntN(2) == 0 {
		f.Text, _ = json.Marshal(whole)
		return
	}
	f.Text, _ = json.MarshalIndent(whole, "", "  ")
}

// stealerLog writes blocks of labelled lines in one of several languages, some without a password.
func stealerLog(p *people, f *File, n int) {
	f.Name = "logs/BR[0F3A] 2024-0" + strconv.Itoa(1+p.rnd.IntN(9)) + "-1" + strconv.Itoa(p.rnd.IntN(9)) +
		"/Passwords.txt"
	labels := [][3]string{
		{"URL", "Username", "Password"},
		{"Host", "Login", "Password"},
		{"URL", "USER", "PASS"},
		{"url", "usuario", "senha"},
		{"Sitio", "Usuario", "Contraseña"},
		{"Hostname", "Usuário", "Senha"},
		{"URL", "Логин", "Пароль"},
		{"Link", "E-mail", "Clave"},
	}[p.rnd.IntN(8)]
	part, parted := p.pickString(": ", ":", " : ", " = "), p.pickString("\n", "===============\n", "---\n", "")
	for range n {
		who := Person{Classes: map[string]bool{}}
		url, host := p.pickSite()
		who.Site = host
		id := columnKinds[p.rnd.IntN(10)/9].make(p) // one in ten logs in by CPF
		who.addLeakedValue(id)
		secret := datum{class: "password", text: p.password()}
		if p.rnd.IntN(10) == 0 {
			secret = datum{}
		}
		who.addLeakedValue(secret)
		if parted != "" && p.rnd.IntN(2) == 0 {
			f.writeFormatted("Soft%sChrome Default (126.0.6478.127)\n", part)
		}
		f.writeFormatted(
			"%s%s%s\n%s%s%s\n%s%s%s\n%s",
			labels[0],
			part,
			url,
			labels[1],
			part,
			id.text,
			labels[2],
			part,
			secret.text,
			parted,
		)
		f.People = append(f.People, who)
	}
}

// ldifFiles writes the entries of a directory, with some attributes missing.
func ldifFiles(p *people, f *File, n int) {
	for range n {
		who := Person{Classes: map[string]bool{}}
		p.id++
		f.writeFormatted(
			"dn: uid=u%d,ou=people,dc=exemplo,dc=com\nobjectClass: inetOrgPerson\nobjectClass: top\n",
			p.id,
		)
		line := func(name string, d datum) {
			if p.rnd.IntN(4) > 0 || name == "mail" {
				who.addLeakedValue(d)
				f.writeFormatted("%s: %s\n", name, d.text)
			}
		}
		line("mail", columnKinds[0].make(p))
		line("cn", columnKinds[6].make(p))
		line("telephoneNumber", columnKinds[2].make(p))
		line("street", columnKinds[8].make(p))
		line("userPassword", datum{class: "password_hash", text: "{SSHA}" + p.randomHex(40)})
		f.writeFormatted("\n")
		f.People = append(f.People, who)
	}
}

// vcardFiles writes contacts, with some fields missing.
func vcardFiles(p *people, f *File, n int) {
	for range n {
		who := Person{Classes: map[string]bool{}}
		f.writeFormatted("BEGIN:VCARD\r\nVERSION:3.0\r\n")
		line := func(name string, d datum) {
			if p.rnd.IntN(4) > 0 || strings.HasPrefix(name, "EMAIL") {
				who.addLeakedValue(d)
				f.writeFormatted("%s:%s\r\n", name, d.text)
			}
		}
		line("FN", columnKinds[6].make(p))
		line("EMAIL;TYPE=INTERNET", columnKinds[0].make(p))
		line("TEL;TYPE=CELL", columnKinds[2].make(p))
		line("BDAY", columnKinds[7].make(p))
		f.writeFormatted("ORG:Empresa %d\r\nEND:VCARD\r\n", p.rnd.IntN(100))
		f.People = append(f.People, who)
	}
}

// mailFiles writes a mailbox. The addresses and the CPF in a message belong to different people, and the password to
// none of them.
func mailFiles(p *people, f *File, n int) {
	for range n {
		from, to, third := columnKinds[0].make(p), columnKinds[0].make(p), columnKinds[1].make(p)
		f.writeFormatted(
			"From %s Mon Mar 11 10:00:00 2024\nReturn-Path: <%s>\nFrom: %s\nTo: %s\nSubject: senha\n\nO CPF %s, "+
				"senha: %s\n\n",
			from.text,
			from.text,
			from.text,
			to.text,
			third.text,
			p.password(),
		)
		for _, d := range []datum{from, to, third} {
			who := Person{Classes: map[string]bool{}}
			who.addLeakedValue(d)
			f.People = append(f.People, who)
		}
	}
}

// twoColumns writes lines shaped like a combo list whose second column is no password.
func twoColumns(p *people, f *File, n int) {
	sep, second := p.pickString(":", ";", ",", "\t", "|"), columnKinds[[]int{6, 7, 8, 9, 11, 13, 17, 18}[p.rnd.IntN(8)]]
	for range n {
		who := Person{Classes: map[string]bool{}}
		id, other := columnKinds[0].make(p), second.make(p)
		who.addLeakedValue(id)
		who.addLeakedValue(other)
		f.writeFormatted("%s%s%s\n", id.text, sep, other.text)
		f.People = append(f.People, who)
	}
}

// headless writes a table without a header, so that only the shape of values tells what they are.
func headless(p *people, f *File, n int) {
	columns, _ := p.chooseColumns()
	sep := p.pickString(",", ";", "\t", "|")
	for range n {
		who, texts := p.makePerson(columns)
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], sep, "")
		}
		f.writeFormatted("%s\n", strings.Join(texts, sep))
		f.People = append(f.People, who)
	}
}
