package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/vigiahq/vigia/internal/app/apptest"
	"github.com/vigiahq/vigia/internal/platform/gatetest"
)

// TestTypeScript packs the client, which builds it, runs its tests, and then is a partner: the package in an empty
// project, from nothing but itself, with the first call that its README shows and with a file that its types must
// judge.
func TestTypeScript(t *testing.T) {
	gatetest.Needs(t, gatetest.Clients)
	t.Parallel()
	lookAt(t, "typescript")
	installed(t, "typescript")
	folder := t.TempDir()
	run(t, "typescript", nil, "npm", "pack", "--silent", "--pack-destination", folder)
	s := apptest.Start(t)
	script(t, "typescript", environment(t, s), "test")

	packed := filepath.Join(folder, "vigia-client-1.0.0.tgz")
	sameFiles(t, "package", unpacked(t, packed), []string{
		"LICENSE",
		"README.md",
		"package.json",
		"dist/src/bulk.d.ts",
		"dist/src/bulk.js",
		"dist/src/codes.d.ts",
		"dist/src/codes.js",
		"dist/src/index.d.ts",
		"dist/src/index.js",
		"dist/src/operations.d.ts",
		"dist/src/operations.js",
		"dist/src/person.d.ts",
		"dist/src/person.js",
		"dist/src/schemas.d.ts",
		"dist/src/schemas.js",
		"dist/src/send.d.ts",
		"dist/src/send.js",
		"dist/src/webhook.d.ts",
		"dist/src/webhook.js",
	})

	project := filepath.Join(folder, "empty")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, project, "package.json", `{ "private": true, "type": "module" }`)
	example := readme(t, "typescript/README.md", "ts") // which is plain JavaScript, too
	write(t, project, "first.js", example)
	write(t, project, "readme.ts", example)
	write(t, project, "typed.ts", typed)
	// With a cache of its own, so that nothing is taken from an earlier download.
	alone := []string{"npm_config_cache=" + filepath.Join(folder, "cache")}
	run(t, project, alone, "npm", "install", "--loglevel=error", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", packed)
	if out := run(t, project, environment(t, s), "node", "first.js"); !regexp.MustCompile(`email ana@vazamento\.test (alerta|comprometido)`).MatchString(out) {
		t.Errorf("the first call printed %q", out)
	}
	run(
		t,
		project,
		nil,
		"node",
		absolute(t, "typescript/node_modules/typescript/bin/tsc"),
		"--noEmit",
		"--strict",
		"--exactOptionalPropertyTypes",
		"--noUncheckedIndexedAccess",
		"--skipLibCheck",
		"--lib",
		"es2022,dom",
		"--target",
		"es2022",
		"--module",
		"nodenext",
		"--types",
		"node",
		"--typeRoots",
		absolute(t, "typescript/node_modules/@types"),
		"typed.ts",
		"readme.ts",
	)

	write(t, project, "receiver.js", readme(t, "typescript/README.md", "js"))
	checkReceiver(t, project, "node", "receiver.js")
}

// typed is right where its lines say nothing, and wrong where they say that an error is expected.
const typed = `import { ErrorCode, userHash, Vigia, VigiaError, verifyWebhook, type AssetStatus, type NewSubscription } from "@vigia/client";

const vigia = new Vigia({ url: "https://vigia.exemplo.com.br", key: "vg_test_..." });

export async function status(cpf: string): Promise<AssetStatus | undefined> {
  const [asset] = await vigia.listMonitoredAssets(userHash(cpf, "sal"));
  return asset?.status;
}

export async function enrolled(items: NewSubscription[]): Promise<number> {
  const outcome = await vigia.createSubscriptions(items, { idempotencyKey: "lote-1" });
  return outcome.total_created_items;
}

export const why = (error: unknown): string => (error instanceof VigiaError ? error.detail : "");
export const gone = (error: VigiaError): boolean => error.code === ErrorCode.assetNotFound || error.code === "newer.code";
export function found(body: Uint8Array): number {
  const event = verifyWebhook(["whsec_..."], {}, body);
  return event.body.type === "monitoring.leak_detected" ? event.body.data.findings.length : 0;
}

// @ts-expect-error a kind of value that the contract does not know
void vigia.addMonitoredAsset({ type: "fax", value: "1", userHash: "u" });
// @ts-expect-error a code that the contract does not list
export const code = ErrorCode.assetLost;
// @ts-expect-error a member that no answer has
void vigia.riskScore("u").then((score) => score.luck);
// @ts-expect-error a beneficiary without a CPF
export const item: NewSubscription["beneficiary"] = { name: "Ana" };
`

// readme is the only block of a language in a page.
func readme(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1)
	if len(blocks) != 1 {
		t.Fatalf("%s has %d blocks of %s", page, len(blocks), language)
	}
	return string(blocks[0][1])
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
