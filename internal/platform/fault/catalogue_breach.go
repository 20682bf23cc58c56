package fault

// Breaches and their imports.
var (
	SandboxBreach = addRule(
		"sandbox_breach",
		"%s is the made-up breach of sandbox partners",
		"%s é o vazamento fictício dos parceiros de teste. Escolha outro nome.",
	)
	DayRange = addRule(
		"day_range",
		"a day from 1970 to today, YYYY-MM-DD",
		"Um dia de 01/01/1970 até hoje.",
	)
	DayFormat  = addRule("day_format", "expected YYYY-MM-DD", "Escreva a data como 24/12/2026.")
	ClassesAre = addRule("classes_are", "classes are %s", "Escolha as classes da lista.")
	NameAClass = addRule(
		"name_a_class",
		"name at least one class of data",
		"Marque ao menos uma classe de dados.",
	)
	NotABreachName       = addRule("not_a_breach_name", "not a breach's name", "Não é o nome de um vazamento.")
	WasRetracted         = addRule("was_retracted", "was retracted", "Este vazamento foi retirado.")
	RetractedImportOther = addRule(
		"retracted_import_other",
		"was retracted; import under another name",
		"Este vazamento foi retirado. Importe com outro nome.",
	)
	AlreadyPublished = addRule(
		"already_published",
		"is already published",
		"Este nome já é de um vazamento publicado.",
	)
	PublishedOtherwise = addRule(
		"published_otherwise",
		"is published with other content",
		"Este nome já é de um vazamento publicado com outro conteúdo.",
	)
	NotPublished     = addRule("not_published", "is not published", "O vazamento não está publicado.")
	RenewedMeanwhile = addRule(
		"renewed_meanwhile",
		"somebody else renewed it meanwhile; run the same command again",
		"Outra pessoa renovou o vazamento enquanto isso. Tente de novo.",
	)
	NoKeyLeft = addRule(
		"no_key_left",
		"no key left for this system",
		"Não há mais chaves para este sistema.",
	)
	ShareOfKeysTaken = addRule(
		"share_of_keys_taken",
		"this partner has had its share of the keys for this system",
		"O parceiro já recebeu a sua parte das chaves deste sistema.",
	)
	ShareOfTimesTaken = addRule(
		"share_of_times_taken",
		"this partner holds its share of the coming ones",
		"O parceiro já tem a sua parte dos próximos horários.",
	)
	ImportNotPublished = addRule(
		"import_not_published",
		"is being imported and not published yet",
		"O vazamento ainda está sendo importado.",
	)
	BeingImported         = addRule("being_imported", "it is being imported", "O vazamento já está sendo importado.")
	BeingVerified         = addRule("being_verified", "it is being verified", "O vazamento já está sendo conferido.")
	AnotherProcessImports = addRule(
		"another_process_imports",
		"another process is importing it",
		"Outro processo já o está importando.",
	)
	Taken     = addRule("taken", "taken", "Este nome já está em uso.")
	NoSegment = addRule("no_segment", "the breach has no segment", "O vazamento não tem índice.")
	NoContent = addRule(
		"no_content",
		"the breach has no content of its own",
		"O vazamento não tem conteúdo próprio.",
	)
	NoFile                = addRule("no_file", "there is no file", "Não há nenhum arquivo ali.")
	FileUnreadable        = addRule("file_unreadable", "%s cannot be read", "%s não pôde ser lido.")
	Unreadable            = addRule("unreadable", "cannot be read", "Não pôde ser lido.")
	FileUnreadableInPlace = addRule(
		"file_unreadable_in_place",
		"%s cannot be read in place",
		"%s não pôde ser lido onde está.",
	)
	FileChangedWhileRead = addRule(
		"file_changed_while_read",
		"%s changed while it was read",
		"%s mudou enquanto era lido.",
	)
	DoubtfulImport = addRule(
		"doubtful_import",
		"%s: not published, unless it is forced (--force)",
		"%s Por isso não foi publicado.",
	)
	DoubtfulRenewal = addRule(
		"doubtful_renewal",
		"%s: the breach stays as it is, unless it is forced (--force)",
		"%s Por isso o vazamento fica como estava.",
	)
	NotAPath     = addRule("not_a_path", "not a path", "Não é um caminho.")
	NotAnAddress = addRule("not_an_address", "not an address", "Não é um endereço.")
	NotABucket   = addRule("not_a_bucket", "not the address of a bucket", "Não é o endereço de um bucket.")
	OtherInputs  = addRule(
		"other_inputs",
		"not those that this import began with, or they changed since; retract the breach to give it up",
		"Não são os arquivos com que esta importação começou, ou eles mudaram. Retire o vazamento para desistir.",
	)
	BucketUnreadable = addRule("bucket_unreadable", "the bucket cannot be read", "O bucket não pôde ser lido.")
	NothingFound     = addRule("nothing_found", "nothing was found", "Nada foi encontrado nos arquivos.")
	MostUnreadable   = addRule(
		"most_unreadable",
		"most of it could not be read",
		"A maior parte não pôde ser lida.",
	)
)

// The process that reads dumps.
var (
	ReaderUnconfined = addRule(
		"reader_unconfined",
		"no dump is read here unless --reader-unconfined is given, as nothing on this system confines the process "+
			"that reads it",
		"Nenhum vazamento é lido aqui sem --reader-unconfined: nada neste sistema isola o processo que os lê.",
	)
)
