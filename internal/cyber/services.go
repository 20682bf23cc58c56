// Package cyber holds the rules of the /cyber area: what a partner may ask for a person, and what the answer is.
//
// Its files are named after the path segments of the API. It knows neither HTTP nor SQL nor any sentence a partner
// reads, and it declares the small interfaces that the store fulfils.
package cyber

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vigiahq/vigia/internal/partner"
	"github.com/vigiahq/vigia/internal/platform/fault"
)

// ServiceID names a support service.
type ServiceID string

// Service is something a person can get help with. The catalogue is the operator's and the same for every partner.
type Service struct {
	ID          ServiceID
	Name        string
	Description string
	// Position orders the catalogue.
	Position int64
	// Retired services are not offered any more; cases opened for them keep their name.
	Retired   bool
	CreatedAt time.Time
}

// Faults of the service catalogue.
var (
	ErrServiceNotFound = fault.New(fault.NotFound, "service.not_found")
	ErrServiceInvalid  = fault.New(fault.Invalid, "service.invalid")
)

// ServiceStore keeps the catalogue.
type ServiceStore interface {
	// ListServices returns the catalogue in order, retired services too.
	ListServices(ctx context.Context) ([]Service, error)
	InsertService(ctx context.Context, s Service) error
	UpdateService(ctx context.Context, id ServiceID, change func(*Service) error) (Service, error)
	// SeedServices keeps the list if the catalogue has never had an entry.
	SeedServices(ctx context.Context, list []Service) error
}

// Services is the catalogue of support services.
type Services struct {
	store ServiceStore
	now   func() time.Time
	cache *offeredServices
}

// offeredServices is what was read last, shared by all who were made of one Services.
type offeredServices struct {
	mu     sync.Mutex
	cached []Service
	until  time.Time
}

// offeredFor is how long a list of services is answered from memory: a change by the operator shows within this time.
const offeredFor = 2 * time.Second

// NewServices joins the rules to a store and a clock.
func NewServices(store ServiceStore, now func() time.Time) *Services {
	return &Services{store: store, now: now, cache: &offeredServices{}}
}

// WithStore returns the same catalogue over another store: inside a transaction.
func (s *Services) WithStore(store ServiceStore) *Services {
	inside := *s
	inside.store = store
	return &inside
}

// ListOffered returns the services that cases can be opened for, in order. The list is shared: do not change it.
func (s *Services) ListOffered(ctx context.Context) ([]Service, error) {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock() // held while reading, so that an expired list is read once and not by every request
	now := s.now()
	if now.Before(c.until) {
		return c.cached, nil
	}
	all, err := s.store.ListServices(ctx)
	if err != nil {
		return nil, fmt.Errorf("list services: %w", err)
	}
	offered := make([]Service, 0, len(all))
	for _, sv := range all {
		if !sv.Retired {
			offered = append(offered, sv)
		}
	}
	c.cached, c.until = offered, now.Add(offeredFor)
	return offered, nil
}

// ListServices returns the whole catalogue, for the operator.
func (s *Services) ListServices(ctx context.Context) ([]Service, error) {
	return s.store.ListServices(ctx)
}

// AddService puts a service at the end of the catalogue.
func (s *Services) AddService(ctx context.Context, name, description string) (Service, error) {
	now := s.now()
	sv := Service{
		ID:          ServiceID("sv_" + uuid.Must(uuid.NewV7()).String()),
		Name:        name,
		Description: description,
		Position:    now.UnixMicro(),
		CreatedAt:   now,
	}
	if err := sv.checkService(); err != nil {
		return Service{}, err
	}
	if err := s.store.InsertService(ctx, sv); err != nil {
		return Service{}, fmt.Errorf("add service: %w", err)
	}
	s.forgetOffered()
	return sv, nil
}

// EditService changes a service's name, description or place.
func (s *Services) EditService(ctx context.Context, id ServiceID, edit func(*Service)) (Service, error) {
	sv, err := s.store.UpdateService(ctx, id, func(sv *Service) error {
		before := *sv
		edit(sv)
		sv.ID, sv.CreatedAt = before.ID, before.CreatedAt
		return sv.checkService()
	})
	s.forgetOffered()
	return sv, err
}

// RetireService takes a service out of the offer.
func (s *Services) RetireService(ctx context.Context, id ServiceID) (Service, error) {
	return s.EditService(ctx, id, func(sv *Service) { sv.Retired = true })
}

// forgetOffered has the next caller read the catalogue again.
func (s *Services) forgetOffered() {
	s.cache.mu.Lock()
	s.cache.until = time.Time{}
	s.cache.mu.Unlock()
}

// checkService refuses a service without a name or with texts that are too long.
func (sv *Service) checkService() error {
	sv.Name, sv.Description = strings.TrimSpace(sv.Name), strings.TrimSpace(sv.Description)
	return errors.Join(
		fault.When(!partner.IsPrintableLine(sv.Name, 1, 120), ErrServiceInvalid.With("name", fault.PlainLength, 120)),
		fault.When(
			!partner.Paragraphs(sv.Description, 1, 1000),
			ErrServiceInvalid.With("description", fault.TextLength, 1000),
		),
	)
}

// SeedServices fills an empty catalogue on first start.
func (s *Services) SeedServices(ctx context.Context) error {
	list := make([]Service, 0, len(firstServices))
	for i, f := range firstServices {
		list = append(
			list,
			Service{ID: f.id, Name: f.name, Description: f.description, Position: int64(i + 1), CreatedAt: s.now()},
		)
	}
	return s.store.SeedServices(ctx, list)
}

// firstServices is the catalogue that a new installation starts with. Its ids are fixed, so that documentation and
// tests can name them; what the operator adds gets random ones.
var firstServices = []struct {
	id                ServiceID
	name, description string
}{
	{
		"sv_configuracao_celular",
		"Configuração segura do celular",
		"Um especialista orienta o bloqueio de tela, a biometria, as permissões dos aplicativos, a cópia de " +
			"segurança e o rastreamento do aparelho em caso de perda ou roubo.",
	},
	{
		"sv_ajuda_phishing",
		"Ajuda com golpes e phishing",
		"Recebeu uma mensagem, ligação ou link suspeito? Analisamos o conteúdo com você e, se houve clique ou envio " +
			"de dados, indicamos o que fazer na ordem certa.",
	},
	{
		"sv_recuperacao_conta",
		"Recuperação de contas invadidas",
		"Acompanhamento passo a passo para retomar contas de e-mail, redes sociais e aplicativos de mensagem, " +
			"encerrar sessões estranhas e impedir que a invasão se repita.",
	},
	{
		"sv_verificacao_duas_etapas",
		"Ativação da verificação em duas etapas",
		"Ativamos com você a segunda etapa de acesso nas contas mais importantes e guardamos os códigos de " +
			"recuperação de forma segura.",
	},
	{
		"sv_gerenciador_senhas",
		"Organização de senhas",
		"Instalação e uso de um gerenciador de senhas, troca das senhas repetidas ou vazadas e criação de uma senha " +
			"mestra forte e fácil de lembrar.",
	},
	{
		"sv_remocao_virus",
		"Remoção de vírus e programas maliciosos",
		"Verificação remota do computador ou celular, remoção de programas indesejados e revisão das configurações " +
			"que permitiram a infecção.",
	},
	{
		"sv_apoio_vazamento",
		"Apoio após vazamento de dados",
		"Explicamos o que foi exposto, quais riscos isso traz e quais medidas tomar: senhas, cartões, consulta ao " +
			"Registrato do Banco Central e boletim de ocorrência.",
	},
	{
		"sv_protecao_familia",
		"Proteção digital da família",
		"Orientação sobre controle parental, privacidade de crianças e adolescentes, uso seguro de jogos e cuidados " +
			"com golpes contra pessoas idosas.",
	},
	{
		"sv_rede_domestica",
		"Segurança da rede Wi-Fi de casa",
		"Troca da senha do roteador, atualização do equipamento, criação de rede para visitas e revisão dos " +
			"aparelhos conectados.",
	},
	{
		"sv_compra_segura",
		"Orientação para compras e Pix seguros",
		"Antes de pagar, verificamos com você o site, o vendedor e a chave Pix; depois de um golpe, ajudamos a " +
			"acionar o banco e o Mecanismo Especial de Devolução.",
	},
}
