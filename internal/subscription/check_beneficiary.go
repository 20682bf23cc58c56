package subscription

import "github.com/vigiahq/vigia/internal/identifier"

// beneficiary checks all members of the beneficiary. It continues after a problem, so that the partner learns of all of
// them at once.
func (c *checker) beneficiary(d *Draft) Beneficiary {
	if !c.checkNested(FieldBeneficiary, d.Beneficiary) {
		return Beneficiary{}
	}
	b := Beneficiary{
		PrimaryCard: c.checkRequired(FieldPrimaryCard, d.PrimaryCard, maxCard, RuleLength32),
		UserCard:    c.checkRequired(FieldUserCard, d.UserCard, maxCard, RuleLength32),
		Name:        c.checkRequired(FieldName, d.Name, maxText, RuleLength255),
	}
	if text, ok := c.requireText(FieldCPF, d.CPF); ok {
		b.CPF = c.identifier(
			FieldCPF,
			text,
			func(s string) (string, error) { return identifier.ParseCPFDigits(s, c.digits) },
		)
	}
	b.BirthDate, b.Gender = c.checkBirthDate(d.BirthDate), c.checkGender(d.Gender)
	b.Email, b.Phone = c.checkEmail(d.Email), c.checkPhone(d.Phone)
	b.Address = c.checkAddress(d)
	return b
}

// checkBirthDate reads a date of birth that is not in the future.
func (c *checker) checkBirthDate(t Text) string {
	day := c.requiredDay(FieldBirthDate, t)
	if day == 0 {
		return ""
	}
	if day > c.today {
		c.addProblem(FieldBirthDate, RuleFuture)
	}
	return day.String()
}

// checkGender reads one of the genders of the contract.
func (c *checker) checkGender(t Text) string {
	gender := c.checkRequired(FieldGender, t, maxText, RuleGender)
	if gender != "" && gender != "M" && gender != "F" {
		c.addProblem(FieldGender, RuleGender)
	}
	return gender
}

// checkEmail and phone are checked by their rules and kept as the partner wrote them.
func (c *checker) checkEmail(t Text) string {
	text, ok := c.requireText(FieldEmail, t)
	if ok {
		c.identifier(FieldEmail, text, identifier.ParseEmail)
	}
	return text
}

// checkPhone is like checkEmail.
func (c *checker) checkPhone(t Text) string {
	text, ok := c.requireText(FieldPhone, t)
	if ok {
		c.identifier(FieldPhone, text, identifier.ParsePhoneWithCountryCode)
	}
	return text
}

func (c *checker) checkAddress(d *Draft) Address {
	if !c.checkNested(FieldAddress, d.Address) {
		return Address{}
	}
	var a Address
	a.Zipcode = c.checkZipcode(d.Zipcode)
	a.Street = c.checkRequired(FieldStreet, d.Street, maxText, RuleLength255)
	a.Number = c.checkRequired(FieldNumber, d.Number, maxText, RuleLength255)
	a.Complement = c.checkOptional(FieldComplement, d.Complement, maxText, RuleLength255)
	a.Neighborhood = c.checkRequired(FieldNeighborhood, d.Neighborhood, maxText, RuleLength255)
	a.City = c.checkRequired(FieldCity, d.City, maxText, RuleLength255)
	a.State = c.checkState(d.State)
	return a
}

// checkZipcode reads the eight digits of a CEP.
func (c *checker) checkZipcode(t Text) string {
	text, ok := c.requireText(FieldZipcode, t)
	if !ok {
		return ""
	}
	return c.identifier(FieldZipcode, text, identifier.ParseCEP)
}

// checkState reads the two letters of a state.
func (c *checker) checkState(t Text) string {
	text, ok := c.requireText(FieldState, t)
	if !ok {
		return ""
	}
	return c.identifier(FieldState, text, identifier.ParseState)
}
