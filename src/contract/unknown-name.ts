import { nearestName } from '../manifest/suggest.ts';
import { CampaignError } from './failure.ts';

/** A name that a person wrote and that is none of ours. `what`: `no example`. */
export function unknownName(what: string, name: string, names: readonly string[]): CampaignError {
  const near = nearestName(name, names);
  const guess = near === undefined ? '' : `did you mean ${near}? `;
  return new CampaignError({
    code: 'MB3003',
    message: `there is ${what} ${name}`,
    hint: `${guess}There are ${names.join(', ')}`,
    value: name,
    known: names,
  });
}
