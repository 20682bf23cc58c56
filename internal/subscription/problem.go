package subscription

// Field names a member of an item by its path.
type Field string

// The fields.
const (
	FieldItem         Field = "item"
	FieldStartDate    Field = "start_date"
	FieldExpiryDate   Field = "expiry_date"
	FieldPlanID       Field = "plan_id"
	FieldIsGroup      Field = "is_group_plan"
	FieldGroupSize    Field = "group_size"
	FieldHolder       Field = "benefit_holder"
	FieldMetadata     Field = "partner_metadata"
	FieldInternalID   Field = "partner_internal_id"
	FieldBeneficiary  Field = "beneficiary"
	FieldPrimaryCard  Field = "beneficiary.primary_card"
	FieldUserCard     Field = "beneficiary.user_card"
	FieldName         Field = "beneficiary.name"
	FieldCPF          Field = "beneficiary.cpf"
	FieldBirthDate    Field = "beneficiary.birth_date"
	FieldGender       Field = "beneficiary.gender"
	FieldEmail        Field = "beneficiary.email"
	FieldPhone        Field = "beneficiary.phone_number"
	FieldAddress      Field = "beneficiary.address"
	FieldZipcode      Field = "beneficiary.address.zipcode"
	FieldStreet       Field = "beneficiary.address.street"
	FieldNumber       Field = "beneficiary.address.number"
	FieldComplement   Field = "beneficiary.address.complement"
	FieldNeighborhood Field = "beneficiary.address.neighborhood"
	FieldCity         Field = "beneficiary.address.city"
	FieldState        Field = "beneficiary.address.state"
)

// Rule names what a field broke. Rules that begin with "identifier." are those of package identifier.
type Rule string

// The rules.
const (
	RuleNotObject      Rule = "not_object"
	RuleUnreadable     Rule = "unreadable"
	RuleRepeatedMember Rule = "repeated_member"
	RuleRequired       Rule = "required"
	RuleNotText        Rule = "not_text"
	RuleNotFlag        Rule = "not_flag"
	RuleNotNested      Rule = "not_nested"
	RuleLength255      Rule = "length_255"
	RuleLength32       Rule = "length_32"
	RuleLength8K       Rule = "length_8k"
	RuleDate           Rule = "date"
	RuleFuture         Rule = "future"
	RuleBeforeStart    Rule = "before_start"
	RuleWholeNumber    Rule = "whole_number"
	RuleGroupMinimum   Rule = "group_minimum"
	RuleGender         Rule = "gender"
	RuleJSON           Rule = "json"
	RulePrintable      Rule = "printable"
	RuleDots           Rule = "dots"
	RulePlanUnknown    Rule = "plan_unknown"
	RulePlanRetired    Rule = "plan_retired"
	RuleExists         Rule = "exists"
	RuleUnknown        Rule = "unknown"
	RuleOver           Rule = "over"
	RuleFixed          Rule = "fixed"
	RuleNothing        Rule = "nothing"
)

// Problem is one thing that is wrong with an item.
type Problem struct {
	Field Field
	Rule  Rule
}

// Failure is an item that was not created, with all that is wrong with it.
type Failure struct {
	// Item is its place in the request, from 0.
	Item int
	// CPF, Holder and Plan are as they were sent, cut to a sane length; empty when the item has none.
	CPF, Holder, Plan string
	Problems          []Problem
}
