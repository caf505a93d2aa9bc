import type { Lock } from '../lock/record.ts';

/** Finds the address under which a request was bought, by its fingerprint. */
export type BoughtAt = (fingerprint: string) => string | undefined;

/** Makes a finder whose index is made when it is first asked. */
export function boughtAtIn(lock: Lock): BoughtAt {
  let addresses: Map<string, string> | undefined;
  return (fingerprint) => {
    addresses ??= new Map(
      [...lock.steps.values()].flatMap(({ address, purchases }) =>
        purchases.map((purchase) => [purchase.fingerprint, address] as const),
      ),
    );
    return addresses.get(fingerprint);
  };
}
