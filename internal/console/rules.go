package console

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rules are the rules that refusals name, in the operators' language. A rule is written beside its field by whoever refuses,
// in the plain English of the source; what is to the left of a colon there is the field's name and not part of the rule. A
// number or a name in the rule is put where the sentence has %s.
var rules = map[string]string{
	// Numbers, texts and times.
	"a whole number": "Escreva um número inteiro, como 10.",
	"a whole number, or nothing for the default":  "Escreva um número inteiro, ou deixe vazio para usar o padrão.",
	"a number, 0 for no target":                   "Escreva quantas horas, como 8 ou 1,5; 0 é sem prazo.",
	"a date such as 24/12/2026":                   "Escreva a data como 24/12/2026.",
	"a date and a time, such as 24/12/2026 15:00": "Escreva a data e a hora como 24/12/2026 15:00.",
	"an amount such as 50.000 or 50.000,50":       "Escreva um valor em reais, como R$ 50.000,00.",
	"one a line, such as 24/12/2026 15:00":        "Escreva um horário por linha, como 24/12/2026 15:00.",
	"1 to %d printable characters":                "De 1 a %s caracteres, sem caracteres invisíveis.",
	"at most %d printable characters":             "No máximo %s caracteres, sem caracteres invisíveis.",
	"1 to %d characters":                          "De 1 a %s caracteres.",
	"1 to 60 characters":                          "De 1 a 60 caracteres.",
	"1 to %d lines":                               "Escolha de 1 a %s linhas.",
	"nothing fits any more":                       "Nenhuma linha corresponde mais ao filtro.",
	"one of the list":                             "Escolha uma opção da lista.",
	"%d people":                                   "O valor é de %s pessoas. Escolha também o parceiro.",
	"must be more than words of this service and of the e-mail address": "A senha precisa ser mais do que palavras deste serviço e do seu e-mail.",
	"%d to %d characters":                                                                              "De %s a %s caracteres.",
	"1 to %d characters, no control characters":                                                        "De 1 a %s caracteres, sem caracteres invisíveis.",
	"at most %d characters, no control characters":                                                     "No máximo %s caracteres, sem caracteres invisíveis.",
	"1 to 120 characters, no control characters":                                                       "De 1 a 120 caracteres, sem caracteres invisíveis.",
	"1 to 200 characters, no control characters":                                                       "De 1 a 200 caracteres, sem caracteres invisíveis.",
	"1 to 100 characters, no control characters":                                                       "De 1 a 100 caracteres, sem caracteres invisíveis.",
	"1 to 300 characters, no control characters":                                                       "De 1 a 300 caracteres, sem caracteres invisíveis.",
	"1 to 1000 characters, no control characters but line breaks":                                      "De 1 a 1.000 caracteres.",
	"1 to %d characters, no control characters but line breaks":                                        "De 1 a %s caracteres.",
	"at most %d characters, no control characters but line breaks":                                     "No máximo %s caracteres.",
	"at most 255 characters":                                                                           "No máximo 255 caracteres.",
	"at most 500 characters; description: at most 4000; no control characters":                         "No máximo 500 caracteres na origem e 4.000 na descrição.",
	"not %s, which is a path of its own":                                                               "Não pode ser %s, que é um caminho da API.",
	"each value can be asked about %d times a day":                                                     "Cada dado pode ser consultado %s vezes por dia.",
	"values can be asked about 24 hours after they were added, or at once if the enrolment names them": "Um dado pode ser consultado 24 horas depois de incluído, ou na hora se está no cadastro.",
	"neither . nor .., which no path can carry":                                                        "Não pode ser um ponto nem dois pontos seguidos.",
	"lower-case words joined by hyphens, at most %d characters":                                        "Palavras em minúsculas unidas por hífen, no máximo %s caracteres.",
	"1 to 40 of a-z, 0-9, '-', '_' and '.'":                                                            "De 1 a 40 caracteres: letras minúsculas sem acento, números, - _ e ponto.",
	"1 to 80 of a-z, 0-9, '-', '_' and single '.', beginning with a letter or digit":                   "De 1 a 80 caracteres: letras minúsculas sem acento, números, - _ e ponto; começa com letra ou número.",

	// Partners, keys and plans.
	"0 (default) to 1000000 requests a second":                  "De 0 (padrão) a 1.000.000 de chamadas por segundo.",
	"0 (default) to 1000000 requests":                           "De 0 (padrão) a 1.000.000 de chamadas.",
	"0 (default) to 1000000000":                                 "De 0 (padrão) a 1.000.000.000.",
	"0 to 1000000000":                                           "De 0 a 1.000.000.000.",
	"a host such as banco.com.br, without scheme, port or path": "Escreva só o domínio, como banco.com.br.",
	"at most %d":               "No máximo %s.",
	"a colour such as #0b57a4": "Escreva a cor como #0b57a4.",
	"its contrast is %s to 1 on the %s, and people need at least 4.5 to 1 to read it (WCAG 2.2, 1.4.3, level AA)": "O contraste é de %s para 1; para ser lida, a cor precisa de ao menos 4,5 para 1 (WCAG 2.2, nível AA).",
	"at most %d characters each, no control characters but line breaks":                                           "No máximo %s caracteres em cada texto.",
	"an origin such as https://app.banco.com.br, without path":                                                    "Escreva o endereço como https://app.banco.com.br, sem nada depois.",
	"a file of at most %d KiB": "Um arquivo de no máximo %s KiB.",
	"a PNG or JPEG picture":    "Uma imagem PNG ou JPEG.",
	"at most %d by %d dots":    "No máximo %s por %s pontos.",
	"%d KiB as a PNG, and at most %d KiB, for phones on slow lines (fewer dots or fewer colours)": "Ficou com %s KiB como PNG; o máximo é %s KiB, para celulares em redes lentas. Use menos pontos ou menos cores.",
	"nothing is held about this person":                                "Nada é mantido sobre esta pessoa.",
	"an https address without user or password, at most %d characters": "Um endereço https, sem usuário nem senha, de no máximo %s caracteres.",
	"at one of the partner's own sites, or under one":                  "Um endereço de um dos sites do parceiro.",
	"1 to 3660, or nothing for no end":                                 "De 1 a 3.660 dias, ou vazio para não vencer.",
	"0 to 168":                                                         "De 0 a 168 horas.",
	"0 to %d hours":                                                    "De 0 a %s horas.",
	"must be in the future":                                            "Escolha um momento no futuro.",
	"not a live key of this partner":                                   "Esta chave já não vale, ou não é deste parceiro.",
	"unknown scope; known are cyber, cyber:read, subscriptions, subscriptions:read, credentials, manage, manage:read": "Escolha ao menos uma permissão da lista.",
	"-1 (none), 0 (no limit) to %d":                        "-1 (nenhum), 0 (sem limite) ou até %s.",
	"0 (default, %d) to %d":                                "De 0 (padrão, %s) a %s.",
	"a number of reais with at most two decimals, 0 to %d": "Um valor em reais, de 0 a %s.",
	"0 to %d days":                                         "De 0 a %s dias.",
	"0 to %d reais":                                        "De R$ 0 a R$ %s.",
	"a name of 1 to %d characters and a limit within limiteCobertura": "Em cada linha, um nome de 1 a %s caracteres, dois pontos e um valor que caiba no limite.",
	"each 1 to %d characters, no control characters":                  "Cada linha com 1 a %s caracteres.",
	"at most %d entries in a list":                                    "No máximo %s linhas.",
	"expected a JSON object with plano, limiteCobertura, tipoCobertura, condições, exclusões and, if any, sublimites and carenciaDias": "Um objeto JSON com os campos da cobertura.",

	"no more than the calling key has; it lacks %s":          "A chave que pede não tem a permissão %s.",
	"name at least one":                                      "Escolha ao menos uma.",
	"at most %d in force":                                    "No máximo %s em vigor.",
	"must be true to revoke the key that this request shows": "Confirme que quer revogar a própria chave.",
	"no such breach is published":                            "Nenhum vazamento publicado tem este nome.",
	"%s shows people in clear; an administrator of the partner, or the operator, gives it": "A permissão %s mostra dados de pessoas: quem a dá é um administrador do parceiro ou o operador.",
	"%s is the operator's to give; no key in force has it":                                 "Só o operador pode dar a permissão %s: nenhuma chave em vigor a tem.",

	// People and what is watched.
	"one of todo, done, skipped":                          "Escolha feito, dispensado ou a fazer.",
	"one of pt-BR, es, en":                                "Escolha português, espanhol ou inglês.",
	"not in the plan of this finding":                     "Este passo não faz parte do plano desta ocorrência.",
	"the finding is resolved, its steps stay as they are": "A ocorrência já foi resolvida: os passos ficam como estão.",
	"give a CPF, or a user hash with its partner":         "Informe o CPF, ou o userHash junto com o parceiro.",
	"means something only together with a partner":        "Escolha também o parceiro: o userHash só vale com ele.",
	"eleven digits, with or without dots and dash":        "Onze números, com ou sem pontos e traço, como 000.000.000-00.",
	"eleven digits":                                       "Onze números.",
	"1 to 1000 characters; it is kept with the erasure":   "De 1 a 1.000 caracteres: o motivo fica guardado com o pedido.",
	"say why the values have to be seen in clear":         "Escreva por que os valores precisam aparecer em claro.",
	"type %s":                                                "Digite %s para confirmar.",
	"give a breach, or a window of time":                     "Informe um vazamento, ou uma janela de tempo.",
	"the window ends before it begins":                       "A janela termina antes de começar.",
	"from must be before to":                                 "O início tem de vir antes do fim.",
	"give one event, a window, or all failed":                "Escolha um evento, uma janela de tempo ou todas as falhas.",
	"give a plan and a CPF, or the CNPJ of a benefit holder": "Informe um plano e um CPF, ou o CNPJ da empresa que paga.",
	"a CNPJ of fourteen characters without punctuation":      "Um CNPJ, como 12.ABC.345/01DE-35.",
	"no subscription that has not ended matches":             "Nenhuma assinatura em vigor corresponde.",
	"a date as YYYY-MM-DD that is neither over nor before start_date, or empty for no end": "Uma data que não passou nem vem antes do início, ou nada.",
	"a text of valid JSON, at most 8 KiB":                                                  "Um JSON válido de até 8 KiB.",
	"one of end, suspend, resume":                                                          "Escolha encerrar, suspender ou retomar.",
	"cannot be changed; end the subscription and enrol anew":                               "Não muda: encerre a assinatura e cadastre de novo.",
	"a date as YYYY-MM-DD that is not in the future":                                       "Uma data que não está no futuro.",
	"M or F":                                         "Escolha M ou F.",
	"an e-mail address":                              "Um endereço de e-mail.",
	"a phone number with its country code":           "Um telefone com o código do país.",
	"eight digits":                                   "Oito dígitos.",
	"the two letters of a Brazilian state":           "A sigla de um estado, como SP.",
	"it has ended":                                   "A assinatura já foi encerrada.",
	"one of suspend, resume, end":                    "Escolha suspender, retomar ou encerrar.",
	"for type cpf the digest of that very CPF":       "O userHash não é o deste CPF.",
	"first looks of a sandbox partner are not paced": "Um parceiro de testes não tem limite de primeiras consultas.",
	"no subscription in force whose plan includes endpoint protection": "A pessoa não tem assinatura em vigor com proteção de dispositivos.",
	"no subscription in force and no default plan":                     "A pessoa não tem assinatura em vigor, e o parceiro não tem plano padrão.",
	"one of %s":                            "Escolha um tipo da lista.",
	"not valid":                            "O valor não é válido.",
	"check digits do not match":            "Os dígitos verificadores não conferem.",
	"one repeated character":               "Um só caractere repetido não é um documento.",
	"unknown area code":                    "Este DDD não existe.",
	"missing or unknown country code":      "Falta o código do país, ou ele não existe.",
	"no such number in its country's plan": "Este número de telefone não existe.",
	"not one e-mail address":               "Não é um endereço de e-mail.",
	"not a registrable domain name":        "Não é um domínio que alguém possa registrar, como empresa.com.br.",
	"not a random Pix key":                 "Não é uma chave Pix aleatória.",
	"unknown state":                        "Este estado não existe.",
	"one of password_changed, account_closed, card_replaced, not_me, other": "Escolha um dos motivos da lista.",

	"the id of a live partner, for a sandbox partner": "Escreva o pt_… de um parceiro de produção; só um parceiro de testes tem este campo.",
	"that partner has a sandbox, %s":                  "Esse parceiro já tem um de testes: %s.",

	// Operators.
	"one of admin, support, viewer":                                                        "Escolha administração, atendimento ou consulta.",
	"one of admin, developer, attendant, viewer":                                           "Escolha administração, desenvolvimento, atendimento ou consulta.",
	"an administrator of a partner is made and changed by another one, or by the operator": "Quem administra pelo parceiro é convidado e alterado só por outro administrador dele ou pelo operador.",
	"must be given for passkeys outside this machine":                                      "Peça a quem opera o serviço para informar --public-url.",
	"expected an address such as ana@exemplo.com.br":                                       "Escreva um e-mail, como ana@exemplo.com.br.",
	"must not be the e-mail address":                                                       "A senha não pode ser o seu e-mail.",
	"there is no second factor to stand in for":                                            "Ative o segundo fator primeiro.",
	"a line's number, a colon and its head in hexadecimal":                                 "O número da linha, dois pontos e o código anotado.",

	"the head of the trail was not written by this service":                       "O fim da trilha não foi escrito por este serviço.",
	"the beginning of the trail was not written by this service":                  "O começo da trilha não foi escrito por este serviço.",
	"line %d: its detail does not open":                                           "O detalhe da linha %s não abre.",
	"line %d: its detail cannot be read":                                          "O detalhe da linha %s não pôde ser lido.",
	"line %d is older than the trail, which begins at line %d: note a newer head": "A linha %s é mais antiga que a trilha, que começa na linha %s: anote um valor mais novo.",
	"line %d is missing": "Falta a linha %s.",
	"line %d is not the one that the head was made for":      "A linha %s não é a última que foi escrita.",
	"the trail ends at line %d, before the expected line %d": "A trilha acaba na linha %s, antes da linha anotada, %s.",
	"line %d was changed, or does not follow line %d":        "A linha %s foi alterada, ou não vem depois da linha %s.",
	"line %d is not the one that was noted":                  "A linha %s não é a que foi anotada.",
	"%d lines stand outside the chain":                       "%s linhas estão fora da sequência.",

	// Breaches and their imports.
	"%s is the made-up breach of sandbox partners":                   "%s é o vazamento fictício dos parceiros de teste. Escolha outro nome.",
	"a day from 1970 to today, YYYY-MM-DD":                           "Um dia de 01/01/1970 até hoje.",
	"expected YYYY-MM-DD":                                            "Escreva a data como 24/12/2026.",
	"one of breach, combolist, stealer, paste, phish":                "Escolha um tipo da lista.",
	"classes are %s":                                                 "Escolha as classes da lista.",
	"name at least one class of data":                                "Marque ao menos uma classe de dados.",
	"not a breach's name":                                            "Não é o nome de um vazamento.",
	"was retracted":                                                  "Este vazamento foi retirado.",
	"was retracted; import under another name":                       "Este vazamento foi retirado. Importe com outro nome.",
	"is already published":                                           "Este nome já é de um vazamento publicado.",
	"is published with other content":                                "Este nome já é de um vazamento publicado com outro conteúdo.",
	"is not published":                                               "O vazamento não está publicado.",
	"somebody else renewed it meanwhile; run the same command again": "Outra pessoa renovou o vazamento enquanto isso. Tente de novo.",
	"no key left for this system":                                    "Não há mais chaves para este sistema.",
	"this partner has had its share of the keys for this system":     "O parceiro já recebeu a sua parte das chaves deste sistema.",
	"this partner holds its share of the coming ones":                "O parceiro já tem a sua parte dos próximos horários.",
	"this partner may add %d new ones in an hour and %d in a day":    "O parceiro pode cadastrar até %s novos por hora e %s por dia.",
	"is being imported and not published yet":                        "O vazamento ainda está sendo importado.",
	"it is being imported":                                           "O vazamento já está sendo importado.",
	"it is being verified":                                           "O vazamento já está sendo conferido.",
	"another process is importing it":                                "Outro processo já o está importando.",
	"taken":                                                          "Este nome já está em uso.",
	"the breach has no segment":                                      "O vazamento não tem índice.",
	"one of append, replace":                                         "Escolha o que fazer com os arquivos.",
	"the breach has no content of its own":                           "O vazamento não tem conteúdo próprio.",
	"there is no file":                                               "Não há nenhum arquivo ali.",
	"%s cannot be read":                                              "%s não pôde ser lido.",
	"cannot be read":                                                 "Não pôde ser lido.",
	"%s cannot be read by other processes":                           "%s não pode ser lido por outros processos.",
	"%s cannot be read in place":                                     "%s não pôde ser lido onde está.",
	"%s changed since the import began":                              "%s mudou desde o início da importação.",
	"%s changed while it was read":                                   "%s mudou enquanto era lido.",
	"%s: not published, unless it is forced (--force)":               "%s Por isso não foi publicado.",
	"%s: the breach stays as it is, unless it is forced (--force)":   "%s Por isso o vazamento fica como estava.",
	"not a path":                                                     "Não é um caminho.",
	"not an address":                                                 "Não é um endereço.",
	"not the address of a bucket":                                    "Não é o endereço de um bucket.",
	"not those that this import began with, or they changed since; retract the breach to give it up": "Não são os arquivos com que esta importação começou, ou eles mudaram. Retire o vazamento para desistir.",
	"the address of %s is gone":                                       "O endereço de %s não existe mais.",
	"the bucket cannot be read":                                       "O bucket não pôde ser lido.",
	"given up after %d tries: %v":                                     "Desistiu depois de %s tentativas.",
	"given up after %d tries; the workers at it were stopped or died": "Desistiu depois de %s tentativas: os processos que a faziam pararam.",
	"part %d of %d: %s":                                               "Parte %s de %s: %s",
	"%s is not in this machine's folder; workers of several machines need one --corpora": "%s não está na pasta desta máquina: processos de várias máquinas precisam de um só lugar para os índices.",
	"those of this import are gone": "As senhas desta importação já não existem.",

	"nothing was found":            "Nada foi encontrado nos arquivos.",
	"most of it could not be read": "A maior parte não pôde ser lida.",

	// Feeds.
	"at least a minute":               "Pelo menos um minuto.",
	"one of folder, list, hibp, push": "Escolha um tipo da lista.",
	"a receiver is added on the command line, which shows its secret": "Um endereço para envios se cria no terminal, que mostra o segredo: vigia feed add --kind push.",
	"unknown": "Escolha um tipo da lista.",
	"its plan does not include searches by range of hashes": "O plano desta chave não inclui buscas por faixa de hash.",
	"a folder's absolute path, or s3://bucket":              "O caminho completo de uma pasta, ou s3://bucket.",
	"an https address":                      "Um endereço que começa com https://.",
	"the API's address; secret: its key":    "O endereço da API, e a chave dela no campo da chave.",
	"expected host:port":                    "Escreva como host:porta.",
	"a server is running it":                "A fonte está sendo lida agora.",
	"the manifest names none that is there": "A lista da pasta não nomeia nenhum arquivo que esteja lá.",
	"larger than %d bytes":                  "Passa de %s bytes.",
	"not JSON":                              "Não é JSON.",
	"the answer is no JSON list of dumps":   "A resposta não é uma lista JSON de arquivos.",
	"the list is larger than %d bytes":      "A lista passa de %s bytes.",

	// Files.
	"choose one":           "Escolha um arquivo.",
	"did not arrive whole": "O envio foi interrompido. Tente de novo.",
	"at most %d MiB through the console (--upload-limit); import a larger one by its path on the server": "No máximo %s MiB pelo console. Um arquivo maior é importado pelo caminho dele no servidor.",
	"at most %d bytes":                                        "No máximo %s bytes.",
	"the file is empty":                                       "O arquivo está vazio.",
	"line 1 does not name columns":                            "A primeira linha não tem os nomes das colunas.",
	"two columns are named %s":                                "Duas colunas têm o nome %s.",
	"there is no column %s":                                   "Falta a coluna %s.",
	"line %d is longer than %d bytes":                         "A linha %s passa de %s bytes.",
	"line %d: longer than %d bytes":                           "A linha %s passa de %s bytes.",
	"no keys in it":                                           "Não há chaves no arquivo.",
	"no items in it":                                          "Não há conteúdos no arquivo.",
	"not a list of keys or CSV":                               "Não é uma lista de chaves nem um CSV.",
	"line %d: a key of 1 to %d printable characters expected": "Na linha %s falta uma chave de 1 a %s caracteres.",
	"line %d: expires: a date such as 2027-12-31 or 31/12/2027, a date-time with its zone, or nothing": "Na linha %s, o vencimento é uma data como 31/12/2027, ou vazio.",
	"line %d of the erasure log cannot be read":                                                        "A linha %s do registro de exclusões não pôde ser lida.",
	"line %d of the erasure log is too long":                                                           "A linha %s do registro de exclusões é longa demais.",

	// Leaked passwords.
	"whole paths of the server, one a line":                                  "Caminhos completos do servidor, um por linha.",
	"a file or folder cannot be read":                                        "Um arquivo ou pasta não pôde ser lido.",
	"a folder without files":                                                 "Uma pasta sem arquivos.",
	"a file that takes too much memory to unpack":                            "Um arquivo que exige memória demais para ser descompactado.",
	"another download is running":                                            "Outro download está em andamento.",
	"another import or download is running":                                  "Outra importação ou outro download está em andamento.",
	"an entry that is not ours":                                              "A lista dos índices tem uma entrada que não é nossa.",
	"%s is not the file that the manifest names":                             "%s não é o arquivo que a lista dos índices nomeia.",
	"%q is the name of the built-in sample":                                  "%s é o nome da lista embutida. Escolha outro.",
	"line %d: %s":                                                            "Linha %s: %s",
	"line 1: too short for a hash, and the file is not named after a range":  "A primeira linha é curta demais para um resumo de senha, e o nome do arquivo não é o de uma faixa.",
	"too short for a hash":                                                   "curta demais para um resumo de senha.",
	"a character that is not hexadecimal":                                    "há um caractere que não é hexadecimal.",
	"something other than a colon after the hash":                            "depois do resumo não vem dois pontos.",
	"the count is not a number":                                              "a contagem não é um número.",
	"must have %d hexadecimal characters":                                    "São %s caracteres hexadecimais.",
	"must have only hexadecimal characters":                                  "Só caracteres hexadecimais.",
	"no hash in the input":                                                   "Não há nenhum resumo de senha nos arquivos.",
	"range %05X after %d attempts":                                           "A faixa %s não veio depois de %s tentativas.",
	"range %05X is said to be unchanged, but there is nothing it was before": "O servidor diz que a faixa %s não mudou, mas ela nunca veio.",
	"the address of the range service must be http or https":                 "O endereço do serviço tem de começar com http:// ou https://.",
	"the corpus was replaced during the download: start it again":            "As senhas foram trocadas durante o download. Comece de novo.",
	"too large": "Grande demais.",
	"version %d, this program reads version %d": "Versão %s; este programa lê a versão %s.",

	// Cases, services and devices.
	"required question %d (%s) is not answered: %+q":                                 "A pergunta obrigatória %s não foi respondida.",
	"the answer to question %d (%s) is none of its options: %+q":                     "A resposta da pergunta %s não está entre as opções.",
	"the case is closed or cancelled; open another":                                  "O caso está fechado ou cancelado. Abra outro.",
	"the case is resolved or closed already":                                         "O caso já foi resolvido ou fechado.",
	"the case is not open any more":                                                  "O caso já não está em aberto.",
	"only a resolved or closed case is rated":                                        "Só um caso resolvido ou fechado recebe nota.",
	"at least one with a time":                                                       "Ao menos um horário.",
	"1 to 5":                                                                         "De 1 a 5.",
	"an operator who may work on cases":                                              "Escolha um operador que possa atender casos.",
	"one of aberto, em-andamento, aguardando-cliente, resolvido, fechado, cancelado": "Escolha uma situação da lista.",
	"no such day in the calendar":                                                    "Este dia não existe no calendário.",
	"the name of the breach":                                                         "Escreva o nome do vazamento como está na página.",
	"the move was made already":                                                      "A mudança já foi feita e o parceiro foi avisado.",
	"no such move from here":                                                         "O caso não pode ir daqui para esta situação.",
	"expected an ISO 8601 date-time":                                                 "Escreva a data e a hora como 24/12/2026 15:00.",
	"0 (none) to 366 days":                                                           "De 0 (sem prazo) a 366 dias.",
	"at most 50, each 1 to 100 characters, no control characters":                    "No máximo 50 opções, cada uma com 1 a 100 caracteres.",
	"0 to 1000000000 keys":                                                           "De 0 a 1.000.000.000 de chaves.",
	"one of android, ios, windows, macos":                                            "Escolha Android, iOS, Windows ou macOS.",
	"one of android, ios, windows, macos, linux":                                     "Escolha Android, iOS, Windows, macOS ou Linux.",
	"an https address of at most %d characters":                                      "Um endereço que comece com https:// e tenha até %s caracteres.",
	"the plan's limit of devices is %d":                                              "O plano permite no máximo %s dispositivos.",

	// Messages.
	"no message tells of it":                                   "Nenhuma mensagem fala deste evento.",
	"one of email, sms, whatsapp, push":                        "Escolha email, sms, whatsapp ou push.",
	"e-mail and push need one":                                 "E-mail e push precisam de um título.",
	"only e-mail and push have one":                            "Só e-mail e push têm título.",
	"neither empty nor broken, and a subject of one line":      "Escreva um texto; o título tem uma linha só.",
	"in braces only %s":                                        "Entre chaves o texto só pode citar: %s.",
	"an SMS has %d characters, with every word at its longest": "Um SMS tem %s caracteres, já com as palavras no maior tamanho.",
	"a push has a title of %d characters and a text of %d, with every word at its longest":      "Um push tem título de até %s caracteres e texto de até %s, já com as palavras no maior tamanho.",
	"a WhatsApp template has %d characters, with every word at its longest":                     "Um modelo do WhatsApp tem %s caracteres, já com as palavras no maior tamanho.",
	"an e-mail has a subject of %d characters and a text of %d, with every word at its longest": "Um e-mail tem título de até %s caracteres e texto de até %s, já com as palavras no maior tamanho.",
	"a WhatsApp template neither begins nor ends with a word in braces":                         "Um modelo do WhatsApp não começa nem termina com uma palavra entre chaves.",
	"is not changed here": "Este texto não foi mudado aqui.",

	// Content.
	"exactly this one item, its id unchanged": "Exatamente este conteúdo, com o mesmo identificador.",
	"not a YAML list of items: %s":            "O texto não é uma lista YAML de conteúdos. Confira os espaços e os dois pontos.",
	"is there already; use edit":              "Já existe um conteúdo com este identificador.",
	"no such id":                              "Não há conteúdo com este identificador.",
	"twice in one file":                       "O mesmo identificador aparece duas vezes.",
	"no such word here":                       "Há uma palavra entre chaves que não existe neste conteúdo.",
	"one of alert, advice, tip":               "O tipo é alert, advice ou tip.",
	"one of all, mobile, desktop":             "O dispositivo é all, mobile ou desktop.",
	"1 to %d":                                 "De 1 a %s.",
	"an item about a finding cannot ask, as the next finding would be hidden by the answer to the last": "Um conteúdo sobre uma ocorrência não pode perguntar: a resposta esconderia a próxima ocorrência.",
	"unknown kind of value":                 "Há um tipo de dado que não existe.",
	"unknown class":                         "Há uma classe de dados que não existe.",
	"unknown kind":                          "Há uma origem que não existe.",
	"one of low, medium, high, critical":    "A gravidade é low, medium, high ou critical.",
	"0 to 366 days":                         "De 0 a 366 dias.",
	"not negative":                          "Não pode ser negativo.",
	"an item and the values of its options": "Um conteúdo e os valores das suas opções.",
	"text and mends: 1 to 1000 characters":  "O texto e a correção têm de 1 a 1.000 caracteres.",
	"2 to 10":                               "De 2 a 10 opções.",
	"each a value of its own (a word like an id), a label and a risk of 0 to 10": "Cada opção tem um valor próprio, um rótulo e um risco de 0 a 10.",
	"one must leave no risk (0) and one must leave some":                         "Uma opção não deixa risco (0) e outra deixa algum.",
	"none of the question's options":                                             "Não é uma das opções da pergunta.",
	"no such item, or it asks nothing":                                           "Este conteúdo não existe, ou não pergunta nada.",

	// Webhooks.
	"each must be one of %v": "Escolha tipos de evento da lista.",
	"not a URL":              "Não é um endereço.",
	"printable ASCII without spaces and backslashes only": "Sem espaços, acentos ou barras invertidas.",
	"the scheme must be https":                            "O endereço tem de começar com https://.",
	"no user or password":                                 "O endereço não pode ter usuário nem senha.",
	"no fragment":                                         "O endereço não pode ter a parte depois de #.",
	"a host is required":                                  "Falta o domínio do endereço.",
	"the port is empty":                                   "Falta o número da porta depois dos dois pontos.",
	"the port must be 1 to 65535":                         "A porta vai de 1 a 65535.",
	"no zone in an address":                               "O endereço IP não pode ter zona.",
	"the host must be a DNS name or an IP address in its normal form": "O domínio, ou o endereço IP na forma usual.",
	"the host must resolve to allowed addresses only":                 "O domínio não existe, ou leva a um endereço interno, que não é permitido.",
	"at most %d lines of history":                                     "Um caso guarda no máximo %s registros. Abra outro caso para continuar.",
	"only of events that this key may read: %v":                       "Só de eventos que esta chave pode ler.",
	"at most %d keys may be valid at once":                            "No máximo %s chaves valem ao mesmo tempo.",

	// What is sought.
	"is ahead of the newest event; read again without it":                                "Aponta para depois do evento mais novo.",
	"stands behind an event that a restored backup does not have; read again without it": "É de antes da volta a uma cópia de segurança mais antiga.",
	"must be the value of next in an earlier answer":                                     "Não é um ponto de leitura que já foi dado.",
}

// fieldLike is what may stand to the left of a rule: one to three words, or some of them joined by commas.
var fieldLike = regexp.MustCompile(`^(?:%s|coverage %s|[A-Za-z][A-Za-z._-]*(?: [a-zA-Z]+){0,2}(?:, [A-Za-z_]+(?: [a-z]+){0,2})*)$`)

// splitRule parts a detail into its field and its rule.
func splitRule(detail string) (field, rule string) {
	before, after, found := strings.Cut(detail, ": ")
	if !found || !fieldLike.MatchString(before) {
		return "", detail
	}
	return before, after
}

// spokenRule is a rule and how to know it.
type spokenRule struct {
	pattern *regexp.Regexp
	text    string
}

var verb = regexp.MustCompile(`%\\?\+?[0-9]*[dXvsq]`)

// spokenRules are the rules with the most words first, so that the closest is found.
var spokenRules = sync.OnceValue(func() []spokenRule {
	list := make([]spokenRule, 0, len(rules))
	for rule, text := range rules {
		pattern := verb.ReplaceAllString(regexp.QuoteMeta(rule), `(.+?)`)
		list = append(list, spokenRule{regexp.MustCompile(`^` + pattern + `$`), text})
	}
	slices.SortFunc(list, func(a, b spokenRule) int { return len(b.pattern.String()) - len(a.pattern.String()) })
	return list
})

// inPortuguese puts a detail into words and says which field it is about. A detail that nobody has put into words is left
// out: the sentence above it says enough, and the log has the rest.
func inPortuguese(detail string) (field, text string) {
	field, rule := splitRule(detail)
	for _, candidate := range []string{rule, detail} {
		for _, r := range spokenRules() {
			if args := r.pattern.FindStringSubmatch(candidate); args != nil {
				return field, fill(r.text, args[1:])
			}
		}
	}
	if field == "" {
		return "", ""
	}
	inner, text := inPortuguese(rule)
	if inner == "" {
		inner = field
	}
	return inner, text
}

// fill puts what stood in a rule into its sentence; what is a rule itself is put into words first.
func fill(text string, args []string) string {
	values := make([]any, 0, len(args))
	for _, a := range args[:min(len(args), strings.Count(text, "%s"))] {
		if _, inner := inPortuguese(a); inner != "" {
			a = inner
		}
		if n := strings.Trim(a, "0123456789"); n == "" && len(a) > 4 {
			a = grouped(a)
		}
		values = append(values, a)
	}
	return fmt.Sprintf(text, values...)
}

// grouped writes digits in groups of three.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "." + digits[i:]
	}
	return digits
}

// failureText is why a job failed, in words: a job keeps the code, the rule and the cause of what ended it. Somebody who needs
// the cause finds it in the log.
func failureText(failure string) string {
	for line := range strings.Lines(failure) {
		code, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for rest != "" {
			if _, text := inPortuguese(rest); text != "" {
				return text
			}
			rest = rest[:max(0, strings.LastIndex(rest, ": "))] // without the last of the causes
		}
		if text, ok := byCode[code]; ok {
			return text
		}
	}
	return "o registro do servidor tem o motivo."
}
