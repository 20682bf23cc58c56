package record

import (
	"strings"
	"testing"
)

// TestNames: what a name says, and that a name which only mentions something says nothing.
func TestNames(t *testing.T) {
	for want, names := range map[column]string{
		colEmail:     "email,E-mail,user_email,Correo Electrónico,emailAddress,e_mail_cliente",
		colPassword:  "senha,Senha,PASSWORD,user_password,contraseña,contrase\xf1a,clave,senha_acesso,userPassword,Пароль,mot de passe",
		colHash:      "password_hash,senhaHash,hash_senha,encrypted_password,pwd_md5",
		colCPF:       "cpf,CPF do titular,nr_cpf,cpf_cliente",
		colPhone:     "telefone,Teléfono,phone_number,celular,tel,telefone_residencial",
		colName:      "nome,full_name,Nombre Completo,nome_cliente,lastName",
		colBirthDate: "data_nascimento,Data de Nascimento,Fecha de Nacimiento,dob,dt_nasc",
		colAddress:   "endereco,Endereço,direccion,cep,street_address,endereco_entrega",
		colIP:        "ip,last_ip,ip_address,endereco_ip",
		colUsername:  "login,usuario,userName,nombre de usuario",
		colArea:      "ddd,DDD,ddd_telefone,codigo_area",
		colPaper:     "cnh,numero_cnh,RG,pis,passaporte",
		colThing:     "expires,expires_at,renavam,created_at,order_id,timestamp,nosso_numero",
		colID:        "id,ID,codigo",
		unknown: "password_changed_at,senha_expirada,reset_password_token,email_verified,company_name,nome_mae,password_hint,data_cadastro,created,foo,,ip_type,file_hash," +
			strings.Repeat("senha", 20),
	} {
		for _, name := range strings.Split(names, ",") {
			got := NewReader(nil).columnOf([]byte(name))
			if got.isSilent() && !want.isSilent() {
				got = unknown // known to say nothing
			}
			if got != want {
				t.Errorf("%q is %d, want %d", name, got, want)
			}
		}
	}
}

// TestClaims: a class is claimed of a value only if it is there and has the right shape.
func TestClaims(t *testing.T) {
	const yes, no = true, false
	for _, c := range []struct {
		column column
		value  string
		want   bool
	}{
		{colPassword, "x", yes},
		{colPassword, "", no},
		{colPassword, "NULL", no},
		{colPassword, `\N`, no},
		{colPassword, "-", no},
		{colPassword, "********", no},
		{colPassword, "false", no},
		{colPassword, "n/a", no},
		{colPassword, "-1", yes},
		{colBirthDate, "12/03/1980", yes},
		{colBirthDate, "1980-03-12 00:00:00", yes},
		{colBirthDate, "0000-00-00", no},
		{colBirthDate, "1900-01-01", no},
		{colBirthDate, "31/31/1980", no},
		{colBirthDate, "1/2/1980", yes},
		{colBirthDate, "sim", no},
		{colIP, "10.0.0.1", yes},
		{colIP, "0.0.0.0", no},
		{colIP, "1.2.3", no},
		{colIP, "1.2.3.456", no},
		{colIP, "2001:db8::1", yes},
		{colIP, "abc", no},
		{colName, "Ana Lima", yes},
		{colName, "123", no},
		{colName, "1", no},
		{colAddress, "Rua A 1", yes},
		{colAddress, "01310-100", yes},
		{colAddress, "0", no},
		{colFinancial, "1200.00", yes},
		{colFinancial, "muito", no},
		{colDocument, "MG12345678", yes},
		{colDocument, "x", no},
		{colUsername, "ana_lima", yes},
		{colUsername, "ana@exemplo.com", no},
		{colHash, strings.Repeat("0a", 16), yes},
		{colHash, "x", no},
		{unknown, "$2y$10$abcdefghijklmnopqrstuv", yes},
		{unknown, strings.Repeat("0a", 16), no},
		{unknown, "segredo", no},
	} {
		if got := claimValue(c.column, []byte(c.value)) != 0; got != c.want {
			t.Errorf("%q in column %d: claimed %v", c.value, c.column, got)
		}
	}
	if claimValue(colPassword, []byte("$2y$10$abcdefghijklmnopqrstuv")) != PasswordHash {
		t.Error("a hash in a column of passwords is taken for one")
	}
}

// TestDays: a folder that names a day is one only if there is no doubt.
func TestDays(t *testing.T) {
	for name, want := range map[string]int32{
		"BR[0F3A] 2024-03-12/Passwords.txt": 19794,
		"12.03.2024 log":                    19794,
		"log_2024_03_12":                    19794,
		"03/04/2024":                        0,
		"2024-13-40":                        0,
		"1999-01-01":                        0,
		"x":                                 0,
		"20240312":                          0, "112024-03-12": 0,
	} {
		r := NewReader(nil)
		r.StartText(Text{Name: name})
		if got := r.dayOfNames(); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
