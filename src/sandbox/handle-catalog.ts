import type { Context } from './context.ts';
import { digest } from './digest.ts';
import { handleList } from './handle-list.ts';
import { kinds } from './kinds/index.ts';
import { describeTime } from './kinds/job-view.ts';
import type { CatalogModel } from './kinds/kind.ts';
import { voices } from './kinds/voices.ts';
import { outputArea } from './own-url.ts';
import { type Account, accounts, profilePicture, type Sample, voiceSample } from './samples.ts';
import type { Call, JsonObject, Reply } from './wire.ts';

export function handleVoices(context: Context, call: Call): Promise<Reply> | Reply {
  return handleList(context, call, {
    kind: 'voice',
    describe: () => ({
      voices: voices.map(({ id, gender, accent, description }) => ({
        id,
        label: id,
        description,
        gender,
        accent,
        previewUrl: linkTo(voiceSample(id), call.origin),
      })),
    }),
  });
}

export function handleCatalog(context: Context, call: Call): Promise<Reply> | Reply {
  return handleList(context, call, {
    kind: 'model',
    describe: () => ({
      data: kinds.flatMap((kind) => kind.models.map((model) => describeModel(kind.name, model))),
    }),
  });
}

export function handleAccounts(context: Context, call: Call): Promise<Reply> | Reply {
  return handleList(context, call, {
    kind: 'account',
    describe: () => ({ data: accounts.map((account) => describeAccount(account, context.now(), call.origin)) }),
  });
}

export function accountId({ provider }: Account): string {
  return `acc_${digest('account', provider).slice(0, 16)}`;
}

const dayMs = 24 * 60 * 60 * 1000;

function describeAccount(account: Account, now: number, origin: string): JsonObject {
  return {
    id: accountId(account),
    provider: account.provider,
    providerAccountId: digest('provider account', account.provider).replace(/\D/g, '').slice(0, 15),
    accountName: account.name,
    accountUsername: account.username,
    profilePicture: linkTo(profilePicture(account), origin),
    // Rounded to a whole day, so that the date is constant all day. Later than any date that a rehearsal can schedule.
    expiresAt: describeTime(Math.floor(now / dayMs) * dayMs + 3650 * dayMs),
  };
}

function describeModel(kind: string, model: CatalogModel): JsonObject {
  const { key, aliasOf, credits, per, creditsBy, allowed } = model;
  return {
    key,
    kind,
    aliasOf,
    credits,
    per,
    creditsBy: Object.fromEntries(Object.entries(creditsBy).map(([field, prices]) => [field, { ...prices }])),
    allowed: Object.fromEntries(Object.entries(allowed).map(([field, values]) => [field, [...values]])),
  };
}

function linkTo({ token, fileName }: Sample, origin: string): string {
  return `${origin}${outputArea}/${token}/${fileName}`;
}
