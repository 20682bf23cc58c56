package record

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
