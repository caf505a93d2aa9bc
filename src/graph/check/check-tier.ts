import type { Json } from '../../ground/json.ts';
import { describeValue, unknownValue } from '../../ground/values.ts';
import type { Kind, Model } from '../../kinds/kind.ts';
import type { ListedKind, Listing } from '../../kinds/listed-model.ts';
import { listNames } from '../../manifest/suggest.ts';
import type { RequestFault } from './request-fault.ts';

/** Checks a quality tier, whose values are documented, and whose field only the service's own document names. */
export function checkTier(of: {
  kind: Kind;
  model: { name: string; model: Model | undefined } | undefined;
  value: Json;
  listings: readonly Listing[];
}): RequestFault[] {
  const { kind, model, value, listings } = of;
  const field = kind.model?.tierField ?? '';
  const tiers = model?.model?.tiers;
  if (value === unknownValue) return [];
  if (model?.model !== undefined && tiers === undefined) {
    const withTiers = Object.entries(kind.model?.models ?? {}).flatMap(([name, one]) => (one.tiers ? [name] : []));
    const message = `the model ${model.name} has no \`${field}\``;
    return [{ code: 'MB1503', message, hint: `remove it; only ${listNames(withTiers)} have tiers`, at: [field] }];
  }
  if (tiers !== undefined && (typeof value !== 'string' || !tiers.includes(value))) {
    const seen = typeof value === 'string' ? `"${value}"` : describeValue(value);
    const message = `\`${field}\` is ${seen}, which is no tier of the model ${model?.name}`;
    return [{ code: 'MB1503', message, hint: `allowed: ${listTiers(tiers)}`, at: [field] }];
  }
  if (listings.some((listing) => ownKind(listing, kind)?.fields?.includes(field))) return [];
  const message = `it is not known here whether the service takes tiers in \`${field}\``;
  const hint = `its documentation does not name their field: \`plan --refresh\` asks for its own document, and \`${field}\` is taken once that lists it`;
  return [{ code: 'MB1503', message, hint, at: [field] }];
}

function ownKind(listing: Listing, { name }: Kind): ListedKind | undefined {
  return Object.hasOwn(listing, name) ? listing[name] : undefined;
}

export function listTiers(tiers: readonly string[]): string {
  return tiers.join(' or ');
}
