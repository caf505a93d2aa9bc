import type { OpenRequest } from '../../graph/graph.ts';
import { replaceReferences } from '../../graph/render/fingerprint.ts';
import type { BoughtAt } from '../../plan/bought-at.ts';

/** A request as the lock keeps it, with its references by address, as far as they are known. */
export function readableRequest(bought: OpenRequest, boughtAt: BoughtAt): OpenRequest {
  return replaceReferences(bought, (fingerprint) => boughtAt(fingerprint) ?? fingerprint);
}
