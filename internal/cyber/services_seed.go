package cyber

import "context"

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
