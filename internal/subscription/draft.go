package subscription

// Draft is an item as a partner sent it: only its shape has been looked at.
type Draft struct {
	// Broken is set when the item could not be read to its end; then it is its only problem.
	Broken Rule

	StartDate, ExpiryDate, PlanID, BenefitHolder, Metadata, InternalID Text
	// GroupSize is text even when it came as a number.
	GroupSize                                                         Text
	IsGroup                                                           Flag
	Beneficiary                                                       Presence
	PrimaryCard, UserCard, Name, CPF, BirthDate, Gender, Email, Phone Text
	Address                                                           Presence
	Zipcode, Street, Number, Complement, Neighborhood, City, State    Text
}

// Presence tells how a member came. Null counts as absent, except where the contract gives it a meaning.
type Presence uint8

// The ways.
const (
	Absent Presence = iota
	Null
	Given
	WrongType
)

// Text is a member that should be a string. Value is its text, or what was written instead if that was a number.
type Text struct {
	Presence
	Value string
}

// Flag is a member that should be true or false.
type Flag struct {
	Presence
	Value bool
}

// NewTextField returns a member with a value.
func NewTextField(s string) Text { return Text{Given, s} }
