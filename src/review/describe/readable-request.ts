import type { OpenRequest } from '../../graph/graph.ts';
import { replaceReferences } from '../../graph/render/fingerprint.ts';
import type { Lock } from '../../lock/record.ts';

export type AddressOf = (fingerprint: string) => string | undefined;

/** Finds the address under which a request was bought, from an index that is made when it is first asked. */
export function addressesByFingerprint(lock: Lock): AddressOf {
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

/** A request as the lock keeps it, with its references by address, as far as they are known. */
export function readableRequest(bought: OpenRequest, addressOf: AddressOf): OpenRequest {
  return replaceReferences(bought, (fingerprint) => addressOf(fingerprint) ?? fingerprint);
}
