import { nearestName } from '../manifest/suggest.ts';
import { CommandError, exitCodes } from './exit.ts';

/** Error for a name that a person wrote and that does not exist. `what`: `no example`. */
export function unknownName(what: string, name: string, names: readonly string[]): CommandError {
  const near = nearestName(name, names);
  const guess = near === undefined ? '' : `did you mean ${near}? `;
  return new CommandError(exitCodes.wrongUsage, `there is ${what} ${name}`, `${guess}There are ${names.join(', ')}`);
}
