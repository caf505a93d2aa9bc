import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, ownValue, shorten } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { suggestName } from '../suggest.ts';
import type { Places } from '../yaml/places.ts';

/** Finds keys of `prices` that name no price: a kind, its model, and fields, as in `image/alpha-2/resolution=4k`. */
export function checkPrices(value: Json, places: Places): Diagnostic[] {
  const prices = ownValue(value, 'prices');
  return Object.keys(isMap(prices) ? prices : {}).flatMap((name) => {
    const fault = findFault(name);
    if (fault === undefined) return [];
    const place = places.key(['prices', name]);
    return [{ code: fault.code, severity: 'error', message: fault.message, hint: fault.hint, place }];
  });
}

type Fault = { code: 'MB1101' | 'MB1103'; message: string; hint: string };

function findFault(name: string): Fault | undefined {
  const [kindName = '', ...parts] = name.split('/');
  const kind = kinds[kindName];
  if (kind === undefined) {
    const message = `\`${shorten(name)}\` in \`prices\` does not begin with a kind`;
    return { code: 'MB1101', message, hint: suggestName(kindName, Object.keys(kinds), { what: 'kinds' }) };
  }
  if (kind.free === true) {
    const message = `\`${shorten(name)}\` in \`prices\` has no price: a task of kind ${kind.name} takes no credits`;
    return { code: 'MB1103', message, hint: 'remove it' };
  }
  for (const [index, part] of parts.entries()) {
    const fault = findPartFault(kind, { part, index, name });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findPartFault(kind: Kind, at: { part: string; index: number; name: string }): Fault | undefined {
  const { part, index } = at;
  const name = shorten(at.name);
  const field = /^([^=~]+)(?:=.+|~[0-9]+)$/.exec(part)?.[1];
  if (field === undefined) {
    if (index > 0 || part === '' || /[=~]/.test(part)) {
      const message = `\`${name}\` in \`prices\` cannot be read at "${shorten(part)}"`;
      const hint = 'write a kind, then a model, then fields with their values: image/alpha-2/resolution=4k';
      return { code: 'MB1103', message, hint };
    }
    const models = kind.model === undefined ? undefined : Object.keys(kind.model.models);
    if (models === undefined || models.includes(part)) return undefined;
    const message = `\`${name}\` in \`prices\` names a model that ${kind.name} does not have: ${shorten(part)}`;
    return { code: 'MB1101', message, hint: suggestName(part, models, { what: 'models', prefix: `${kind.name}/` }) };
  }
  if (kind.pricedBy === 'all' || kind.pricedBy.includes(field)) return undefined;
  const message = `\`${name}\` in \`prices\` names \`${shorten(field)}\`, and the price of ${kind.name} does not depend on it`;
  const hint =
    kind.pricedBy.length === 0
      ? `write ${kind.name}, or ${kind.name}/ and a model`
      : suggestName(field, kind.pricedBy, { what: 'it depends on', prefix: `${kind.name}/` });
  return { code: 'MB1101', message, hint };
}
