package partner

// Mode tells real partners from those that try the service out.
type Mode string

// The modes.
const (
	Live    Mode = "live"
	Sandbox Mode = "sandbox"
)

// Difference is a point in which a sandbox partner is treated otherwise than a live one. The guide of the
// sandbox explains each, and a test shows each.
type Difference string

// The differences.
const (
	TestKeys        Difference = "test keys"        // API keys begin with vg_test_
	AnyCheckDigits  Difference = "any check digits" // CPF, CNPJ and cards need no right ones
	NewPlans        Difference = "new plans"        // a plan that was not registered is, with the demo cover
	DemoCover       Difference = "demo cover"       // a person without a subscription has it
	SamplePasswords Difference = "sample passwords" // the built-in sample answers where there is no corpus
	// First looks and credential checks wait for nothing, and a CPF needs no digest of its own.
	Unpaced Difference = "unpaced"
	// Activation keys and appointments are made up, not taken from what live partners share.
	MadeUpStock  Difference = "made-up stock"
	MagicValues  Difference = "magic values"  // some values are found at once in the breach named sandbox
	LocalLinks   Difference = "local links"   // links to people's pages need no public address
	MovableClock Difference = "movable clock" // POST /sandbox/clock
)

// Differences lists them.
var Differences = []Difference{
	TestKeys,
	AnyCheckDigits,
	NewPlans,
	DemoCover,
	SamplePasswords,
	Unpaced,
	MadeUpStock,
	MagicValues,
	LocalLinks,
	MovableClock,
}

// Has reports whether a partner of the mode is treated as the difference says. A sandbox has all of them, so the
// argument decides nothing: it names the reason at the place that asks, where a reader and a search find it.
func (m Mode) Has(Difference) bool { return m == Sandbox }
