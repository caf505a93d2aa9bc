import { CampaignError } from '../contract/failure.ts';
import { nearestName } from '../manifest/suggest.ts';
import { type LibraryCall, libraryCalls } from './library-calls.ts';

/**
 * Refuses a misspelt or unknown field of a library call, because an untyped caller that misspells a limit would run
 * without it.
 */
export function checkCall(name: keyof typeof libraryCalls, given: readonly unknown[]): void {
  const { takes, example }: LibraryCall = libraryCalls[name];
  for (const [index, [argument, known]] of Object.entries(takes).entries()) {
    if (known === null) continue;
    const strange = Object.entries(given[index] ?? {}).find(
      ([field, one]) => one !== undefined && !known.includes(field),
    );
    if (strange === undefined) continue;
    const [field] = strange;
    const near = nearestName(field, known);
    const meant = near === undefined ? `it takes ${known.join(', ')}` : `did you mean \`${near}\`?`;
    const message = `${name}: \`${argument.replace('?', '')}\` has an unknown field \`${field}\`: ${meant}`;
    throw new CampaignError({ code: 'MB3000', message, hint: `as in: ${example}`, value: field, known });
  }
}
