// Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.

package client

import "time"

// NewMonitoredAsset: part of the contract's bodies.
type NewMonitoredAsset struct {
	// The value to monitor.
	Value    string `json:"value"`
	Type     string `json:"type"`
	UserHash string `json:"userHash"`
}

// AssetType: `domain` appears only in listings: the operator adds domains.
type AssetType string

// The values of AssetType.
const (
	AssetTypeEmail      AssetType = "email"
	AssetTypeCPF        AssetType = "cpf"
	AssetTypePhone      AssetType = "phone"
	AssetTypeCreditCard AssetType = "credit_card"
	AssetTypeDomain     AssetType = "domain"
)

// AssetStatus: part of the contract's bodies.
type AssetStatus string

// The values of AssetStatus.
const (
	AssetStatusMonitorado   AssetStatus = "monitorado"
	AssetStatusAlerta       AssetStatus = "alerta"
	AssetStatusComprometido AssetStatus = "comprometido"
)

// MonitoredAsset: part of the contract's bodies.
type MonitoredAsset struct {
	ID   string    `json:"id"`
	Type AssetType `json:"type"`
	// The monitored value, as it was sent.
	Value  string      `json:"value"`
	Status AssetStatus `json:"status"`
}

// Appointment: part of the contract's bodies.
type Appointment struct {
	// ISO 8601 date-time, extended or basic, from 1970 on; seconds may be left out. Without an offset it is Brasília time.
	Appointment string `json:"appointment,omitzero"`
}

// TriageAnswer: One answer. The question is named by `questionId`, `id` or `question`, its answer by `answer` or
// `value`; of several the first that holds a text, a number, true or false counts. Other members are kept as they were
// sent, as is an element that names no question.
type TriageAnswer struct {
	QuestionID any `json:"questionId,omitzero"`
	ID         any `json:"id,omitzero"`
	Question   any `json:"question,omitzero"`
	Answer     any `json:"answer,omitzero"`
	Value      any `json:"value,omitzero"`
}

// NewCase: part of the contract's bodies.
type NewCase struct {
	ServiceID string `json:"serviceId"`
	UserHash  string `json:"userHash"`
	// Preferred attendance times, best first.
	Appointments []Appointment `json:"appointments,omitzero"`
	// Answers to the service's triage questions.
	Questions []TriageAnswer `json:"questions,omitzero"`
}

// Task: part of the contract's bodies.
type Task struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// ISO 8601, UTC, with milliseconds.
	CreationDate time.Time `json:"creationDate"`
	ServiceID    string    `json:"serviceId"`
}

// OpenedCase: part of the contract's bodies.
type OpenedCase struct {
	Msg  string `json:"msg"`
	Task Task   `json:"task"`
}

// Service: part of the contract's bodies.
type Service struct {
	ID          string `json:"_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// ServiceList: part of the contract's bodies.
type ServiceList struct {
	Services []Service `json:"services"`
}

// OperatingSystem: part of the contract's bodies.
type OperatingSystem string

// The values of OperatingSystem.
const (
	OperatingSystemAndroid OperatingSystem = "android"
	OperatingSystemIos     OperatingSystem = "ios"
	OperatingSystemWindows OperatingSystem = "windows"
	OperatingSystemMacos   OperatingSystem = "macos"
)

// NewProtectionKey: part of the contract's bodies.
type NewProtectionKey struct {
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	Type            string          `json:"type"`
	// Friendly name of the device, 1 to 100 printable characters. Spaces at both ends are taken off.
	DeviceName string `json:"deviceName"`
	UserHash   string `json:"userHash"`
}

// ProtectionKey: part of the contract's bodies.
type ProtectionKey struct {
	// Activation key.
	EppKey string `json:"eppKey"`
	// ISO 8601, UTC, with milliseconds.
	ValidUntil time.Time `json:"validUntil"`
}

// ProtectedDevice: part of the contract's bodies.
type ProtectedDevice struct {
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	DeviceName      string          `json:"deviceName"`
	// Activation key.
	EppKey string `json:"eppKey"`
	// ISO 8601, UTC, with milliseconds.
	ValidUntil time.Time `json:"validUntil"`
}

// ProtectedDeviceList: part of the contract's bodies.
type ProtectedDeviceList struct {
	ProtectedDevices []ProtectedDevice `json:"protectedDevices"`
}

// PasswordPrefix: part of the contract's bodies.
type PasswordPrefix struct {
	// The first 10 characters of the SHA-1 or NTLM hash of the password, in hex, any case.
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// PasswordExposure: part of the contract's bodies.
type PasswordExposure struct {
	Exposed         bool     `json:"exposed"`
	Recommendations []string `json:"recommendations"`
}

// AnswerOption: part of the contract's bodies.
type AnswerOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Advice: part of the contract's bodies.
type Advice struct {
	// Content catalogue id.
	CatalogID string `json:"catalogId"`
	// The user hash as it was sent.
	UserID             string `json:"userId"`
	Type               string `json:"type"`
	Title              string `json:"title"`
	Body               string `json:"body"`
	ValidationQuestion string `json:"validationQuestion,omitzero"`
	DeviceType         string `json:"deviceType"`
	// There when the question has options.
	AnswerOptions []AnswerOption `json:"answerOptions,omitzero"`
}

// RiskScore: part of the contract's bodies.
type RiskScore struct {
	// Based on data leaks; 0 is best.
	BreachScore float64 `json:"breachScore"`
	// Based on assessments; 0 is best.
	AssessmentScore float64  `json:"assessmentScore"`
	Recommendations []string `json:"recommendations"`
}

// CoverageDetails: part of the contract's bodies.
type CoverageDetails struct {
	Plano           string   `json:"plano"`
	LimiteCobertura float64  `json:"limiteCobertura"`
	TipoCobertura   []string `json:"tipoCobertura"`
	Condicoes       string   `json:"condições"`
	Exclusoes       string   `json:"exclusões"`
}

// Coverage: part of the contract's bodies.
type Coverage struct {
	DetalhesCobertura CoverageDetails `json:"detalhesCobertura"`
}

// Address: part of the contract's bodies.
type Address struct {
	Zipcode      string `json:"zipcode"`
	Street       string `json:"street"`
	Number       string `json:"number"`
	Complement   string `json:"complement,omitzero"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"`
}

// Beneficiary: part of the contract's bodies.
type Beneficiary struct {
	// Primary card number.
	PrimaryCard string `json:"primary_card"`
	// User card number.
	UserCard string `json:"user_card"`
	// Full name.
	Name string `json:"name"`
	CPF  string `json:"cpf"`
	// ISO 8601 date, not in the future.
	BirthDate string `json:"birth_date"`
	Gender    string `json:"gender"`
	Email     string `json:"email"`
	// With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
	// area code are taken as Brazilian.
	PhoneNumber string  `json:"phone_number"`
	Address     Address `json:"address"`
}

// NewSubscription: part of the contract's bodies.
type NewSubscription struct {
	// `YYYY-MM-DD`; a full date-time is accepted and its date counts.
	StartDate string `json:"start_date"`
	// Not before the start; empty or null means no end date.
	ExpiryDate string `json:"expiry_date"`
	PlanID     string `json:"plan_id"`
	// True for a group subscription.
	IsGroupPlan bool `json:"is_group_plan"`
	// A whole number of 50 or more, as a string (a number is accepted). Required when `is_group_plan` is true.
	GroupSize any `json:"group_size,omitzero"`
	// CNPJ of the benefit holder, capital letters allowed in its first twelve places, check digits right (not required of
	// sandbox partners). Required when `is_group_plan` is true.
	BenefitHolder string      `json:"benefit_holder,omitzero"`
	Beneficiary   Beneficiary `json:"beneficiary"`
	// A string that holds valid JSON, at most 8,192 bytes of UTF-8. Bytes and not characters, so no `maxLength` says it.
	PartnerMetadata string `json:"partner_metadata,omitzero"`
	// The partner's own reference.
	PartnerInternalID string `json:"partner_internal_id,omitzero"`
}

// NotCreated: part of the contract's bodies.
type NotCreated struct {
	// As it was sent, a number by its digits; empty when the item has none.
	CPF string `json:"cpf"`
	// If applicable.
	BenefitHolder string `json:"benefit_holder,omitzero"`
	// As it was sent; empty when the item has none.
	PlanID string `json:"plan_id"`
	// All errors of the item, each as `campo: regra`.
	Errors []string `json:"errors"`
}

// BulkOutcome: part of the contract's bodies.
type BulkOutcome struct {
	Result               string       `json:"result"`
	TotalCreatedItems    int          `json:"total_created_items"`
	TotalNotCreatedItems int          `json:"total_not_created_items"`
	NotCreatedItems      []NotCreated `json:"not_created_items"`
}

// StoredAddress: The address as stored; no other member.
type StoredAddress struct {
	Zipcode      string `json:"zipcode"`
	Street       string `json:"street"`
	Number       string `json:"number"`
	Neighborhood string `json:"neighborhood"`
	City         string `json:"city"`
	State        string `json:"state"`
	Complement   string `json:"complement,omitzero"`
}

// ListedSubscriptionBeneficiary: At least name, CPF and e-mail; other beneficiary data may be included.
type ListedSubscriptionBeneficiary struct {
	// Primary card number.
	PrimaryCard string `json:"primary_card,omitzero"`
	// User card number.
	UserCard string `json:"user_card,omitzero"`
	// Full name.
	Name string `json:"name"`
	CPF  string `json:"cpf"`
	// ISO 8601 date, not in the future.
	BirthDate string `json:"birth_date,omitzero"`
	Gender    string `json:"gender,omitzero"`
	Email     string `json:"email"`
	// With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
	// area code are taken as Brazilian.
	PhoneNumber string `json:"phone_number,omitzero"`
	// The address as stored; no other member.
	Address StoredAddress `json:"address,omitzero"`
}

// ListedSubscription: part of the contract's bodies.
type ListedSubscription struct {
	// Partner id.
	PartnerID string `json:"partner_id"`
	// ISO 8601, UTC, with milliseconds.
	StartDate time.Time `json:"start_date"`
	// A date-time, or the empty string where there is no end.
	ExpiryDate string `json:"expiry_date"`
	PlanID     string `json:"plan_id"`
	// At least name, CPF and e-mail; other beneficiary data may be included.
	Beneficiary ListedSubscriptionBeneficiary `json:"beneficiary"`
}

// Pagination: part of the contract's bodies.
type Pagination struct {
	Page        int  `json:"page"`
	PageSize    int  `json:"page_size"`
	TotalItems  int  `json:"total_items"`
	TotalPages  int  `json:"total_pages"`
	HasNext     bool `json:"has_next"`
	HasPrevious bool `json:"has_previous"`
}

// SubscriptionPage: part of the contract's bodies.
type SubscriptionPage struct {
	Data       []ListedSubscription `json:"data"`
	Pagination Pagination           `json:"pagination"`
}

// SubscriptionBeneficiary: part of the contract's bodies.
type SubscriptionBeneficiary struct {
	// Primary card number.
	PrimaryCard string `json:"primary_card"`
	// User card number.
	UserCard string `json:"user_card"`
	// Full name.
	Name string `json:"name"`
	CPF  string `json:"cpf"`
	// ISO 8601 date, not in the future.
	BirthDate string `json:"birth_date"`
	Gender    string `json:"gender"`
	Email     string `json:"email"`
	// With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
	// area code are taken as Brazilian.
	PhoneNumber string `json:"phone_number"`
	// The address as stored; no other member.
	Address StoredAddress `json:"address"`
}

// Subscription: part of the contract's bodies.
type Subscription struct {
	// ISO 8601, UTC, with milliseconds.
	StartDate time.Time `json:"start_date"`
	// A date-time, or the empty string where there is no end.
	ExpiryDate  string                  `json:"expiry_date"`
	PlanID      string                  `json:"plan_id"`
	Beneficiary SubscriptionBeneficiary `json:"beneficiary"`
}

// BeneficiaryEditAddress: part of the contract's bodies.
type BeneficiaryEditAddress struct {
	Zipcode string `json:"zipcode,omitzero"`
	Street  string `json:"street,omitzero"`
	Number  string `json:"number,omitzero"`
	// Empty takes it away.
	Complement   *string `json:"complement,omitempty"`
	Neighborhood string  `json:"neighborhood,omitzero"`
	City         string  `json:"city,omitzero"`
	State        string  `json:"state,omitzero"`
}

// BeneficiaryEdit: The members to change, by the rules of an enrolment; what is missing or null stays.
type BeneficiaryEdit struct {
	// Primary card number.
	PrimaryCard string `json:"primary_card,omitzero"`
	// User card number.
	UserCard string `json:"user_card,omitzero"`
	// Full name.
	Name string `json:"name,omitzero"`
	// Cannot be changed; the one of the subscription may be sent along.
	CPF string `json:"cpf,omitzero"`
	// ISO 8601 date, not in the future.
	BirthDate string `json:"birth_date,omitzero"`
	// `M` or `F`.
	Gender string `json:"gender,omitzero"`
	Email  string `json:"email,omitzero"`
	// With country code; the plus sign is optional.
	PhoneNumber string                 `json:"phone_number,omitzero"`
	Address     BeneficiaryEditAddress `json:"address,omitzero"`
}

// SubscriptionChange: part of the contract's bodies.
type SubscriptionChange struct {
	Move string `json:"move,omitzero"`
	// A date as `YYYY-MM-DD` that is not over, or empty for no end.
	ExpiryDate *string `json:"expiry_date,omitempty"`
	// Your own reference; empty takes it away.
	PartnerInternalID *string `json:"partner_internal_id,omitempty"`
	// A text of JSON; empty takes it away.
	PartnerMetadata *string         `json:"partner_metadata,omitempty"`
	Beneficiary     BeneficiaryEdit `json:"beneficiary,omitzero"`
}

// SubscriptionState: part of the contract's bodies.
type SubscriptionState struct {
	SubscriptionID string `json:"subscription_id"`
	PlanID         string `json:"plan_id"`
	State          string `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	StartDate time.Time `json:"start_date"`
	// A date-time, or the empty string where there is no end.
	ExpiryDate        string `json:"expiry_date"`
	PartnerInternalID string `json:"partner_internal_id"`
	PartnerMetadata   string `json:"partner_metadata"`
}

// SubscriptionMoves: part of the contract's bodies.
type SubscriptionMoves struct {
	PlanID string   `json:"plan_id"`
	Move   string   `json:"move"`
	CPFs   []string `json:"cpfs"`
}

// NotChanged: part of the contract's bodies.
type NotChanged struct {
	// Its place in the request, from 0.
	Item   int      `json:"item"`
	CPF    string   `json:"cpf"`
	Errors []string `json:"errors"`
}

// SubscriptionsMoved: part of the contract's bodies.
type SubscriptionsMoved struct {
	Result string `json:"result"`
	// Those that are where the move leads, also if they were before.
	TotalChangedItems    int          `json:"total_changed_items"`
	TotalNotChangedItems int          `json:"total_not_changed_items"`
	NotChangedItems      []NotChanged `json:"not_changed_items"`
}

// SubscriptionEditsItems: part of the contract's bodies.
type SubscriptionEditsItems struct {
	// Whose subscription it is.
	CPF string `json:"cpf,omitzero"`
	// A date as `YYYY-MM-DD` that is not over, or empty for no end.
	ExpiryDate *string `json:"expiry_date,omitempty"`
	// Your own reference; empty takes it away.
	PartnerInternalID *string `json:"partner_internal_id,omitempty"`
	// A text of JSON; empty takes it away.
	PartnerMetadata *string         `json:"partner_metadata,omitempty"`
	Beneficiary     BeneficiaryEdit `json:"beneficiary,omitzero"`
}

// SubscriptionEdits: part of the contract's bodies.
type SubscriptionEdits struct {
	PlanID string                   `json:"plan_id"`
	Items  []SubscriptionEditsItems `json:"items"`
}

// SubscriptionsEditedNotChangedItems: part of the contract's bodies.
type SubscriptionsEditedNotChangedItems struct {
	// Its place in the request, from 0.
	Item   int      `json:"item"`
	Errors []string `json:"errors"`
}

// SubscriptionsEdited: part of the contract's bodies.
type SubscriptionsEdited struct {
	Result               string                               `json:"result"`
	TotalChangedItems    int                                  `json:"total_changed_items"`
	TotalNotChangedItems int                                  `json:"total_not_changed_items"`
	NotChangedItems      []SubscriptionsEditedNotChangedItems `json:"not_changed_items"`
}

// WatchedType: `pix_key` and `cnpj` are those of `/cyber/monitoring/extra`.
type WatchedType string

// The values of WatchedType.
const (
	WatchedTypeEmail      WatchedType = "email"
	WatchedTypeCPF        WatchedType = "cpf"
	WatchedTypePhone      WatchedType = "phone"
	WatchedTypeCreditCard WatchedType = "credit_card"
	WatchedTypeDomain     WatchedType = "domain"
	WatchedTypePixKey     WatchedType = "pix_key"
	WatchedTypeCNPJ       WatchedType = "cnpj"
)

// FindingBreach: part of the contract's bodies.
type FindingBreach struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Day of the breach, `YYYY-MM-DD`.
	Date string `json:"date"`
	Kind string `json:"kind"`
}

// Basis: What `exposed` is known from. `row`: it stood in the person's own records of the breach. `breach`: only what
// the breach as a whole exposed is known.
type Basis string

// The values of Basis.
const (
	BasisRow    Basis = "row"
	BasisBreach Basis = "breach"
)

// Severity: part of the contract's bodies.
type Severity string

// The values of Severity.
const (
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Finding: part of the contract's bodies.
type Finding struct {
	ID        string        `json:"id"`
	AssetID   string        `json:"assetId"`
	AssetType WatchedType   `json:"assetType"`
	Breach    FindingBreach `json:"breach"`
	// What was exposed of this person, such as `email`, `password`, `cpf`, `phone`, `card`, `address`. With basis
	// `breach`, what the breach exposed of its people.
	Exposed []string `json:"exposed"`
	Basis   Basis    `json:"basis"`
	// Hosts for which malware took credentials from the person's device.
	Sites []string `json:"sites,omitzero"`
	// Last day on which it took one, `YYYY-MM-DD`.
	TakenOn string `json:"takenOn,omitzero"`
	// True when one of the credentials is for a site of yours. Such a finding is critical.
	OwnSite bool `json:"ownSite,omitzero"`
	// True when one of the credentials is for a site that the operator watches for you. Critical, too.
	WatchedSite bool     `json:"watchedSite,omitzero"`
	LeakedAs    []string `json:"leakedAs,omitzero"`
	Severity    Severity `json:"severity"`
	State       string   `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	FoundAt time.Time `json:"foundAt"`
	// ISO 8601, UTC, with milliseconds.
	ResolvedAt time.Time `json:"resolvedAt,omitzero"`
	// Why it does not count any more. `retracted` is the service's own, the breach was withdrawn.
	Reason string `json:"reason,omitzero"`
}

// ExtraType: part of the contract's bodies.
type ExtraType string

// The values of ExtraType.
const (
	ExtraTypePixKey ExtraType = "pix_key"
	ExtraTypeCNPJ   ExtraType = "cnpj"
)

// NewExtraAsset: part of the contract's bodies.
type NewExtraAsset struct {
	// The value to monitor.
	Value    string    `json:"value"`
	Type     ExtraType `json:"type"`
	UserHash string    `json:"userHash"`
}

// ExtraAsset: part of the contract's bodies.
type ExtraAsset struct {
	ID   string    `json:"id"`
	Type ExtraType `json:"type"`
	// The monitored value, as it was sent.
	Value  string      `json:"value"`
	Status AssetStatus `json:"status"`
}

// SubLimit: part of the contract's bodies.
type SubLimit struct {
	Nome   string  `json:"nome"`
	Limite float64 `json:"limite"`
}

// Cover: part of the contract's bodies.
type Cover struct {
	// The plan; absent for the demo cover of a sandbox partner.
	PlanoID string `json:"planoId,omitzero"`
	// The person's subscription, the partner's default plan, or the sandbox's demo cover.
	Origem            string          `json:"origem"`
	DetalhesCobertura CoverageDetails `json:"detalhesCobertura"`
	// Parts of the limit that one kind of loss may use, in reais.
	Sublimites []SubLimit `json:"sublimites"`
	// Days after the start of the subscription that are not covered.
	CarenciaDias int `json:"carenciaDias"`
	// The first day that is covered, after the waiting period; absent where there is no subscription.
	VigenteDesde time.Time `json:"vigenteDesde,omitzero"`
	// First day of the subscription; absent where there is none.
	Inicio time.Time `json:"inicio,omitzero"`
	// Last day of the subscription; absent where it has no end.
	Fim time.Time `json:"fim,omitzero"`
}

// CoverList: part of the contract's bodies.
type CoverList struct {
	Coberturas []Cover `json:"coberturas"`
}

// ScorePoint: part of the contract's bodies.
type ScorePoint struct {
	Date            string  `json:"date"`
	BreachScore     float64 `json:"breachScore"`
	AssessmentScore float64 `json:"assessmentScore"`
}

// PortalRequest: part of the contract's bodies.
type PortalRequest struct {
	UserHash string `json:"userHash"`
	// The language that the page begins in; Portuguese unless it is given. The person can change it there.
	Lang string `json:"lang,omitzero"`
	// Where the page leads back to: an https address, at one of your own sites (or under one) where the operator has noted
	// them.
	ReturnURL string `json:"returnUrl,omitzero"`
}

// PortalLink: part of the contract's bodies.
type PortalLink struct {
	// A secret until it expires: whoever has it sees the page.
	URL string `json:"url"`
	// ISO 8601, UTC, with milliseconds.
	ExpiresAt time.Time `json:"expiresAt"`
}

// KeyEndReason: part of the contract's bodies.
type KeyEndReason string

// The values of KeyEndReason.
const (
	KeyEndReasonExpired      KeyEndReason = "expired"
	KeyEndReasonRevoked      KeyEndReason = "revoked"
	KeyEndReasonMoved        KeyEndReason = "moved"
	KeyEndReasonSubscription KeyEndReason = "subscription"
	KeyEndReasonErased       KeyEndReason = "erased"
)

// ProtectionKeyDetailInstallLinks: The links of all systems that have one; `linux` among them, though keys are not
// issued for it.
type ProtectionKeyDetailInstallLinks struct {
	Android string `json:"android,omitzero"`
	Ios     string `json:"ios,omitzero"`
	Linux   string `json:"linux,omitzero"`
	Macos   string `json:"macos,omitzero"`
	Windows string `json:"windows,omitzero"`
}

// ProtectionKeyDetail: part of the contract's bodies.
type ProtectionKeyDetail struct {
	KeyID           string          `json:"keyId"`
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	DeviceName      string          `json:"deviceName"`
	// Activation key.
	EppKey string `json:"eppKey"`
	State  string `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	IssuedAt time.Time `json:"issuedAt"`
	// ISO 8601, UTC, with milliseconds.
	ValidUntil time.Time `json:"validUntil"`
	// ISO 8601, UTC, with milliseconds.
	ActivatedAt time.Time `json:"activatedAt,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	EndedAt   time.Time    `json:"endedAt,omitzero"`
	EndReason KeyEndReason `json:"endReason,omitzero"`
	// Where the program of this system is installed from.
	InstallLink string `json:"installLink,omitzero"`
	// The links of all systems that have one; `linux` among them, though keys are not issued for it.
	InstallLinks ProtectionKeyDetailInstallLinks `json:"installLinks"`
}

// ProtectionKeyReport: An empty object will do from you; the vendor's signed report says both.
type ProtectionKeyReport struct {
	// The activation key of the path.
	EppKey string `json:"eppKey,omitzero"`
	// `activated` or `running`, as in the path.
	Report string `json:"report,omitzero"`
}

// ProtectionKeyRevocation: part of the contract's bodies.
type ProtectionKeyRevocation struct {
	UserHash string `json:"userHash"`
}

// ProtectionKeyMove: part of the contract's bodies.
type ProtectionKeyMove struct {
	UserHash        string          `json:"userHash"`
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	// Friendly name of the new device.
	DeviceName string `json:"deviceName"`
}

// MovedProtectionKey: part of the contract's bodies.
type MovedProtectionKey struct {
	KeyID string `json:"keyId"`
	// Activation key.
	EppKey string `json:"eppKey"`
	// ISO 8601, UTC, with milliseconds.
	ValidUntil time.Time `json:"validUntil"`
}

// Question: part of the contract's bodies.
type Question struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	// A case cannot be opened without an answer.
	Required bool `json:"required"`
	// The answers to choose from; empty for any.
	Options []string `json:"options"`
}

// ServiceDetail: part of the contract's bodies.
type ServiceDetail struct {
	ID          string      `json:"_id"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Questions   []Question  `json:"questions"`
	Slots       []time.Time `json:"slots"`
}

// CaseStatus: part of the contract's bodies.
type CaseStatus string

// The values of CaseStatus.
const (
	CaseStatusAberto            CaseStatus = "Aberto"
	CaseStatusEmAndamento       CaseStatus = "Em andamento"
	CaseStatusAguardandoCliente CaseStatus = "Aguardando cliente"
	CaseStatusResolvido         CaseStatus = "Resolvido"
	CaseStatusFechado           CaseStatus = "Fechado"
	CaseStatusCancelado         CaseStatus = "Cancelado"
)

// CaseItem: part of the contract's bodies.
type CaseItem struct {
	ID     string     `json:"id"`
	Status CaseStatus `json:"status"`
	// ISO 8601, UTC, with milliseconds.
	CreationDate time.Time `json:"creationDate"`
	ServiceID    string    `json:"serviceId"`
	// ISO 8601, UTC, with milliseconds.
	ChangedAt time.Time `json:"changedAt"`
	// ISO 8601, UTC, with milliseconds.
	Appointment time.Time `json:"appointment,omitzero"`
	Rating      int       `json:"rating,omitzero"`
}

// CaseLine: part of the contract's bodies.
type CaseLine struct {
	// ISO 8601, UTC, with milliseconds.
	At     time.Time  `json:"at"`
	Type   string     `json:"type"`
	From   string     `json:"from"`
	Status CaseStatus `json:"status,omitzero"`
	// What was written: the message, the attachment, a comment, a reason.
	Text string `json:"text,omitzero"`
	// Of an attachment.
	Name string `json:"name,omitzero"`
}

// CaseDetail: part of the contract's bodies.
type CaseDetail struct {
	ID     string     `json:"id"`
	Status CaseStatus `json:"status"`
	// ISO 8601, UTC, with milliseconds.
	CreationDate time.Time `json:"creationDate"`
	ServiceID    string    `json:"serviceId"`
	// ISO 8601, UTC, with milliseconds.
	ChangedAt time.Time `json:"changedAt"`
	// ISO 8601, UTC, with milliseconds.
	Appointment time.Time `json:"appointment,omitzero"`
	Rating      int       `json:"rating,omitzero"`
	// As they were sent.
	Appointments []Appointment `json:"appointments"`
	// As they were sent.
	Questions []TriageAnswer `json:"questions"`
	History   []CaseLine     `json:"history"`
}

// CaseMessageAttachment: part of the contract's bodies.
type CaseMessageAttachment struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// CaseMessage: part of the contract's bodies.
type CaseMessage struct {
	UserHash string `json:"userHash"`
	// No control characters but line breaks.
	Text       string                `json:"text"`
	Attachment CaseMessageAttachment `json:"attachment,omitzero"`
}

// CaseCancellation: part of the contract's bodies.
type CaseCancellation struct {
	UserHash string `json:"userHash"`
	Reason   string `json:"reason,omitzero"`
}

// CaseRebooking: part of the contract's bodies.
type CaseRebooking struct {
	UserHash string `json:"userHash"`
	// Wished times, best first; at least one element has a time.
	Appointments []Appointment `json:"appointments"`
}

// CaseRating: part of the contract's bodies.
type CaseRating struct {
	UserHash string `json:"userHash"`
	Rating   int    `json:"rating"`
	Comment  string `json:"comment,omitzero"`
}

// Language: part of the contract's bodies.
type Language string

// The values of Language.
const (
	LanguagePtBR Language = "pt-BR"
	LanguageEs   Language = "es"
	LanguageEn   Language = "en"
)

// StepState: part of the contract's bodies.
type StepState string

// The values of StepState.
const (
	StepStateTodo    StepState = "todo"
	StepStateDone    StepState = "done"
	StepStateSkipped StepState = "skipped"
)

// PlanStep: part of the contract's bodies.
type PlanStep struct {
	ID   string `json:"id"`
	What string `json:"what"`
	Why  string `json:"why"`
	// The official page where it is done.
	Link string `json:"link,omitzero"`
	// How long it takes.
	Minutes int `json:"minutes"`
	// Whether it mends what leaked: without it the finding is not solved.
	Essential bool `json:"essential"`
	// ISO 8601, UTC, with milliseconds.
	DueAt time.Time `json:"dueAt"`
	State StepState `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	MarkedAt time.Time `json:"markedAt,omitzero"`
}

// FindingPlan: part of the contract's bodies.
type FindingPlan struct {
	FindingID string `json:"findingId"`
	State     string `json:"state"`
	Language  string `json:"language"`
	// How many steps are left before a re-check resolves the finding.
	Remaining int        `json:"remaining"`
	Steps     []PlanStep `json:"steps"`
}

// StepMark: part of the contract's bodies.
type StepMark struct {
	UserHash string    `json:"userHash"`
	State    StepState `json:"state"`
}

// Recheck: part of the contract's bodies.
type Recheck struct {
	UserHash string `json:"userHash"`
}

// Rechecked: part of the contract's bodies.
type Rechecked struct {
	FindingID string `json:"findingId"`
	State     string `json:"state"`
	// Why a resolved one does not count any more.
	Reason string      `json:"reason,omitzero"`
	Status AssetStatus `json:"status"`
	// Steps that are left.
	Remaining []string `json:"remaining"`
}

// ResolutionReason: part of the contract's bodies.
type ResolutionReason string

// The values of ResolutionReason.
const (
	ResolutionReasonPasswordChanged ResolutionReason = "password_changed"
	ResolutionReasonAccountClosed   ResolutionReason = "account_closed"
	ResolutionReasonCardReplaced    ResolutionReason = "card_replaced"
	ResolutionReasonNotMe           ResolutionReason = "not_me"
	ResolutionReasonOther           ResolutionReason = "other"
)

// Resolution: part of the contract's bodies.
type Resolution struct {
	UserHash string           `json:"userHash"`
	Reason   ResolutionReason `json:"reason"`
}

// Credential: part of the contract's bodies.
type Credential struct {
	UserHash string `json:"userHash"`
	// The first 10 characters of the SHA-1 hash of the password, in hex, any case.
	PasswordHashPrefix string `json:"passwordHashPrefix"`
}

// Answer: part of the contract's bodies.
type Answer struct {
	CatalogID string `json:"catalogId"`
	// One of the `value`s of `answerOptions`.
	Value string `json:"value"`
}

// EventMessageTemplate: What a WhatsApp message is sent by.
type EventMessageTemplate struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	// The text to register, with {{1}}, {{2}} and so on.
	Body       string   `json:"body"`
	Parameters []string `json:"parameters"`
}

// EventMessage: part of the contract's bodies.
type EventMessage struct {
	// Type of the event.
	Type    string `json:"type"`
	Channel string `json:"channel"`
	Lang    string `json:"lang"`
	// Subject of an e-mail, title of a push.
	Subject string `json:"subject,omitzero"`
	Text    string `json:"text"`
	// The text of an e-mail once more, as a page that fetches nothing.
	HTML string `json:"html,omitzero"`
	// What a WhatsApp message is sent by.
	Template EventMessageTemplate `json:"template,omitzero"`
}

// DetectedFinding: part of the contract's bodies.
type DetectedFinding struct {
	ID        string      `json:"id"`
	AssetID   string      `json:"assetId"`
	AssetType WatchedType `json:"assetType"`
	Status    AssetStatus `json:"status"`
	// Name of the breach.
	Breach   string   `json:"breach"`
	Severity Severity `json:"severity"`
	// As in Finding.
	Exposed []string `json:"exposed"`
	Basis   Basis    `json:"basis"`
	// As in Finding.
	OwnSite bool `json:"ownSite,omitzero"`
	// As in Finding.
	WatchedSite bool     `json:"watchedSite,omitzero"`
	LeakedAs    []string `json:"leakedAs,omitzero"`
}

// LeakDetectedData: part of the contract's bodies.
type LeakDetectedData struct {
	UserHash string            `json:"userHash"`
	Findings []DetectedFinding `json:"findings"`
}

// LeakDetected: part of the contract's bodies.
type LeakDetected struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time        `json:"timestamp"`
	Data      LeakDetectedData `json:"data"`
}

// MonitoringStatusChangedData: part of the contract's bodies.
type MonitoringStatusChangedData struct {
	UserHash       string      `json:"userHash"`
	AssetID        string      `json:"assetId"`
	AssetType      WatchedType `json:"assetType"`
	PreviousStatus AssetStatus `json:"previousStatus"`
	Status         AssetStatus `json:"status"`
}

// MonitoringStatusChanged: part of the contract's bodies.
type MonitoringStatusChanged struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time                   `json:"timestamp"`
	Data      MonitoringStatusChangedData `json:"data"`
}

// FirstLooksChangedData: part of the contract's bodies.
type FirstLooksChangedData struct {
	State string `json:"state"`
	// `operator` stopped them or lets them go on; `tokens`, more values were added than first looks allow; `caught_up`, no
	// value has waited for long any more.
	Reason string `json:"reason"`
	// Values without a first look.
	Waiting int `json:"waiting"`
	// How many first looks return in an hour.
	PerHour int `json:"perHour"`
}

// FirstLooksChanged: part of the contract's bodies.
type FirstLooksChanged struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time             `json:"timestamp"`
	Data      FirstLooksChangedData `json:"data"`
}

// DueStep: part of the contract's bodies.
type DueStep struct {
	FindingID string `json:"findingId"`
	// Name of the breach.
	Breach string `json:"breach"`
	Step   string `json:"step"`
	// As in PlanStep.
	Essential bool `json:"essential"`
	// ISO 8601, UTC, with milliseconds.
	DueAt time.Time `json:"dueAt"`
}

// FindingStepDueData: part of the contract's bodies.
type FindingStepDueData struct {
	UserHash string    `json:"userHash"`
	Steps    []DueStep `json:"steps"`
}

// FindingStepDue: part of the contract's bodies.
type FindingStepDue struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time          `json:"timestamp"`
	Data      FindingStepDueData `json:"data"`
}

// CaseStatusChangedData: part of the contract's bodies.
type CaseStatusChangedData struct {
	UserHash       string     `json:"userHash"`
	CaseID         string     `json:"caseId"`
	ServiceID      string     `json:"serviceId"`
	PreviousStatus CaseStatus `json:"previousStatus"`
	Status         CaseStatus `json:"status"`
}

// CaseStatusChanged: part of the contract's bodies.
type CaseStatusChanged struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time             `json:"timestamp"`
	Data      CaseStatusChangedData `json:"data"`
}

// CaseMessageAddedData: part of the contract's bodies.
type CaseMessageAddedData struct {
	UserHash  string `json:"userHash"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	From      string `json:"from"`
}

// CaseMessageAdded: part of the contract's bodies.
type CaseMessageAdded struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time            `json:"timestamp"`
	Data      CaseMessageAddedData `json:"data"`
}

// CaseAppointmentChangedData: part of the contract's bodies.
type CaseAppointmentChangedData struct {
	UserHash  string `json:"userHash"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	// ISO 8601, UTC, with milliseconds.
	Appointment time.Time `json:"appointment"`
}

// CaseAppointmentChanged: part of the contract's bodies.
type CaseAppointmentChanged struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time                  `json:"timestamp"`
	Data      CaseAppointmentChangedData `json:"data"`
}

// CaseRatedData: part of the contract's bodies.
type CaseRatedData struct {
	UserHash  string `json:"userHash"`
	CaseID    string `json:"caseId"`
	ServiceID string `json:"serviceId"`
	Rating    int    `json:"rating"`
}

// CaseRated: part of the contract's bodies.
type CaseRated struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time     `json:"timestamp"`
	Data      CaseRatedData `json:"data"`
}

// KeyExpiringData: part of the contract's bodies.
type KeyExpiringData struct {
	UserHash        string          `json:"userHash"`
	KeyID           string          `json:"keyId"`
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	// ISO 8601, UTC, with milliseconds.
	ValidUntil time.Time `json:"validUntil"`
}

// KeyExpiring: part of the contract's bodies.
type KeyExpiring struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time       `json:"timestamp"`
	Data      KeyExpiringData `json:"data"`
}

// KeyActivatedData: part of the contract's bodies.
type KeyActivatedData struct {
	UserHash        string          `json:"userHash"`
	KeyID           string          `json:"keyId"`
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	// ISO 8601, UTC, with milliseconds.
	ActivatedAt time.Time `json:"activatedAt"`
}

// KeyActivated: part of the contract's bodies.
type KeyActivated struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time        `json:"timestamp"`
	Data      KeyActivatedData `json:"data"`
}

// KeyEndedData: part of the contract's bodies.
type KeyEndedData struct {
	UserHash        string          `json:"userHash,omitzero"`
	KeyID           string          `json:"keyId"`
	OperatingSystem OperatingSystem `json:"operatingSystem"`
	Reason          KeyEndReason    `json:"reason"`
	// ISO 8601, UTC, with milliseconds.
	EndedAt time.Time `json:"endedAt"`
	MovedTo string    `json:"movedTo,omitzero"`
}

// KeyEnded: part of the contract's bodies.
type KeyEnded struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time    `json:"timestamp"`
	Data      KeyEndedData `json:"data"`
}

// SubscriptionChangedData: part of the contract's bodies.
type SubscriptionChangedData struct {
	UserHash string `json:"userHash"`
	// The same in every event of one subscription; a later one to the same plan has another.
	SubscriptionID string `json:"subscriptionId"`
	PlanID         string `json:"planId"`
	// The `partner_internal_id` of the enrolment, where one was given.
	PartnerInternalID string `json:"partnerInternalId,omitzero"`
}

// SubscriptionChanged: part of the contract's bodies.
type SubscriptionChanged struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time               `json:"timestamp"`
	Data      SubscriptionChangedData `json:"data"`
}

// ErasureRequestedData: part of the contract's bodies.
type ErasureRequestedData struct {
	UserHash  string `json:"userHash"`
	ErasureID string `json:"erasureId"`
	// ISO 8601, UTC, with milliseconds.
	DueAt time.Time `json:"dueAt"`
}

// ErasureRequested: part of the contract's bodies.
type ErasureRequested struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time            `json:"timestamp"`
	Data      ErasureRequestedData `json:"data"`
}

// ErasureCancelledData: part of the contract's bodies.
type ErasureCancelledData struct {
	UserHash  string `json:"userHash"`
	ErasureID string `json:"erasureId"`
}

// ErasureCancelled: part of the contract's bodies.
type ErasureCancelled struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time            `json:"timestamp"`
	Data      ErasureCancelledData `json:"data"`
}

// ErasureCompletedData: part of the contract's bodies.
type ErasureCompletedData struct {
	ErasureID string `json:"erasureId"`
	// How many records were erased.
	Removed int `json:"removed"`
}

// ErasureCompleted: part of the contract's bodies.
type ErasureCompleted struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time            `json:"timestamp"`
	Data      ErasureCompletedData `json:"data"`
}

// WebhookTestData: part of the contract's bodies.
type WebhookTestData struct {
	// Only in `GET /events`: the type of the made-up event that was pushed in place of this one, which has its id.
	SampleOf string `json:"sampleOf,omitzero"`
}

// WebhookTest: part of the contract's bodies.
type WebhookTest struct {
	Type string `json:"type"`
	// ISO 8601, UTC, with milliseconds.
	Timestamp time.Time       `json:"timestamp"`
	Data      WebhookTestData `json:"data"`
}

// Event: part of the contract's bodies.
type Event struct {
	// The `webhook-id` of the event.
	ID string `json:"id"`
	// The body that is pushed.
	Body EventBody `json:"body"`
}

// EventPage: part of the contract's bodies.
type EventPage struct {
	Events []Event `json:"events"`
	// Cursor to pass as `after`; empty while the partner has no event at all.
	Next string `json:"next"`
	// Whether more events are waiting after these.
	HasMore bool `json:"hasMore"`
}

// BreachFacts: part of the contract's bodies.
type BreachFacts struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Day of the breach, `YYYY-MM-DD`.
	Date        string `json:"date"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	// What it exposed of its people.
	Exposes []string `json:"exposes"`
	// Somebody made sure that it is genuine.
	Verified bool `json:"verified"`
	// Known to be made up.
	Fabricated bool `json:"fabricated"`
	// Gathered for spam; it says little about any account.
	SpamList bool `json:"spamList"`
	// ISO 8601, UTC, with milliseconds.
	AddedAt time.Time `json:"addedAt"`
}

// BreachPage: part of the contract's bodies.
type BreachPage struct {
	Breaches   []BreachFacts `json:"breaches"`
	Page       int           `json:"page"`
	PageSize   int           `json:"pageSize"`
	TotalItems int           `json:"totalItems"`
	HasNext    bool          `json:"hasNext"`
}

// EventType: part of the contract's bodies.
type EventType string

// The values of EventType.
const (
	EventTypeMonitoringLeakDetected      EventType = "monitoring.leak_detected"
	EventTypeMonitoringStatusChanged     EventType = "monitoring.status_changed"
	EventTypeMonitoringFirstLooksChanged EventType = "monitoring.first_looks_changed"
	EventTypeCaseStatusChanged           EventType = "case.status_changed"
	EventTypeCaseMessageAdded            EventType = "case.message_added"
	EventTypeCaseAppointmentChanged      EventType = "case.appointment_changed"
	EventTypeCaseRated                   EventType = "case.rated"
	EventTypeEppKeyExpiring              EventType = "epp.key_expiring"
	EventTypeEppKeyActivated             EventType = "epp.key_activated"
	EventTypeEppKeyEnded                 EventType = "epp.key_ended"
	EventTypeFindingStepDue              EventType = "finding.step_due"
	EventTypeSubscriptionEnded           EventType = "subscription.ended"
	EventTypeSubscriptionSuspended       EventType = "subscription.suspended"
	EventTypeSubscriptionResumed         EventType = "subscription.resumed"
	EventTypeErasureRequested            EventType = "erasure.requested"
	EventTypeErasureCancelled            EventType = "erasure.cancelled"
	EventTypeErasureCompleted            EventType = "erasure.completed"
	EventTypeWebhookTest                 EventType = "webhook.test"
)

// PauseReason: Why it is paused. `asked`: you or the operator paused it. `gone`: the receiver answered 410. `failing`:
// nothing but failures for five days.
type PauseReason string

// The values of PauseReason.
const (
	PauseReasonAsked   PauseReason = "asked"
	PauseReasonGone    PauseReason = "gone"
	PauseReasonFailing PauseReason = "failing"
)

// Webhook: part of the contract's bodies.
type Webhook struct {
	ID string `json:"id"`
	// Without its query.
	URL string `json:"url"`
	// What it wants; empty for all.
	Types  []EventType `json:"types"`
	State  string      `json:"state"`
	Reason PauseReason `json:"reason,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	FailingSince time.Time `json:"failingSince,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	CreatedAt time.Time `json:"createdAt"`
}

// NewWebhook: part of the contract's bodies.
type NewWebhook struct {
	// An `https` address; printable ASCII.
	URL   string      `json:"url"`
	Types []EventType `json:"types,omitzero"`
}

// WebhookSecret: part of the contract's bodies.
type WebhookSecret struct {
	ID string `json:"id"`
	// Without its query.
	URL string `json:"url"`
	// What it wants; empty for all.
	Types  []EventType `json:"types"`
	State  string      `json:"state"`
	Reason PauseReason `json:"reason,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	FailingSince time.Time `json:"failingSince,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	CreatedAt time.Time `json:"createdAt"`
	// Verifies `v1` signatures. Shown once.
	Secret string `json:"secret"`
	// Verify `v1a` signatures, newest first.
	PublicKeys []string `json:"publicKeys"`
}

// WebhookTry: part of the contract's bodies.
type WebhookTry struct {
	Delivered bool `json:"delivered"`
	// The receiver's HTTP status; 0 without an answer.
	Status int `json:"status"`
	// Why there was no answer: `dns`, `connect`, `tls`, `timeout`, `address` and the like.
	Failure string `json:"failure,omitzero"`
	TookMS  int    `json:"tookMs"`
	// ISO 8601, UTC, with milliseconds.
	At      time.Time `json:"at,omitzero"`
	EventID string    `json:"eventId,omitzero"`
}

// WebhookDetailHealth: part of the contract's bodies.
type WebhookDetailHealth struct {
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	// In percent.
	SuccessRate int `json:"successRate,omitzero"`
	// From the event to its arrival, on average; 0 before the first.
	MeanMS int `json:"meanMs"`
	// What waits to be sent, also while the webhook is paused; up to 100,000.
	Backlog int        `json:"backlog"`
	LastTry WebhookTry `json:"lastTry,omitzero"`
}

// WebhookDetail: part of the contract's bodies.
type WebhookDetail struct {
	ID string `json:"id"`
	// Without its query.
	URL string `json:"url"`
	// What it wants; empty for all.
	Types  []EventType `json:"types"`
	State  string      `json:"state"`
	Reason PauseReason `json:"reason,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	FailingSince time.Time `json:"failingSince,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	CreatedAt time.Time `json:"createdAt"`
	// Verify `v1a` signatures, newest first.
	PublicKeys []string            `json:"publicKeys"`
	Health     WebhookDetailHealth `json:"health"`
}

// WebhookStateChange: part of the contract's bodies.
type WebhookStateChange struct {
	State string `json:"state"`
}

// WebhookRotation: part of the contract's bodies.
type WebhookRotation struct {
	OverlapHours int `json:"overlapHours"`
}

// WebhookTestRequest: part of the contract's bodies.
type WebhookTestRequest struct {
	Type EventType `json:"type"`
}

// SandboxClock: part of the contract's bodies.
type SandboxClock struct {
	// How many days pass.
	Days int `json:"days"`
}

// WebhookReplay: part of the contract's bodies.
type WebhookReplay struct {
	// Id of one event.
	Event string `json:"event,omitzero"`
	// Events from this date-time on, such as `2026-01-31T03:00:00Z`.
	From string `json:"from,omitzero"`
	// And before this one.
	To string `json:"to,omitzero"`
	// All deliveries whose tries are used up.
	Failed bool `json:"failed,omitzero"`
}

// WebhookReplayed: part of the contract's bodies.
type WebhookReplayed struct {
	Deliveries int `json:"deliveries"`
}

// Scope: part of the contract's bodies.
type Scope string

// The values of Scope.
const (
	ScopeCyber             Scope = "cyber"
	ScopeCyberRead         Scope = "cyber:read"
	ScopeSubscriptions     Scope = "subscriptions"
	ScopeSubscriptionsRead Scope = "subscriptions:read"
	ScopeCredentials       Scope = "credentials"
	ScopeManage            Scope = "manage"
	ScopeManageRead        Scope = "manage:read"
	ScopePrivacy           Scope = "privacy"
)

// Key: part of the contract's bodies.
type Key struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// How the key begins.
	Starts string  `json:"starts"`
	Scopes []Scope `json:"scopes"`
	State  string  `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	CreatedAt time.Time `json:"createdAt"`
	// ISO 8601, UTC, with milliseconds.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	// The key that made it; absent where a person did.
	MadeBy string `json:"madeBy,omitzero"`
	// The key of this request.
	Calling bool `json:"calling"`
}

// NewKey: part of the contract's bodies.
type NewKey struct {
	// What the key is for.
	Label string `json:"label,omitzero"`
	// Names of scopes, each covered by the calling key.
	Scopes []string `json:"scopes"`
	// A date-time in the future, such as `2027-01-31T03:00:00Z`; without it the key lives as long as the calling one.
	ExpiresAt string `json:"expiresAt,omitzero"`
}

// MadeKey: part of the contract's bodies.
type MadeKey struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// How the key begins.
	Starts string  `json:"starts"`
	Scopes []Scope `json:"scopes"`
	State  string  `json:"state"`
	// ISO 8601, UTC, with milliseconds.
	CreatedAt time.Time `json:"createdAt"`
	// ISO 8601, UTC, with milliseconds.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	RevokedAt time.Time `json:"revokedAt,omitzero"`
	// The key that made it; absent where a person did.
	MadeBy string `json:"madeBy,omitzero"`
	// The key of this request.
	Calling bool `json:"calling"`
	// What to send as `x-api-key`. Shown once.
	APIKey string `json:"apiKey"`
}

// KeyRolling: part of the contract's bodies.
type KeyRolling struct {
	GraceHours int `json:"graceHours"`
}

// ErasureState: `pending` can be cancelled. `erasing` has begun. `completed` and `cancelled` are over.
type ErasureState string

// The values of ErasureState.
const (
	ErasureStatePending   ErasureState = "pending"
	ErasureStateErasing   ErasureState = "erasing"
	ErasureStateCompleted ErasureState = "completed"
	ErasureStateCancelled ErasureState = "cancelled"
)

// Erasure: part of the contract's bodies.
type Erasure struct {
	ID       string       `json:"id"`
	State    ErasureState `json:"state"`
	UserHash string       `json:"userHash,omitzero"`
	// ISO 8601, UTC, with milliseconds.
	RequestedAt time.Time `json:"requestedAt"`
	// ISO 8601, UTC, with milliseconds.
	DueAt time.Time `json:"dueAt"`
	// ISO 8601, UTC, with milliseconds.
	EndedAt time.Time `json:"endedAt,omitzero"`
	// How many subscriptions, values, findings, cases, devices and events were found and erased. 0 when you held nothing
	// about the person.
	Removed int `json:"removed,omitzero"`
}

// ErasurePage: part of the contract's bodies.
type ErasurePage struct {
	Erasures   []Erasure `json:"erasures"`
	Page       int       `json:"page"`
	PageSize   int       `json:"pageSize"`
	TotalItems int       `json:"totalItems"`
	HasNext    bool      `json:"hasNext"`
}

// ErasureRequest: part of the contract's bodies.
type ErasureRequest struct {
	UserHash string `json:"userHash"`
	// Why the person is erased; kept in the audit trail and the log of erasures.
	Reason string `json:"reason"`
}

// UsageRate: part of the contract's bodies.
type UsageRate struct {
	PerSecond          int `json:"perSecond"`
	Burst              int `json:"burst"`
	BulkItemsPerSecond int `json:"bulkItemsPerSecond"`
}

// Budget: part of the contract's bodies.
type Budget struct {
	Name  string `json:"name"`
	Limit int    `json:"limit"`
	Used  int    `json:"used"`
	Left  int    `json:"left"`
}

// UsageFirstLooks: First looks of new values into breaches already known. Absent at sandbox partners.
type UsageFirstLooks struct {
	// How many first looks return in an hour.
	PerHour int `json:"perHour"`
	// One for each subscription in force for 30 days or more, at most as many as return in a day anyway.
	PerDayBySubscriptions int `json:"perDayBySubscriptions"`
	Burst                 int `json:"burst"`
	// How many can be made now.
	Left int `json:"left"`
	// Values without a first look.
	Waiting int `json:"waiting"`
	// When the last of them will have had it, as things stand. Empty when none waits. While first looks are stopped, when
	// that would be if they went on now.
	Until string `json:"until"`
	// Values that have waited for more than 24 hours and are not protected yet.
	Overdue int `json:"overdue"`
	// The operator has stopped them.
	Stopped bool `json:"stopped"`
}

// RequestCount: part of the contract's bodies.
type RequestCount struct {
	Day       string `json:"day"`
	Operation string `json:"operation"`
	Requests  int    `json:"requests"`
	// Those answered with 400 and above.
	Refused int `json:"refused"`
}

// Usage: part of the contract's bodies.
type Usage struct {
	Rate                UsageRate `json:"rate"`
	Budgets             []Budget  `json:"budgets"`
	ActiveSubscriptions int       `json:"activeSubscriptions"`
	// First looks of new values into breaches already known. Absent at sandbox partners.
	FirstLooks UsageFirstLooks `json:"firstLooks,omitzero"`
	Requests   []RequestCount  `json:"requests"`
}

// NewAssets: part of the contract's bodies.
type NewAssets struct {
	// Each as the body of `POST /cyber/monitoring`. What is wrong with one is told of that one.
	Items []NewMonitoredAsset `json:"items"`
}

// NotAdded: part of the contract's bodies.
type NotAdded struct {
	// Its place in the request, from 0.
	Item  int    `json:"item"`
	Error string `json:"error"`
	// The field and the rule, in English.
	Detail string `json:"detail"`
}

// AssetsAdded: part of the contract's bodies.
type AssetsAdded struct {
	Result string `json:"result"`
	// Values that are watched now, those that were before included.
	TotalAdded    int        `json:"totalAdded"`
	TotalNotAdded int        `json:"totalNotAdded"`
	NotAdded      []NotAdded `json:"notAdded"`
}

// UserHashes: part of the contract's bodies.
type UserHashes struct {
	UserHashes []string `json:"userHashes"`
}

// PersonScore: part of the contract's bodies.
type PersonScore struct {
	// As it was sent.
	UserHash        string  `json:"userHash"`
	BreachScore     float64 `json:"breachScore,omitzero"`
	AssessmentScore float64 `json:"assessmentScore,omitzero"`
	// The field and the rule, in English.
	Detail string `json:"detail,omitzero"`
}

// RiskScores: part of the contract's bodies.
type RiskScores struct {
	Scores []PersonScore `json:"scores"`
}

// StatisticsDay: part of the contract's bodies.
type StatisticsDay struct {
	Day        string `json:"day"`
	Findings   int    `json:"findings"`
	Alerts     int    `json:"alerts"`
	Enrolments int    `json:"enrolments"`
	Cases      int    `json:"cases"`
}

// Statistics: part of the contract's bodies.
type Statistics struct {
	Days []StatisticsDay `json:"days"`
}
