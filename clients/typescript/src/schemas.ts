// Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.
// The shapes of the contract's requests and answers: what JSON they are, member by member.

export interface NewMonitoredAsset {
  /** The value to monitor. */
  value: string;
  type: "email" | "cpf" | "phone" | "credit_card";
  userHash: string;
}

/** `domain` appears only in listings: the operator adds domains. */
export type AssetType =
  | "email"
  | "cpf"
  | "phone"
  | "credit_card"
  | "domain";

export type AssetStatus =
  | "monitorado"
  | "alerta"
  | "comprometido";

export interface MonitoredAsset {
  id: string;
  type: AssetType;
  /** The monitored value, as it was sent. */
  value: string;
  status: AssetStatus;
}

export interface Appointment {
  /**
   * ISO 8601 date-time, extended or basic, from 1970 on; seconds may be left out. Without an offset it is Brasília
   * time.
   */
  appointment?: string;
}

/**
 * One answer. The question is named by `questionId`, `id` or `question`, its answer by `answer` or `value`; of several
 * the first that holds a text, a number, true or false counts. Other members are kept as they were sent, as is an
 * element that names no question.
 */
export interface TriageAnswer {
  questionId?: string | number | boolean | (string | number | boolean | Record<string, unknown> | null)[] | Record<string, unknown> | null;
  id?: string | number | boolean | (string | number | boolean | Record<string, unknown> | null)[] | Record<string, unknown> | null;
  question?: string | number | boolean | (string | number | boolean | Record<string, unknown> | null)[] | Record<string, unknown> | null;
  answer?: string | number | boolean | (string | number | boolean | Record<string, unknown> | null)[] | Record<string, unknown> | null;
  value?: string | number | boolean | (string | number | boolean | Record<string, unknown> | null)[] | Record<string, unknown> | null;
}

export interface NewCase {
  serviceId: string;
  userHash: string;
  /** Preferred attendance times, best first. */
  appointments?: Appointment[] | null;
  /** Answers to the service's triage questions. */
  questions?: TriageAnswer[] | null;
}

export interface Task {
  id: string;
  status: "Aberto";
  /** ISO 8601, UTC, with milliseconds. */
  creationDate: string;
  serviceId: string;
}

export interface OpenedCase {
  msg: string;
  task: Task;
}

export interface Service {
  _id: string;
  name: string;
  description: string;
}

export interface ServiceList {
  services: Service[];
}

export type OperatingSystem =
  | "android"
  | "ios"
  | "windows"
  | "macos";

export interface NewProtectionKey {
  operatingSystem: OperatingSystem;
  type: "antivirus";
  /** Friendly name of the device, 1 to 100 printable characters. Spaces at both ends are taken off. */
  deviceName: string;
  userHash: string;
}

export interface ProtectionKey {
  /** Activation key. */
  eppKey: string;
  /** ISO 8601, UTC, with milliseconds. */
  validUntil: string;
}

export interface ProtectedDevice {
  operatingSystem: OperatingSystem;
  deviceName: string;
  /** Activation key. */
  eppKey: string;
  /** ISO 8601, UTC, with milliseconds. */
  validUntil: string;
}

export interface ProtectedDeviceList {
  protectedDevices: ProtectedDevice[];
}

export interface PasswordPrefix {
  /** The first 10 characters of the SHA-1 or NTLM hash of the password, in hex, any case. */
  passwordHashPrefix: string;
}

export interface PasswordExposure {
  exposed: boolean;
  recommendations: string[];
}

export interface AnswerOption {
  value: string;
  label: string;
}

export interface Advice {
  /** Content catalogue id. */
  catalogId: string;
  /** The user hash as it was sent. */
  userId: string;
  type: "advice" | "alert" | "tip";
  title: string;
  body: string;
  validationQuestion?: string;
  deviceType: "mobile" | "desktop" | "all";
  /** There when the question has options. */
  answerOptions?: AnswerOption[];
}

export interface RiskScore {
  /** Based on data leaks; 0 is best. */
  breachScore: number;
  /** Based on assessments; 0 is best. */
  assessmentScore: number;
  recommendations: string[];
}

export interface CoverageDetails {
  plano: string;
  limiteCobertura: number;
  tipoCobertura: string[];
  condições: string;
  exclusões: string;
}

export interface Coverage {
  detalhesCobertura: CoverageDetails;
}

export interface Address {
  zipcode: string;
  street: string;
  number: string;
  complement?: string | null;
  neighborhood: string;
  city: string;
  state: "AC" | "AL" | "AP" | "AM" | "BA" | "CE" | "DF" | "ES" | "GO" | "MA" | "MT" | "MS" | "MG" | "PA" | "PB" | "PR" | "PE" | "PI" | "RJ" | "RN" | "RS" | "RO" | "RR" | "SC" | "SP" | "SE" | "TO";
}

export interface Beneficiary {
  /** Primary card number. */
  primary_card: string;
  /** User card number. */
  user_card: string;
  /** Full name. */
  name: string;
  cpf: string;
  /** ISO 8601 date, not in the future. */
  birth_date: string;
  gender: "M" | "F";
  email: string;
  /**
   * With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
   * area code are taken as Brazilian.
   */
  phone_number: string;
  address: Address;
}

export interface NewSubscription {
  /** `YYYY-MM-DD`; a full date-time is accepted and its date counts. */
  start_date: string;
  /** Not before the start; empty or null means no end date. */
  expiry_date: string | null;
  plan_id: string;
  /** True for a group subscription. */
  is_group_plan: boolean;
  /** A whole number of 50 or more, as a string (a number is accepted). Required when `is_group_plan` is true. */
  group_size?: string | number | null;
  /**
   * CNPJ of the benefit holder, capital letters allowed in its first twelve places, check digits right (not required of
   * sandbox partners). Required when `is_group_plan` is true.
   */
  benefit_holder?: string | null;
  beneficiary: Beneficiary;
  /**
   * A string that holds valid JSON, at most 8,192 bytes of UTF-8. Bytes and not characters, so no `maxLength` says it.
   */
  partner_metadata?: string | null;
  /** The partner's own reference. */
  partner_internal_id?: string | null;
}

export interface NotCreated {
  /** As it was sent, a number by its digits; empty when the item has none. */
  cpf: string;
  /** If applicable. */
  benefit_holder?: string;
  /** As it was sent; empty when the item has none. */
  plan_id: string;
  /** All errors of the item, each as `campo: regra`. */
  errors: string[];
}

export interface BulkOutcome {
  result: "success" | "partial_success" | "failure";
  total_created_items: number;
  total_not_created_items: number;
  not_created_items: NotCreated[];
}

/** The address as stored; no other member. */
export interface StoredAddress {
  zipcode: string;
  street: string;
  number: string;
  neighborhood: string;
  city: string;
  state: "AC" | "AL" | "AP" | "AM" | "BA" | "CE" | "DF" | "ES" | "GO" | "MA" | "MT" | "MS" | "MG" | "PA" | "PB" | "PR" | "PE" | "PI" | "RJ" | "RN" | "RS" | "RO" | "RR" | "SC" | "SP" | "SE" | "TO";
  complement?: string;
}

/** At least name, CPF and e-mail; other beneficiary data may be included. */
export interface ListedSubscriptionBeneficiary {
  /** Primary card number. */
  primary_card?: string;
  /** User card number. */
  user_card?: string;
  /** Full name. */
  name: string;
  cpf: string;
  /** ISO 8601 date, not in the future. */
  birth_date?: string;
  gender?: "M" | "F";
  email: string;
  /**
   * With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
   * area code are taken as Brazilian.
   */
  phone_number?: string;
  /** The address as stored; no other member. */
  address?: StoredAddress;
}

export interface ListedSubscription {
  /** Partner id. */
  partner_id: string;
  /** ISO 8601, UTC, with milliseconds. */
  start_date: string;
  /** A date-time, or the empty string where there is no end. */
  expiry_date: string;
  plan_id: string;
  /** At least name, CPF and e-mail; other beneficiary data may be included. */
  beneficiary: ListedSubscriptionBeneficiary;
}

export interface Pagination {
  page: number;
  page_size: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_previous: boolean;
}

export interface SubscriptionPage {
  data: ListedSubscription[];
  pagination: Pagination;
}

export interface SubscriptionBeneficiary {
  /** Primary card number. */
  primary_card: string;
  /** User card number. */
  user_card: string;
  /** Full name. */
  name: string;
  cpf: string;
  /** ISO 8601 date, not in the future. */
  birth_date: string;
  gender: "M" | "F";
  email: string;
  /**
   * With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with its
   * area code are taken as Brazilian.
   */
  phone_number: string;
  /** The address as stored; no other member. */
  address: StoredAddress;
}

export interface Subscription {
  /** ISO 8601, UTC, with milliseconds. */
  start_date: string;
  /** A date-time, or the empty string where there is no end. */
  expiry_date: string;
  plan_id: string;
  beneficiary: SubscriptionBeneficiary;
}

export interface BeneficiaryEditAddress {
  zipcode?: string | null;
  street?: string | null;
  number?: string | null;
  /** Empty takes it away. */
  complement?: string | null;
  neighborhood?: string | null;
  city?: string | null;
  state?: string | null;
}

/** The members to change, by the rules of an enrolment; what is missing or null stays. */
export interface BeneficiaryEdit {
  /** Primary card number. */
  primary_card?: string | null;
  /** User card number. */
  user_card?: string | null;
  /** Full name. */
  name?: string | null;
  /** Cannot be changed; the one of the subscription may be sent along. */
  cpf?: string | null;
  /** ISO 8601 date, not in the future. */
  birth_date?: string | null;
  /** `M` or `F`. */
  gender?: string | null;
  email?: string | null;
  /** With country code; the plus sign is optional. */
  phone_number?: string | null;
  address?: BeneficiaryEditAddress | null;
}

export interface SubscriptionChange {
  move?: "end" | "suspend" | "resume" | null;
  /** A date as `YYYY-MM-DD` that is not over, or empty for no end. */
  expiry_date?: string | null;
  /** Your own reference; empty takes it away. */
  partner_internal_id?: string | null;
  /** A text of JSON; empty takes it away. */
  partner_metadata?: string | null;
  beneficiary?: BeneficiaryEdit | null;
}

export interface SubscriptionState {
  subscription_id: string;
  plan_id: string;
  state: "active" | "suspended" | "ended";
  /** ISO 8601, UTC, with milliseconds. */
  start_date: string;
  /** A date-time, or the empty string where there is no end. */
  expiry_date: string;
  partner_internal_id: string;
  partner_metadata: string;
}

export interface SubscriptionMoves {
  plan_id: string;
  move: "end" | "suspend" | "resume";
  cpfs: (string | null)[];
}

export interface NotChanged {
  /** Its place in the request, from 0. */
  item: number;
  cpf: string;
  errors: string[];
}

export interface SubscriptionsMoved {
  result: "success" | "partial_success" | "failure";
  /** Those that are where the move leads, also if they were before. */
  total_changed_items: number;
  total_not_changed_items: number;
  not_changed_items: NotChanged[];
}

export interface SubscriptionEditsItems {
  /** Whose subscription it is. */
  cpf?: string | null;
  /** A date as `YYYY-MM-DD` that is not over, or empty for no end. */
  expiry_date?: string | null;
  /** Your own reference; empty takes it away. */
  partner_internal_id?: string | null;
  /** A text of JSON; empty takes it away. */
  partner_metadata?: string | null;
  beneficiary?: BeneficiaryEdit | null;
}

export interface SubscriptionEdits {
  plan_id: string;
  items: SubscriptionEditsItems[];
}

export interface SubscriptionsEditedNotChangedItems {
  /** Its place in the request, from 0. */
  item: number;
  errors: string[];
}

export interface SubscriptionsEdited {
  result: "success" | "partial_success" | "failure";
  total_changed_items: number;
  total_not_changed_items: number;
  not_changed_items: SubscriptionsEditedNotChangedItems[];
}

/** `pix_key` and `cnpj` are those of `/cyber/monitoring/extra`. */
export type WatchedType =
  | "email"
  | "cpf"
  | "phone"
  | "credit_card"
  | "domain"
  | "pix_key"
  | "cnpj";

export interface FindingBreach {
  name: string;
  title: string;
  /** Day of the breach, `YYYY-MM-DD`. */
  date: string;
  kind: "breach" | "combolist" | "stealer" | "paste" | "phish";
}

/**
 * What `exposed` is known from. `row`: it stood in the person's own records of the breach. `breach`: only what the
 * breach as a whole exposed is known.
 */
export type Basis =
  | "row"
  | "breach";

export type Severity =
  | "low"
  | "medium"
  | "high"
  | "critical";

export interface Finding {
  id: string;
  assetId: string;
  assetType: WatchedType;
  breach: FindingBreach;
  /**
   * What was exposed of this person, such as `email`, `password`, `cpf`, `phone`, `card`, `address`. With basis
   * `breach`, what the breach exposed of its people.
   */
  exposed: string[];
  basis: Basis;
  /** Hosts for which malware took credentials from the person's device. */
  sites?: string[];
  /** Last day on which it took one, `YYYY-MM-DD`. */
  takenOn?: string;
  /** True when one of the credentials is for a site of yours. Such a finding is critical. */
  ownSite?: boolean;
  /** True when one of the credentials is for a site that the operator watches for you. Critical, too. */
  watchedSite?: boolean;
  leakedAs?: string[];
  severity: Severity;
  state: "open" | "resolved";
  /** ISO 8601, UTC, with milliseconds. */
  foundAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  resolvedAt?: string;
  /** Why it does not count any more. `retracted` is the service's own, the breach was withdrawn. */
  reason?: "password_changed" | "account_closed" | "card_replaced" | "not_me" | "other" | "retracted";
}

export type ExtraType =
  | "pix_key"
  | "cnpj";

export interface NewExtraAsset {
  /** The value to monitor. */
  value: string;
  type: ExtraType;
  userHash: string;
}

export interface ExtraAsset {
  id: string;
  type: ExtraType;
  /** The monitored value, as it was sent. */
  value: string;
  status: AssetStatus;
}

export interface SubLimit {
  nome: string;
  limite: number;
}

export interface Cover {
  /** The plan; absent for the demo cover of a sandbox partner. */
  planoId?: string;
  /** The person's subscription, the partner's default plan, or the sandbox's demo cover. */
  origem: "assinatura" | "plano_padrao" | "demonstracao";
  detalhesCobertura: CoverageDetails;
  /** Parts of the limit that one kind of loss may use, in reais. */
  sublimites: SubLimit[];
  /** Days after the start of the subscription that are not covered. */
  carenciaDias: number;
  /** The first day that is covered, after the waiting period; absent where there is no subscription. */
  vigenteDesde?: string;
  /** First day of the subscription; absent where there is none. */
  inicio?: string;
  /** Last day of the subscription; absent where it has no end. */
  fim?: string;
}

export interface CoverList {
  coberturas: Cover[];
}

export interface ScorePoint {
  date: string;
  breachScore: number;
  assessmentScore: number;
}

export interface PortalRequest {
  userHash: string;
  /** The language that the page begins in; Portuguese unless it is given. The person can change it there. */
  lang?: "" | "pt-BR" | "es" | "en";
  /**
   * Where the page leads back to: an https address, at one of your own sites (or under one) where the operator has
   * noted them.
   */
  returnUrl?: string;
}

export interface PortalLink {
  /** A secret until it expires: whoever has it sees the page. */
  url: string;
  /** ISO 8601, UTC, with milliseconds. */
  expiresAt: string;
}

export type KeyEndReason =
  | "expired"
  | "revoked"
  | "moved"
  | "subscription"
  | "erased";

/** The links of all systems that have one; `linux` among them, though keys are not issued for it. */
export interface ProtectionKeyDetailInstallLinks {
  android?: string;
  ios?: string;
  linux?: string;
  macos?: string;
  windows?: string;
}

export interface ProtectionKeyDetail {
  keyId: string;
  operatingSystem: OperatingSystem;
  deviceName: string;
  /** Activation key. */
  eppKey: string;
  state: "issued" | "active" | "ended";
  /** ISO 8601, UTC, with milliseconds. */
  issuedAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  validUntil: string;
  /** ISO 8601, UTC, with milliseconds. */
  activatedAt?: string;
  /** ISO 8601, UTC, with milliseconds. */
  lastSeenAt?: string;
  /** ISO 8601, UTC, with milliseconds. */
  endedAt?: string;
  endReason?: KeyEndReason;
  /** Where the program of this system is installed from. */
  installLink?: string;
  /** The links of all systems that have one; `linux` among them, though keys are not issued for it. */
  installLinks: ProtectionKeyDetailInstallLinks;
}

/** An empty object will do from you; the vendor's signed report says both. */
export interface ProtectionKeyReport {
  /** The activation key of the path. */
  eppKey?: string | null;
  /** `activated` or `running`, as in the path. */
  report?: string | null;
}

export interface ProtectionKeyRevocation {
  userHash: string;
}

export interface ProtectionKeyMove {
  userHash: string;
  operatingSystem: OperatingSystem;
  /** Friendly name of the new device. */
  deviceName: string;
}

export interface MovedProtectionKey {
  keyId: string;
  /** Activation key. */
  eppKey: string;
  /** ISO 8601, UTC, with milliseconds. */
  validUntil: string;
}

export interface Question {
  id: string;
  question: string;
  /** A case cannot be opened without an answer. */
  required: boolean;
  /** The answers to choose from; empty for any. */
  options: string[];
}

export interface ServiceDetail {
  _id: string;
  name: string;
  description: string;
  questions: Question[];
  slots: string[];
}

export type CaseStatus =
  | "Aberto"
  | "Em andamento"
  | "Aguardando cliente"
  | "Resolvido"
  | "Fechado"
  | "Cancelado";

export interface CaseItem {
  id: string;
  status: CaseStatus;
  /** ISO 8601, UTC, with milliseconds. */
  creationDate: string;
  serviceId: string;
  /** ISO 8601, UTC, with milliseconds. */
  changedAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  appointment?: string;
  rating?: number;
}

export interface CaseLine {
  /** ISO 8601, UTC, with milliseconds. */
  at: string;
  type: "status" | "message" | "attachment" | "appointment" | "rating";
  from: "person" | "support";
  status?: CaseStatus;
  /** What was written: the message, the attachment, a comment, a reason. */
  text?: string;
  /** Of an attachment. */
  name?: string;
}

export interface CaseDetail {
  id: string;
  status: CaseStatus;
  /** ISO 8601, UTC, with milliseconds. */
  creationDate: string;
  serviceId: string;
  /** ISO 8601, UTC, with milliseconds. */
  changedAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  appointment?: string;
  rating?: number;
  /** As they were sent. */
  appointments: Appointment[];
  /** As they were sent. */
  questions: TriageAnswer[];
  history: CaseLine[];
}

export interface CaseMessageAttachment {
  name: string;
  text: string;
}

export interface CaseMessage {
  userHash: string;
  /** No control characters but line breaks. */
  text: string;
  attachment?: CaseMessageAttachment | null;
}

export interface CaseCancellation {
  userHash: string;
  reason?: string;
}

export interface CaseRebooking {
  userHash: string;
  /** Wished times, best first; at least one element has a time. */
  appointments: Appointment[];
}

export interface CaseRating {
  userHash: string;
  rating: number;
  comment?: string;
}

export type Language =
  | "pt-BR"
  | "es"
  | "en";

export type StepState =
  | "todo"
  | "done"
  | "skipped";

export interface PlanStep {
  id: string;
  what: string;
  why: string;
  /** The official page where it is done. */
  link?: string;
  /** How long it takes. */
  minutes: number;
  /** Whether it mends what leaked: without it the finding is not solved. */
  essential: boolean;
  /** ISO 8601, UTC, with milliseconds. */
  dueAt: string;
  state: StepState;
  /** ISO 8601, UTC, with milliseconds. */
  markedAt?: string;
}

export interface FindingPlan {
  findingId: string;
  state: "open" | "resolved";
  language: "pt-BR" | "es" | "en";
  /** How many steps are left before a re-check resolves the finding. */
  remaining: number;
  steps: PlanStep[];
}

export interface StepMark {
  userHash: string;
  state: StepState;
}

export interface Recheck {
  userHash: string;
}

export interface Rechecked {
  findingId: string;
  state: "open" | "resolved";
  /** Why a resolved one does not count any more. */
  reason?: "password_changed" | "account_closed" | "card_replaced" | "not_me" | "other" | "retracted";
  status: AssetStatus;
  /** Steps that are left. */
  remaining: string[];
}

export type ResolutionReason =
  | "password_changed"
  | "account_closed"
  | "card_replaced"
  | "not_me"
  | "other";

export interface Resolution {
  userHash: string;
  reason: ResolutionReason;
}

export interface Credential {
  userHash: string;
  /** The first 10 characters of the SHA-1 hash of the password, in hex, any case. */
  passwordHashPrefix: string;
}

export interface Answer {
  catalogId: string;
  /** One of the `value`s of `answerOptions`. */
  value: string;
}

/** What a WhatsApp message is sent by. */
export interface EventMessageTemplate {
  name: string;
  language: "pt_BR" | "es" | "en";
  /** The text to register, with {{1}}, {{2}} and so on. */
  body: string;
  parameters: string[];
}

export interface EventMessage {
  /** Type of the event. */
  type: string;
  channel: "email" | "sms" | "whatsapp" | "push";
  lang: "pt-BR" | "es" | "en";
  /** Subject of an e-mail, title of a push. */
  subject?: string;
  text: string;
  /** The text of an e-mail once more, as a page that fetches nothing. */
  html?: string;
  /** What a WhatsApp message is sent by. */
  template?: EventMessageTemplate;
}

export interface DetectedFinding {
  id: string;
  assetId: string;
  assetType: WatchedType;
  status: AssetStatus;
  /** Name of the breach. */
  breach: string;
  severity: Severity;
  /** As in Finding. */
  exposed: string[];
  basis: Basis;
  /** As in Finding. */
  ownSite?: boolean;
  /** As in Finding. */
  watchedSite?: boolean;
  leakedAs?: string[];
}

export interface LeakDetectedData {
  userHash: string;
  findings: DetectedFinding[];
}

export interface LeakDetected {
  type: "monitoring.leak_detected";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: LeakDetectedData;
}

export interface MonitoringStatusChangedData {
  userHash: string;
  assetId: string;
  assetType: WatchedType;
  previousStatus: AssetStatus;
  status: AssetStatus;
}

export interface MonitoringStatusChanged {
  type: "monitoring.status_changed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: MonitoringStatusChangedData;
}

export interface FirstLooksChangedData {
  state: "running" | "waiting" | "stopped";
  /**
   * `operator` stopped them or lets them go on; `tokens`, more values were added than first looks allow; `caught_up`,
   * no value has waited for long any more.
   */
  reason: "operator" | "tokens" | "caught_up";
  /** Values without a first look. */
  waiting: number;
  /** How many first looks return in an hour. */
  perHour: number;
}

export interface FirstLooksChanged {
  type: "monitoring.first_looks_changed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: FirstLooksChangedData;
}

export interface DueStep {
  findingId: string;
  /** Name of the breach. */
  breach: string;
  step: string;
  /** As in PlanStep. */
  essential: boolean;
  /** ISO 8601, UTC, with milliseconds. */
  dueAt: string;
}

export interface FindingStepDueData {
  userHash: string;
  steps: DueStep[];
}

export interface FindingStepDue {
  type: "finding.step_due";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: FindingStepDueData;
}

export interface CaseStatusChangedData {
  userHash: string;
  caseId: string;
  serviceId: string;
  previousStatus: CaseStatus;
  status: CaseStatus;
}

export interface CaseStatusChanged {
  type: "case.status_changed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: CaseStatusChangedData;
}

export interface CaseMessageAddedData {
  userHash: string;
  caseId: string;
  serviceId: string;
  from: "support" | "person";
}

export interface CaseMessageAdded {
  type: "case.message_added";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: CaseMessageAddedData;
}

export interface CaseAppointmentChangedData {
  userHash: string;
  caseId: string;
  serviceId: string;
  /** ISO 8601, UTC, with milliseconds. */
  appointment: string;
}

export interface CaseAppointmentChanged {
  type: "case.appointment_changed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: CaseAppointmentChangedData;
}

export interface CaseRatedData {
  userHash: string;
  caseId: string;
  serviceId: string;
  rating: number;
}

export interface CaseRated {
  type: "case.rated";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: CaseRatedData;
}

export interface KeyExpiringData {
  userHash: string;
  keyId: string;
  operatingSystem: OperatingSystem;
  /** ISO 8601, UTC, with milliseconds. */
  validUntil: string;
}

export interface KeyExpiring {
  type: "epp.key_expiring";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: KeyExpiringData;
}

export interface KeyActivatedData {
  userHash: string;
  keyId: string;
  operatingSystem: OperatingSystem;
  /** ISO 8601, UTC, with milliseconds. */
  activatedAt: string;
}

export interface KeyActivated {
  type: "epp.key_activated";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: KeyActivatedData;
}

export interface KeyEndedData {
  userHash?: string;
  keyId: string;
  operatingSystem: OperatingSystem;
  reason: KeyEndReason;
  /** ISO 8601, UTC, with milliseconds. */
  endedAt: string;
  movedTo?: string;
}

export interface KeyEnded {
  type: "epp.key_ended";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: KeyEndedData;
}

export interface SubscriptionChangedData {
  userHash: string;
  /** The same in every event of one subscription; a later one to the same plan has another. */
  subscriptionId: string;
  planId: string;
  /** The `partner_internal_id` of the enrolment, where one was given. */
  partnerInternalId?: string;
}

export interface SubscriptionChanged {
  type: "subscription.ended" | "subscription.suspended" | "subscription.resumed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionChangedData;
}

export interface ErasureRequestedData {
  userHash: string;
  erasureId: string;
  /** ISO 8601, UTC, with milliseconds. */
  dueAt: string;
}

export interface ErasureRequested {
  type: "erasure.requested";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: ErasureRequestedData;
}

export interface ErasureCancelledData {
  userHash: string;
  erasureId: string;
}

export interface ErasureCancelled {
  type: "erasure.cancelled";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: ErasureCancelledData;
}

export interface ErasureCompletedData {
  erasureId: string;
  /** How many records were erased. */
  removed: number;
}

export interface ErasureCompleted {
  type: "erasure.completed";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: ErasureCompletedData;
}

export interface WebhookTestData {
  /** Only in `GET /events`: the type of the made-up event that was pushed in place of this one, which has its id. */
  sampleOf?: string;
}

export interface WebhookTest {
  type: "webhook.test";
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string;
  data: WebhookTestData;
}

/** The body that is pushed. */
export type EventBody =
  | LeakDetected
  | MonitoringStatusChanged
  | FirstLooksChanged
  | FindingStepDue
  | CaseStatusChanged
  | CaseMessageAdded
  | CaseAppointmentChanged
  | CaseRated
  | KeyExpiring
  | KeyActivated
  | KeyEnded
  | SubscriptionChanged
  | ErasureRequested
  | ErasureCancelled
  | ErasureCompleted
  | WebhookTest;

export interface Event {
  /** The `webhook-id` of the event. */
  id: string;
  /** The body that is pushed. */
  body: EventBody;
}

export interface EventPage {
  events: Event[];
  /** Cursor to pass as `after`; empty while the partner has no event at all. */
  next: string;
  /** Whether more events are waiting after these. */
  hasMore: boolean;
}

export interface BreachFacts {
  name: string;
  title: string;
  /** Day of the breach, `YYYY-MM-DD`. */
  date: string;
  kind: "breach" | "combolist" | "stealer" | "paste" | "phish";
  description: string;
  /** What it exposed of its people. */
  exposes: string[];
  /** Somebody made sure that it is genuine. */
  verified: boolean;
  /** Known to be made up. */
  fabricated: boolean;
  /** Gathered for spam; it says little about any account. */
  spamList: boolean;
  /** ISO 8601, UTC, with milliseconds. */
  addedAt: string;
}

export interface BreachPage {
  breaches: BreachFacts[];
  page: number;
  pageSize: number;
  totalItems: number;
  hasNext: boolean;
}

export type EventType =
  | "monitoring.leak_detected"
  | "monitoring.status_changed"
  | "monitoring.first_looks_changed"
  | "case.status_changed"
  | "case.message_added"
  | "case.appointment_changed"
  | "case.rated"
  | "epp.key_expiring"
  | "epp.key_activated"
  | "epp.key_ended"
  | "finding.step_due"
  | "subscription.ended"
  | "subscription.suspended"
  | "subscription.resumed"
  | "erasure.requested"
  | "erasure.cancelled"
  | "erasure.completed"
  | "webhook.test";

/**
 * Why it is paused. `asked`: you or the operator paused it. `gone`: the receiver answered 410. `failing`: nothing but
 * failures for five days.
 */
export type PauseReason =
  | "asked"
  | "gone"
  | "failing";

export interface Webhook {
  id: string;
  /** Without its query. */
  url: string;
  /** What it wants; empty for all. */
  types: EventType[];
  state: "enabled" | "paused";
  reason?: PauseReason;
  /** ISO 8601, UTC, with milliseconds. */
  failingSince?: string;
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
}

export interface NewWebhook {
  /** An `https` address; printable ASCII. */
  url: string;
  types?: EventType[] | null;
}

export interface WebhookSecret {
  id: string;
  /** Without its query. */
  url: string;
  /** What it wants; empty for all. */
  types: EventType[];
  state: "enabled" | "paused";
  reason?: PauseReason;
  /** ISO 8601, UTC, with milliseconds. */
  failingSince?: string;
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** Verifies `v1` signatures. Shown once. */
  secret: string;
  /** Verify `v1a` signatures, newest first. */
  publicKeys: string[];
}

export interface WebhookTry {
  delivered: boolean;
  /** The receiver's HTTP status; 0 without an answer. */
  status: number;
  /** Why there was no answer: `dns`, `connect`, `tls`, `timeout`, `address` and the like. */
  failure?: string;
  tookMs: number;
  /** ISO 8601, UTC, with milliseconds. */
  at?: string;
  eventId?: string;
}

export interface WebhookDetailHealth {
  delivered: number;
  failed: number;
  /** In percent. */
  successRate?: number;
  /** From the event to its arrival, on average; 0 before the first. */
  meanMs: number;
  /** What waits to be sent, also while the webhook is paused; up to 100,000. */
  backlog: number;
  lastTry?: WebhookTry;
}

export interface WebhookDetail {
  id: string;
  /** Without its query. */
  url: string;
  /** What it wants; empty for all. */
  types: EventType[];
  state: "enabled" | "paused";
  reason?: PauseReason;
  /** ISO 8601, UTC, with milliseconds. */
  failingSince?: string;
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** Verify `v1a` signatures, newest first. */
  publicKeys: string[];
  health: WebhookDetailHealth;
}

export interface WebhookStateChange {
  state: "enabled" | "paused";
}

export interface WebhookRotation {
  overlapHours: number;
}

export interface WebhookTestRequest {
  type: EventType;
}

export interface SandboxClock {
  /** How many days pass. */
  days: number;
}

export interface WebhookReplay {
  /** Id of one event. */
  event?: string | null;
  /** Events from this date-time on, such as `2026-01-31T03:00:00Z`. */
  from?: string | null;
  /** And before this one. */
  to?: string | null;
  /** All deliveries whose tries are used up. */
  failed?: boolean | null;
}

export interface WebhookReplayed {
  deliveries: number;
}

export type Scope =
  | "cyber"
  | "cyber:read"
  | "subscriptions"
  | "subscriptions:read"
  | "credentials"
  | "manage"
  | "manage:read"
  | "privacy";

export interface Key {
  id: string;
  label: string;
  /** How the key begins. */
  starts: string;
  scopes: Scope[];
  state: "live" | "expired" | "revoked";
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  expiresAt?: string;
  /** ISO 8601, UTC, with milliseconds. */
  revokedAt?: string;
  /** The key that made it; absent where a person did. */
  madeBy?: string;
  /** The key of this request. */
  calling: boolean;
}

export interface NewKey {
  /** What the key is for. */
  label?: string | null;
  /** Names of scopes, each covered by the calling key. */
  scopes: string[];
  /**
   * A date-time in the future, such as `2027-01-31T03:00:00Z`; without it the key lives as long as the calling one.
   */
  expiresAt?: string | null;
}

export interface MadeKey {
  id: string;
  label: string;
  /** How the key begins. */
  starts: string;
  scopes: Scope[];
  state: "live" | "expired" | "revoked";
  /** ISO 8601, UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  expiresAt?: string;
  /** ISO 8601, UTC, with milliseconds. */
  revokedAt?: string;
  /** The key that made it; absent where a person did. */
  madeBy?: string;
  /** The key of this request. */
  calling: boolean;
  /** What to send as `x-api-key`. Shown once. */
  apiKey: string;
}

export interface KeyRolling {
  graceHours: number;
}

/** `pending` can be cancelled. `erasing` has begun. `completed` and `cancelled` are over. */
export type ErasureState =
  | "pending"
  | "erasing"
  | "completed"
  | "cancelled";

export interface Erasure {
  id: string;
  state: ErasureState;
  userHash?: string;
  /** ISO 8601, UTC, with milliseconds. */
  requestedAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  dueAt: string;
  /** ISO 8601, UTC, with milliseconds. */
  endedAt?: string;
  /**
   * How many subscriptions, values, findings, cases, devices and events were found and erased. 0 when you held nothing
   * about the person.
   */
  removed?: number;
}

export interface ErasurePage {
  erasures: Erasure[];
  page: number;
  pageSize: number;
  totalItems: number;
  hasNext: boolean;
}

export interface ErasureRequest {
  userHash: string;
  /** Why the person is erased; kept in the audit trail and the log of erasures. */
  reason: string;
}

export interface UsageRate {
  perSecond: number;
  burst: number;
  bulkItemsPerSecond: number;
}

export interface Budget {
  name: "webhooks" | "keys";
  limit: number;
  used: number;
  left: number;
}

/** First looks of new values into breaches already known. Absent at sandbox partners. */
export interface UsageFirstLooks {
  /** How many first looks return in an hour. */
  perHour: number;
  /** One for each subscription in force for 30 days or more, at most as many as return in a day anyway. */
  perDayBySubscriptions: number;
  burst: number;
  /** How many can be made now. */
  left: number;
  /** Values without a first look. */
  waiting: number;
  /**
   * When the last of them will have had it, as things stand. Empty when none waits. While first looks are stopped, when
   * that would be if they went on now.
   */
  until: string;
  /** Values that have waited for more than 24 hours and are not protected yet. */
  overdue: number;
  /** The operator has stopped them. */
  stopped: boolean;
}

export interface RequestCount {
  day: string;
  operation: string;
  requests: number;
  /** Those answered with 400 and above. */
  refused: number;
}

export interface Usage {
  rate: UsageRate;
  budgets: Budget[];
  activeSubscriptions: number;
  /** First looks of new values into breaches already known. Absent at sandbox partners. */
  firstLooks?: UsageFirstLooks;
  requests: RequestCount[];
}

export interface NewAssets {
  /** Each as the body of `POST /cyber/monitoring`. What is wrong with one is told of that one. */
  items: NewMonitoredAsset[];
}

export interface NotAdded {
  /** Its place in the request, from 0. */
  item: number;
  error: string;
  /** The field and the rule, in English. */
  detail: string;
}

export interface AssetsAdded {
  result: "success" | "partial_success" | "failure";
  /** Values that are watched now, those that were before included. */
  totalAdded: number;
  totalNotAdded: number;
  notAdded: NotAdded[];
}

export interface UserHashes {
  userHashes: (string | null)[];
}

export interface PersonScore {
  /** As it was sent. */
  userHash: string;
  breachScore?: number;
  assessmentScore?: number;
  /** The field and the rule, in English. */
  detail?: string;
}

export interface RiskScores {
  scores: PersonScore[];
}

export interface StatisticsDay {
  day: string;
  findings: number;
  alerts: number;
  enrolments: number;
  cases: number;
}

export interface Statistics {
  days: StatisticsDay[];
}
