// What an integrator relies on in the types that openapi-typescript and orval make of the contract. It is compiled, not run.
import type { components } from "./made/openapi-typescript.js";
import { addMonitoredAsset } from "./made/orval.js";
import type { NewSubscription } from "./made/orval.js";

type Schemas = components["schemas"];

// A new subscription has a beneficiary with an address: neither may be left out.
export function cityOf(item: Schemas["NewSubscription"]): string {
  return item.beneficiary.address.city;
}

// A group has a size, as a text or as a number.
export const group: Pick<NewSubscription, "group_size"> = { group_size: "120" };

export async function watch(userHash: string): Promise<number> {
  const answer = await addMonitoredAsset({ type: "email", value: "ana@exemplo.com.br", userHash });
  return answer.status;
}
