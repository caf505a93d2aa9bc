import type { Job } from './books.ts';
import { mainUser } from './caller.ts';
import type { Context } from './context.ts';
import { describePost } from './handle-post.ts';
import { describeUpload } from './handle-upload.ts';
import { describeFailure, describeTime } from './kinds/job-view.ts';
import { lifeOf } from './life.ts';
import { isLoopbackUrl } from './loopback.ts';
import { viewJob } from './view-job.ts';
import { type Answer, answerBytes, answerJson, answerProblem, type Call, type JsonObject } from './wire.ts';

const mostJobs = 200;
const mostOthers = 50;
const longestPrompt = 120;

/** The page at `/`: what is going on, live. */
export async function handlePage(call: Call): Promise<Answer> {
  if (!isAtHome(call)) return answerForeign();
  const { pageHtml } = await import('./page.ts');
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
  return answerBytes(200, headers, Buffer.from(await pageHtml()));
}

/**
 * Serves the data of the page, as JSON, of all users, without a key:
 *
 * - `balance` and `startingCredits` of the user of the API key, `speed` (`null`: jobs are done at once), `now`, `baseUrl`
 * - `jobs`, the newest 200: `id`, `kind`, `status` (where it really stands, synced or not), `credits`, `createdAt`,
 *   `model`, `prompt` (what was asked for, at most 120 characters), `outputs` (`name`, `url`, `mediaType`), `error`
 * - `uploads` and `posts`, the newest 50 of each, as the API shows them
 */
export function handleState(context: Context, call: Call): Answer {
  if (!isAtHome(call)) return answerForeign();
  const { books, library, speed, startingCredits } = context;
  const now = context.now();
  return answerJson(
    200,
    {
      success: true,
      baseUrl: `${call.origin}/api/v1`,
      balance: books.balance(mainUser),
      // An account that was topped up began anew.
      startingCredits: Math.max(startingCredits, books.balance(mainUser)),
      speed: Number.isFinite(speed) ? speed : null,
      now: describeTime(now),
      jobs: books
        .list(() => true)
        .slice(0, mostJobs)
        .map((job) => describeJob(context, job, call.origin)),
      uploads: library
        .list()
        .slice(0, mostOthers)
        .map((asset) => describeUpload(asset, call.origin)),
      posts: books.posts
        .slice(-mostOthers)
        .reverse()
        .map((entry) => describePost(entry, now)),
    },
    { 'cache-control': 'no-store' },
  );
}

function describeJob(context: Context, job: Job, origin: string): JsonObject {
  const view = viewJob(job, lifeOf(job, context.now(), context), origin);
  const { id, model, credits, life, body, files } = view;
  const { prompt, text, title, videoUrl } = body;
  const words = [prompt, text, title, videoUrl].find((value) => typeof value === 'string') ?? '';
  return {
    id,
    kind: job.kind.name,
    status: life.status,
    credits,
    createdAt: describeTime(life.createdAtMs),
    model,
    prompt: [...String(words)].slice(0, longestPrompt).join(''),
    outputs: life.status === 'COMPLETED' ? files.map(({ name, url, mediaType }) => ({ name, url, mediaType })) : [],
    error: describeFailure(life),
  };
}

/** No key is asked for here, so the caller must be on this machine and must have meant it: no foreign name leads here. */
function isAtHome(call: Call): boolean {
  return call.isLocal && isLoopbackUrl(call.origin);
}

function answerForeign(): Answer {
  const message = 'This is served to this machine only, as in http://127.0.0.1:4010/.';
  return answerProblem({ status: 403, code: 'not_local', message });
}
