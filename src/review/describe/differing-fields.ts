import type { OpenRequest } from '../../graph/graph.ts';
import { canonicalJson } from '../../ground/json.ts';

/** The fields that are not the same in all of these requests, in the order in which they are first seen. */
export function differingFields(requests: readonly OpenRequest[]): string[] {
  const fields = new Set(requests.flatMap((request) => Object.keys(request)));
  return [...fields].filter((field) => {
    const texts = requests.map(({ [field]: value }) => (value === undefined ? undefined : canonicalJson(value)));
    return new Set(texts).size > 1;
  });
}
