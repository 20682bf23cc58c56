package record

import (
	"bytes"
	"maps"
	"strings"
	"unicode/utf8"
)

// tableForm is how the rows of a table are written.
type tableForm uint8

const (
	noTable   tableForm = iota
	separated           // by a character, perhaps in quotes
	aligned             // by where they stand in the line
	tuples              // of SQL statements
	copied              // rows of PostgreSQL's COPY
)

// layout is what a header says of the rows after it.
type layout struct {
	Form    tableForm
	Sep     byte
	Columns []column
	// Starts are where aligned columns begin, in characters.
	Starts []int
}

// readHeader reads the line b[from:to] as the heads of columns, or returns nil. At least one of them has to name an
// identifier, and nothing in it may look like a value.
func (r *Reader) readHeader(from, to int) *layout {
	text := r.b[from:to]
	if len(text) > 2<<10 {
		return nil
	}
	if !headerLike(text) {
		return r.singleHead(text)
	}
	text = bytes.TrimRight(text, "\r ")
	to = from + len(text)
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), "#")
	from = to - len(text)
	r.marks.ensureMarked(from, to)
	var best *layout
	for _, sep := range [...]byte{'\t', ';', '|', ',', ':'} {
		if bytes.IndexByte(text, sep) < 0 {
			continue
		}
		r.splitRow(from, to, sep, false)
		if l := r.judgeHeads(sep); l != nil && (best == nil || len(l.Columns) > len(best.Columns)) {
			best = l
		}
	}
	if best == nil {
		best = r.alignedHeader(text)
	}
	return best
}

// singleHead reads a line as the head of the only column of a table: one that says what digits under it are.
func (r *Reader) singleHead(text []byte) *layout {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.Trim(text, "\r\" ") // what may stand around it
	if len(text) > longestSingle || !nameLike(text) {
		return nil
	}
	if c := r.columnOf(text); c == colCPF || c == colPhone || c == colCard || c.ofThings() && c != colID {
		return &layout{Form: separated, Columns: []column{c}}
	}
	return nil
}

// longestSingle is how long the head of an only column may be: a line that is longer is a sentence.
const longestSingle = 24

// headerLike reports whether a line may be one at all: most are told from one by their first bytes.
func headerLike(text []byte) bool {
	digits, parts, before := 0, 0, byte(0)
	for _, c := range text {
		kind := headerByte[c]
		if kind == 'a' { // as most are
			digits, before = 0, c
			continue
		}
		switch kind {
		case 0:
			return false
		case '0':
			if digits++; digits > 3 {
				return false
			}
		case ',':
			parts++
		case ' ':
			if before == ' ' {
				parts++
			} else if before == ':' {
				return false // a label
			}
		}
		before = c
	}
	return parts > 0
}

// headerByte is 'a' for what names have, '0' for digits, ',' for what parts them, ' ' for spaces.
var headerByte = func() (t [256]byte) {
	for c := range 256 {
		switch k := kindOf[c]; {
		case k&hasLetter != 0:
			t[c] = 'a'
		case k&hasDigit != 0:
			t[c] = '0'
		}
	}
	for _, c := range "_-./()#'`[]\"\r" {
		t[c] = 'a'
	}
	for _, c := range "\t;|,:" {
		t[c] = ','
	}
	t[' '] = ' '
	return t
}()

// judgeHeads judges the fields of a line as heads of columns.
func (r *Reader) judgeHeads(sep byte) *layout {
	for _, f := range r.fields {
		if !nameLike(r.b[f.from:f.to]) {
			return nil
		}
	}
	l := &layout{Form: separated, Sep: sep, Columns: make([]column, 0, len(r.fields))}
	known, leads := 0, false
	for _, f := range r.fields {
		c := r.columnOf(bytes.TrimSpace(r.b[f.from:f.to]))
		l.Columns = append(l.Columns, c)
		if c != unknown {
			known++
		}
		leads = leads || c.identity() || c == colUsername || c == colDocument || c == colPix || c == colCNPJ ||
			c.ofThings()
	}
	if !leads || known < 2 && len(l.Columns) > 4 || len(l.Columns) < 2 || sep == ':' && known < len(l.Columns) {
		return nil
	}
	return l
}

// nameLike reports whether a field may be the head of a column: short, no number, few marks.
func nameLike(name []byte) bool {
	if len(name) > longestName {
		return false
	}
	if len(name) == 0 {
		return true // a column without a head
	}
	letters := uint8(0)
	for _, c := range name {
		if !inName[c] {
			return false
		}
		letters |= kindOf[c] & hasLetter
	}
	return letters != 0
}

// inName are the characters of a head.
var inName = byteSet(hasLetter|hasDigit|hasSpace, "_-.()/#'`[]")

// alignedHeader reads heads that are parted by two or more spaces.
func (r *Reader) alignedHeader(text []byte) *layout {
	if !bytes.Contains(text, []byte("  ")) {
		return nil
	}
	l := &layout{Form: aligned}
	leads := false
	place := 0 // in characters
	for i := 0; i < len(text); {
		if text[i] == ' ' {
			i, place = i+1, place+1
			continue
		}
		end := bytes.Index(text[i:], []byte("  "))
		if end < 0 {
			end = len(text) - i
		}
		name := text[i : i+end]
		if !nameLike(name) {
			return nil
		}
		c := r.columnOf(name)
		l.Columns, l.Starts = append(l.Columns, c), append(l.Starts, place)
		leads = leads || c.identity()
		i, place = i+end, place+utf8.RuneCount(name)
	}
	if !leads || len(l.Columns) < 2 {
		return nil
	}
	return l
}

// column is what a column, a key or a label says of its values.
type column uint8

const (
	unknown column = iota
	colEmail
	colPassword
	colHash
	colCPF
	colPhone
	colCard
	colAddress
	colName
	colBirthDate
	colDocument
	colHealth
	colFinancial
	colCookies
	colIP
	colUsername
	colPix
	// The rest are no class of their own.
	colCNPJ
	colURL    // the site that a credential is for
	colKey    // begins a record and says nothing of a person
	colHeader // a header of a mail message
	colOther  // known to be nothing that is claimed
	colArea   // of a phone, which stands in the column after it
	colPaper  // a document with a number of its own kind, which is no CPF
	colThing  // the number of a thing or a moment
	colID     // begins a record, as a key does, but identifies no person
)

// isSilent reports whether values of the column are known to be nothing that is claimed.
func (c column) isSilent() bool {
	return c == colOther || c == colKey || c == colArea || c == colThing || c == colID
}

// ofThings reports whether digits under the column are the number of a thing, a document or a moment.
func (c column) ofThings() bool { return c == colPaper || c == colThing || c == colID }

// identity reports whether values of the column are identifiers, which the scanner finds.
func (c column) identity() bool { return c == colEmail || c == colCPF || c == colPhone || c == colCard }

// classOf is what a value of the column exposes.
var classOf = [...]Classes{
	colEmail:     Email,
	colPassword:  Password,
	colHash:      PasswordHash,
	colCPF:       CPF,
	colPhone:     Phone,
	colCard:      Card,
	colAddress:   Address,
	colName:      Name,
	colBirthDate: BirthDate,
	colDocument:  Document,
	colHealth:    Health,
	colFinancial: Financial,
	colCookies:   Cookies,
	colIP:        IP,
	colUsername:  Username,
	colPix:       Financial,
	colOther:     0,
	colPaper:     Document,
	colID:        0,
}

// exact are names as a whole, without what parts their words. They come before the words.
var exact = invertNames(map[column]string{
	colEmail: "mail email emails correo correoelectronico enderecoeletronico emailaddress emailadress " +
		"mailaddress useremail",
	colPassword: "pass password passwd pwd pw pword senha senhas contrasena contrasenia clave claveacceso " +
		"userpassword userpass userpwd passord secret segredo senhaacesso motdepasse mdp passwort kennwort parola " +
		"sifre haslo wachtwoord пароль 密码",
	colHash: "hash passwordhash passhash pwdhash hashsenha senhahash passwordmd5 md5 sha1 sha256 bcrypt " +
		"encryptedpassword senhacriptografada passworddigest hashedpassword cryptedpassword userpasswordhash " +
		"contrasenahash hashcontrasena",
	colCPF: "cpf nrcpf numcpf cpfcnpj cpfcliente numerocpf taxid brtaxid doccpf",
	colPhone: "phone phones phonenumber telephone telephonenumber telefone telefones fone tel cel celular " +
		"mobile mobilephone mobilenumber cellphone cell telefono movil whatsapp wpp zap fonecelular homephone " +
		"workphone msisdn numerotelefono fax",
	colCard: "card cardnumber creditcard creditcardnumber ccnumber ccnum cc cartao numerocartao numcartao " +
		"cartaocredito tarjeta numerotarjeta pan",
	colAddress: "address addr address1 addressline1 street streetaddress endereco enderecocompleto logradouro " +
		"rua cep zip zipcode postalcode postcode codigopostal codpostal direccion domicilio calle postaladdress " +
		"homeaddress bairro homepostaladdress adr billingaddress shippingaddress enderecoentrega",
	colName: "name names nome nombre fullname firstname lastname surname givenname familyname nomecompleto " +
		"nombrecompleto sobrenome apellido apellidos primeironome primernombre cn sn fn realname nomecliente " +
		"nombrecliente customername displayname middlename nomes nombres nomepessoa personname titular nometitular " +
		"cardholder holdername",
	colBirthDate: "birthdate birthday dateofbirth dob bday birth nascimento datanascimento datadenascimento " +
		"dtnascimento dtnasc datanasc nasc fechanacimiento fechadenacimiento fechanac nacimiento cumpleanos " +
		"aniversario bdate birthdt",
	colDocument: "dni document documento ssn nif curp rfc documentnumber numerodocumento numdocumento docnumber " +
		"identidade idcard nationalid cedula",
	colPaper: "rg cnh passport passportnumber passaporte pasaporte pis nis nit pasep pispasep titulo " +
		"tituloeleitor tituloeleitoral rgnumero numerorg driverlicense driverslicense licencia cns cartaosus " +
		"numerocnh nrcnh ctps",
	colArea: "ddd area areacode codigoarea codarea dddtelefone dddcelular dddfone dddtel dddcel ddd1 ddd2 " +
		"phonearea areatelefone",
	colThing: "renavam expires expiry expiration expirationdate expiresutc expirationtime timestamp time " +
		"unixtime epoch ts createdat updatedat created updated imei iccid imsi protocolo protocol pedido " +
		"numeropedido order ordernumber nsu ean gtin isbn barcode codigobarras codbarras linhadigitavel " +
		"nossonumero boleto serial serialnumber chassi sku tracking rastreio matricula sequence seq transactionid " +
		"transacao lastaccess hora vencimento validade",
	colID: "id ids codigo cod",
	colHealth: "diagnostico diagnosis cid cid10 tiposanguineo bloodtype planosaude alergias allergies " +
		"enfermedad doenca healthplan medicamentos gruposanguineo convenio",
	colFinancial: "salary salario renda income saldo balance creditlimit limite limitecredito iban conta " +
		"contabancaria bankaccount accountnumber numeroconta agencia agenciaconta sueldo ingresos cuenta " +
		"cuentabancaria numerocuenta creditscore score rendamensal networth patrimonio valordivida divida",
	colCookies: "cookie cookies sessioncookie cookievalue",
	colIP: "ip ipaddress ipaddr ipv4 ipv6 lastip regip registrationip loginip signupip userip clientip " +
		"ipcadastro ultimoip enderecoip direccionip ipregistro remoteaddr remoteip lastloginip createdip ipcliente " +
		"ipacesso",
	colUsername: "user username users login userlogin usuario usuarios nomeusuario nomedeusuario nombreusuario " +
		"nombredeusuario nick nickname apelido apodo screenname uid loginname userid handle accountname usr " +
		"utilisateur nomdutilisateur benutzername identifiant gebruiker логин пользователь kullanici utente",
	colPix:  "pix chavepix pixkey pixchave chavealeatoria chavepixaleatoria evp chaveevp pixevp",
	colCNPJ: "cnpj nrcnpj numcnpj numerocnpj cnpjempresa cnpjcliente cnpjcpf doccnpj",
	colURL: "url urls host hostname site website link web origin actionurl loginurl urllogin webaddress " +
		"siteurl sitio sitioweb pagina paginaweb originurl enlace dominio domain адрес",
	colKey: "dn begin data dados datos person pessoa persona customer cliente client contact contato " +
		"contacto account details detalhes info information attributes fields member membro owner personal soft " +
		"software application aplicativo app browser navegador storage profile perfil programa program appname",
	colHeader: "from to cc bcc replyto returnpath deliveredto sender xoriginalto resentfrom errorsto messageid " +
		"received xforwardedto inreplyto references",
	colOther: "city cidade ciudad state estado uf country pais provincia gender genero sexo sexo company " +
		"empresa occupation profissao salt status token token2 hint",
})

// words are what a part of a longer name says; spoilers are words that make a name say something else than that.
var words = invertNames(map[column]string{
	colEmail:     "mail email correo",
	colPassword:  "password passwd pwd senha contrasena clave pass",
	colCPF:       "cpf",
	colPhone:     "phone telefone telefono celular fone mobile movil whatsapp tel cel",
	colAddress:   "address endereco direccion logradouro street cep zip postal rua calle domicilio",
	colName:      "firstname lastname fullname surname sobrenome apellido apellidos nome nombre name",
	colBirthDate: "nascimento nacimiento birth birthdate birthday nasc dob",
	colDocument:  "dni ssn",
	colPaper:     "rg cnh passport passaporte pasaporte pis pasep renavam",
	colArea:      "ddd",
	colFinancial: "salario salary renda saldo balance income iban sueldo",
	colCookies:   "cookie cookies",
	colPix:       "pix evp",
	colCNPJ:      "cnpj",
	colIP:        "ip",
	colUsername:  "username login usuario nickname",
	colHash:      "hash md5 sha1 sha256 bcrypt digest encrypted hashed crypted criptografada",
	colCard:      "cartao tarjeta creditcard",
})

// spoilers beside a column's word say that it is about the thing, and not the thing: password_changed_at.
var spoilers = wordSet(
	"at on em date data fecha reset verified verificado confirmed confirmado type tipo status id count qtd hint " +
		"question pergunta pregunta " +
		"expires expiry expira token changed alterada alterado updated last ultimo ultima flag is has opt sent " +
		"salt company empresa file arquivo archivo product produto producto mae pai mother father " +
		"madre padre city cidade ciudad state estado uf country pais event evento domain dominio server class " +
		"valid valido bounce newsletter marketing num attempts tentativas time hora " +
		"table column db host brand bandeira plan plano url method country provider model device version bytes " +
		"size lang idioma group grupo role perfil store loja banco bank",
)

// filler are the words beside which a name still says that the value is a password.
var filler = wordSet(
	"user users usr account conta cuenta cliente customer client member login web acesso acceso access de do da " +
		"del la the plain plaintext text texto " +
		"clear my minha mi su your wp site portal app sistema system internet 1 2",
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// invertNames maps each name to its column.
func invertNames(lists map[column]string) map[string]column {
	names := map[string]column{}
	for c, list := range lists {
		for name := range strings.FieldsSeq(list) {
			names[name] = c
		}
	}
	return names
}

// longestName is more than any name has that says something.
const longestName = 48

// columnOf tells what a name says. Dumps have few names and millions of values, so answers are kept.
func (r *Reader) columnOf(name []byte) column {
	if len(name) == 0 || len(name) > longestName {
		return unknown
	}
	if c, ok := r.columns[string(name)]; ok {
		return c
	}
	c := readName(name)
	if len(r.columns) >= 1<<12 { // names that are values in truth
		clear(r.columns)
	}
	r.columns[string(name)] = c
	return c
}

// readName takes a name as a whole, then by its words.
func readName(name []byte) column {
	var plain [2 * longestName]byte
	whole, starts := foldName(plain[:0], name)
	if c, ok := exact[string(whole)]; ok {
		return c
	}
	said, sure := unknown, true
	for i, from := range starts {
		to := len(whole)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		word := string(whole[from:to]) //nolint:staticcheck // asked for three times
		if spoilers[word] {
			return isOfThing(whole, starts)
		}
		switch c := words[word]; {
		case c == unknown:
			sure = sure && filler[word]
		case c == colHash && (said == colPassword || said == unknown) || c == colPassword && said == colHash:
			said = colHash
		case c == colArea, said == colArea:
			said = colArea
		case said == unknown || said == colUsername && c == colEmail || c == colPassword:
			said = c
		}
	}
	if !sure && (said == colPassword || said == colHash) {
		return unknown // something about a password
	}
	if said == colHash && !bytes.Contains(whole, []byte("pass")) && !bytes.Contains(whole, []byte("senha")) &&
		!bytes.Contains(whole, []byte("contrasen")) &&
		!bytes.Contains(whole, []byte("pwd")) {
		return unknown // a hash of something
	}
	return said
}

// isOfThing reports whether a name that has to do with something else than a value of a person is that of a number.
func isOfThing(whole []byte, starts []int) column {
	for i, from := range starts {
		to := len(whole)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		switch string(whole[from:to]) {
		case "id",
			"at",
			"date",
			"data",
			"fecha",
			"expires",
			"expiry",
			"expira",
			"time",
			"hora",
			"count",
			"qtd",
			"bytes",
			"size",
			"version",
			"token",
			"updated",
			"changed":
			return colThing
		}
	}
	return unknown
}

// foldName writes a name in lower case without accents and without what parts its words, and says where the words
// begin.
func foldName(dst, name []byte) (whole []byte, starts []int) {
	before := byte(0) // 0 parts words, else the kind of the last character
	for len(name) > 0 {
		c, n := rune(name[0]), 1
		if c >= utf8.RuneSelf {
			if c, n = utf8.DecodeRune(name); c == utf8.RuneError && n == 1 {
				c = rune(name[0]) // Latin-1
			}
		}
		name = name[n:]
		kind := byte('a')
		switch {
		case c >= 'a' && c <= 'z':
		case c >= 'A' && c <= 'Z':
			kind, c = 'A', c+'a'-'A'
		case c >= '0' && c <= '9':
			kind = '0'
		case c >= 0xc0 && c < 0x100:
			c = rune(unaccented[c-0xc0])
		case c >= 0x400:
			if c >= 0x410 && c < 0x430 {
				c += 0x20
			}
		default:
			before = 0
			continue
		}
		if before == 0 || kind == 'A' && before != 'A' {
			starts = append(starts, len(dst))
		}
		dst, before = utf8.AppendRune(dst, c), kind
	}
	return dst, starts
}

// unaccented are the letters of Latin-1 from À on.
const unaccented = "aaaaaaaceeeeiiiidnooooo ouuuuy saaaaaaaceeeeiiiidnooooo ouuuuy y"

// State is what the text so far says of the rows that follow: the header in force and the tables of an SQL dump. It
// holds no word of the text. The zero State is that of the beginning.
type State struct {
	Layout *layout
	Tables map[string][]column
	// IsDump says that the text is a dump of a database.
	IsDump bool `json:"SQL"`
}

// event is a place of the text that says something of the rows after it.
type event struct {
	at     int
	layout *layout // nil: whatever was in force ends here
	// table is the digest of a table's name. A definition says what its columns are, and a statement without a list of
	// columns takes them from there.
	table   string
	defines bool
}

// mostTables bounds what is remembered of a dump's tables.
const mostTables = 512

// afterEvent returns the State once an event has been met.
func (s State) afterEvent(e event) State {
	switch {
	case e.defines:
		if len(s.Tables) < mostTables {
			tables := maps.Clone(s.Tables)
			if tables == nil {
				tables = map[string][]column{}
			}
			tables[e.table] = e.layout.Columns
			s.Tables = tables
		}
	case e.layout != nil && e.layout.Columns == nil:
		s.Layout = nil
		if columns := s.Tables[e.table]; columns != nil {
			s.Layout = &layout{Form: e.layout.Form, Sep: e.layout.Sep, Columns: columns}
		}
	default:
		s.Layout = e.layout
	}
	return s
}
