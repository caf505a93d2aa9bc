import type { Job } from './books.ts';
import { authenticate, type Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import { kinds } from './kinds/index.ts';
import type { CatalogModel, SandboxKind } from './kinds/kind.ts';
import { voices } from './kinds/voices.ts';
import { modelOf, shownLife, viewJob } from './life.ts';
import { listAccounts, voicePreview } from './samples.ts';
import { answerJson, type Call, type JsonObject, type Reply } from './wire.ts';

export const pageLimit = { default: 12, least: 1, most: 100 };

export function handleJobList(
  context: Context,
  call: Call,
  { kind, list }: { kind: SandboxKind; list: NonNullable<SandboxKind['list']> },
): Promise<Reply> | Reply {
  return handleList(context, call, {
    kind: kind.name,
    describe: (user) => {
      const model = list.byModel ? (call.query.get('model') ?? '') : '';
      const isChosen = (job: Job) =>
        job.kind === kind && job.entry.user === user && (model === '' || modelOf(job) === model);
      const jobs = context.books.list(isChosen);
      const describe = (job: Job) => list.describe(viewJob(job, shownLife(job, context), call.origin));
      if (list.paging === 'none') return { [list.items]: jobs.map(describe) };
      const { from, to, pagination } = choosePage(call.query, jobs.length);
      return { [list.items]: jobs.slice(from, to).map(describe), pagination };
    },
  });
}

/** `describe`: returns the fields of the response other than `success`. */
export function handleList(
  context: Context,
  call: Call,
  list: { readonly kind: string; readonly describe: (user: string) => JsonObject },
): Promise<Reply> | Reply {
  const { user } = authenticate(context, call);
  const about = { kind: list.kind, text: `${call.path}?${call.query}` };
  return applyFault(context.faults.next('list', about), (): Handled => {
    return { answer: answerJson(200, { success: true, ...list.describe(user) }) };
  });
}

function choosePage(query: URLSearchParams, totalCount: number) {
  const wanted = readWhole(query.get('limit')) ?? pageLimit.default;
  const limit = Math.min(pageLimit.most, Math.max(pageLimit.least, wanted));
  const currentPage = Math.max(1, readWhole(query.get('page')) ?? 1);
  const totalPages = Math.ceil(totalCount / limit);
  const from = (currentPage - 1) * limit;
  const pagination = {
    currentPage,
    totalPages,
    totalCount,
    limit,
    hasNextPage: currentPage < totalPages,
    hasPreviousPage: currentPage > 1,
  };
  return { from, to: from + limit, pagination };
}

function readWhole(text: string | null): number | undefined {
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

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
        previewUrl: voicePreview(id, call.origin),
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
    describe: () => ({ data: listAccounts(context.now(), call.origin) }),
  });
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
