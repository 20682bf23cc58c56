package partner

// OwnStore returns the store of a partner's people, with nothing behind it.
func OwnStore(id ID) Store { return ownPartner{id: id} }
