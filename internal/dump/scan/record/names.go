package record

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

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

// hashName returns the FNV-1a hash of a column name, which is faster to look up than the name.
func hashName(name []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range name {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}
