import { CampaignError } from '../contract/failure.ts';
import { nearestName } from '../manifest/suggest.ts';

/** Error for a name that a person wrote and that does not exist. `what`: `no example`. */
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
