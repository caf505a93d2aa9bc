import { randomBytes } from 'node:crypto';
import type { Access } from '../../campaign/environment.ts';
import type { CreateAnswer } from '../../contract/answer.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { Finding } from '../../contract/notice.ts';
import { canonicalJson } from '../../ground/json.ts';
import { requireKind } from '../../kinds/index.ts';
import { documentedCredits } from '../../kinds/price.ts';
import { countOf } from '../../report/numbers.ts';
import { createService } from '../../service/service.ts';
import { askPerson } from '../ask-person.ts';
import type { Terminal } from '../terminal.ts';

const about = 'replay';
const kind = 'music';
/** The cheapest job that there is. */
const request = { model: 'song-7.5', prompt: 'A quiet test tone for a replay check' };

/**
 * Buys the cheapest job and sends the very same request again: does the service answer with the same job? The one place
 * that spends without a plan, which is why it always asks.
 */
export async function verifyReplay(
  access: Access,
  { yes, terminal }: { yes: boolean | undefined; terminal: Terminal },
): Promise<Finding[]> {
  const service = createService({
    ...access,
    clock: systemClock,
    requestTimeoutMs: 30_000,
    createTimeoutMs: 120_000,
    patienceMs: 0,
  });
  try {
    if (!service.replays(kind)) {
      const text = 'not tried: the service replays only for API keys, and this is another credential';
      return [{ about, state: 'warning', text }];
    }
    const price = countOf(documentedCredits(requireKind(kind), request) ?? 0, 'credit');
    const question = `Buy one instrumental (${request.model}, ${price}; twice that should the replay fail)?`;
    if ((await askPerson(question, { yes, terminal })) !== 'yes') {
      return [{ about, state: 'ok', text: 'not tried: nobody agreed to spend' }];
    }
    const call = { kind, body: canonicalJson(request), key: `mediabatch-doctor-${randomBytes(12).toString('hex')}` };
    const first = await service.create(call);
    if (first.is !== 'accepted') return [notBought(first)];
    return compareAnswers(first, await service.create(call));
  } finally {
    await service.close();
  }
}

function notBought(answer: Exclude<CreateAnswer, { is: 'accepted' }>): Finding {
  const maybe = answer.is === 'ambiguous' ? '; it may have been charged' : '; nothing was charged';
  return {
    about,
    state: 'problem',
    text: `the first create came to nothing: ${answer.message}${maybe}`,
    exit: answer.is === 'refused' && answer.why === 'auth' ? exitCodes.keyRefused : exitCodes.unreachable,
  };
}

function compareAnswers(first: Extract<CreateAnswer, { is: 'accepted' }>, second: CreateAnswer): Finding[] {
  const { jobId, credits, balance } = first.job;
  const bought: Finding = {
    about,
    state: 'ok',
    text: `bought job ${jobId} for ${credits === null ? 'an unknown price' : countOf(credits, 'credit')}; it is in no lock, and can be found by this id alone`,
  };
  if (second.is !== 'accepted') {
    return [
      bought,
      {
        about,
        state: 'warning',
        text: `the second answer proves nothing: ${second.message}`,
        hint: 'try again in a minute; while the first request is being handled the service may say so',
      },
    ];
  }
  if (second.job.jobId !== jobId) {
    return [
      bought,
      {
        about,
        state: 'problem',
        text: `the same key gave another job, ${second.job.jobId}: this service does not replay, and both were charged`,
        hint: 'do not rely on lost answers being recovered: decide with resolve',
        exit: exitCodes.unreachable,
      },
    ];
  }
  const isSameBalance = balance === second.job.balance;
  return [
    bought,
    {
      about,
      state: isSameBalance ? 'ok' : 'warning',
      text: isSameBalance
        ? 'the same key gave the same job and the same balance: a lost answer can be asked for again without paying twice'
        : `the same key gave the same job, but the balance was ${balance ?? '?'} and is ${second.job.balance ?? '?'}`,
      ...(!isSameBalance && { hint: 'look in the dashboard whether it was charged twice' }),
    },
  ];
}
