import { createHash } from "node:crypto";

/**
 * The userHash of a person: BLAKE2b-512 of the eleven digits of the CPF followed by the partner's salt, in lower-case hex.
 * Dots, dash and spaces are skipped. Keep the salt secret: with it, a hash can be turned back into its CPF.
 */
export function userHash(cpf: string, salt: string): string {
  return createHash("blake2b512").update(cpf.replace(/[^0-9]/g, "") + salt, "utf8").digest("hex");
}
