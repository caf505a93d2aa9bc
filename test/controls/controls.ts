import type { Shown } from '../invariants/register.ts';

/** A protection that is switched off: `find` stands exactly once in `file`, and `replace` comes in its place. */
export interface Control {
  invariant: string;
  off: string;
  file: string;
  find: string;
  replace: string;
  /** What must then fail. */
  seenBy: Shown;
  /** The test runs the built command, so the altered sources are built first. */
  built?: true;
}

const engine = 'test/engine/run.test.ts';
const order = 'test/invariants/order-of-acts.test.ts';
const whole = 'test/invariants/command.test.ts';
const fingerprint = 'test/graph/fingerprint.test.ts';
const outcome = 'src/run/outcome.ts';
const sendCreate = 'src/run/send-create.ts';
const recordJob = 'src/run/record-job.ts';
const ledger = 'src/engine/local-ledger.ts';
const sends = 'test/engine/sends.test.ts';
const postsCommand = 'test/cli/posts.test.ts';
const postsModel = {
  file: 'test/engine/posts-model.test.ts',
  title: 'I24 whatever happens, in whatever order, a post is out once at most, and never without a consent',
};

export const controls: readonly Control[] = [
  {
    invariant: 'I1',
    off: 'a lost answer is asked for under the key of its intent',
    file: 'src/plan/make-order.ts',
    find: 'decision.purchase === undefined && known !== undefined',
    replace: 'decision.purchase === undefined && known !== undefined && decision.asks === undefined',
    seenBy: {
      file: 'test/engine/model.test.ts',
      title: 'each request is paid for at most once, and no paid id is ever lost',
    },
  },
  {
    invariant: 'I1',
    off: 'a refusal does not settle an earlier create of the same key whose answer was lost',
    file: outcome,
    find: "const isOpen = maybeSent && !(searches && answer.why === 'invalid');",
    replace: "const isOpen = maybeSent && !(searches || answer.why === 'invalid');",
    seenBy: { file: 'test/run/outcome.test.ts', title: 'invalid / replayed: give-up' },
  },
  {
    invariant: 'I1',
    off: 'a job that failed stays failed, whatever was refused before it',
    file: 'src/plan/match.ts',
    find: "same.find(({ state }) => state !== 'refused') ??",
    replace: "same.find(({ state }) => state === 'refused') ??",
    seenBy: {
      file: engine,
      title: 'stays failed until somebody asks for another: also when that create was of an earlier purchase',
    },
  },
  {
    invariant: 'I1',
    off: 'a job that runs is attached to',
    file: 'src/plan/decide.ts',
    find: "    case 'running':\n",
    replace: "    case 'running':\n      return buyAgain(match, purchase);\n",
    seenBy: {
      file: 'test/engine/model.test.ts',
      title: 'posts, parts, uploads and kinds that cannot be asked again are bought at most once, too',
    },
  },
  {
    invariant: 'I1',
    off: 'a create that nobody can ask for again is a person’s to decide about',
    file: 'src/engine/local-ledger.ts',
    find: "state: replays ? 'intent' : 'unresolved',",
    replace: "state: 'intent',",
    seenBy: {
      file: 'test/engine/run.test.ts',
      title: 'a token that cannot replay: one lost answer is enough, also after switching to a key',
    },
  },
  {
    invariant: 'I2',
    off: 'a line of the lock is synced before it counts, seen from outside',
    file: 'src/disk/lock-file.ts',
    find: 'await this.#handle.datasync();',
    replace: '',
    seenBy: { file: 'test/faults/strace.test.ts', title: 'I2 every create leaves after the sync of its intent' },
    built: true,
  },
  {
    invariant: 'I2',
    off: 'the create waits for its intent',
    file: sendCreate,
    find: 'const id = await ledger.intent(order, { body, replays, at, ...fenced, ...again });',
    replace:
      "void ledger.intent(order, { body, replays, at, ...fenced, ...again });\n  const id = known?.id ?? 'unknown';",
    seenBy: { file: order, title: 'I2 no create leaves before its intent is in the lock, on a slow disk either' },
  },
  {
    invariant: 'I2',
    off: 'a line of the lock is synced before it counts',
    file: 'src/disk/lock-file.ts',
    find: 'await this.#handle.datasync();',
    replace: '',
    seenBy: {
      file: 'test/disk/lock-file.test.ts',
      title: 'has every line synced before it says so, and groups those that wait',
    },
  },
  {
    invariant: 'I2',
    off: 'a failed write of the lock is told',
    file: 'src/engine/local-ledger.ts',
    find: `      this.#gate.stop('disk', error instanceof Error ? error.message : String(error));
      throw error;`,
    replace: '',
    seenBy: { file: order, title: 'I2 on a disk that fails at any line, nothing is sent that has no intent there' },
  },
  {
    invariant: 'I3',
    off: 'the first look waits for the id on disk',
    file: recordJob,
    find: "if ((await ledger.created(order, made.job, answered)) === 'taken') return 'taken';",
    replace: 'void ledger.created(order, made.job, answered);',
    seenBy: { file: order, title: 'I3 a job is not looked at before its id is in the lock' },
  },
  {
    invariant: 'I3',
    off: 'a job is told of after its id is on disk',
    file: recordJob,
    find: '  const { jobId, credits, balance } = made.job;\n',
    replace:
      "  const { jobId, credits, balance } = made.job;\n  emit({ event: 'job-created', address: order.address, jobId, credits, balance });\n",
    seenBy: { file: order, title: 'I3 whoever hears of a job finds its id on disk' },
  },
  {
    invariant: 'I4',
    off: 'what cannot be replayed is not sent again',
    file: outcome,
    find: 'return replays && isReplayed(ageMs);',
    replace: 'return replays || isReplayed(ageMs);',
    seenBy: { file: order, title: 'I4 a create is sent again under the same key and bytes, or not at all' },
  },
  {
    invariant: 'I4',
    off: 'an old intent is left to a person',
    file: 'src/plan/open-sends.ts',
    find: 'return ageMs >= -clockSlackMs && ageMs < replayWindowMs;',
    replace: 'return ageMs >= -clockSlackMs || ageMs < replayWindowMs;',
    seenBy: { file: engine, title: 'after 23 hours nobody sends it again: a person decides' },
  },
  {
    invariant: 'I4',
    off: 'bytes with a link of then are kept',
    file: 'src/engine/local-ledger.ts',
    find: 'if (findReferences(order.request).length > 0) await this.#bodies.keep',
    replace: 'if (findReferences(order.request).length < 0) await this.#bodies.keep',
    seenBy: { file: engine, title: 'a request with a link in it is sent again with the link of then' },
  },
  {
    invariant: 'I5',
    off: 'the key knows nothing of the machine',
    file: 'src/plan/key.ts',
    find: 'canonicalJson([1, purchase.campaign,',
    replace: "canonicalJson([1, purchase.campaign + (process.env.TZ ?? ''),",
    seenBy: { file: whole, title: 'I5 keys and bytes are the same in another folder, time zone, locale and hand' },
    built: true,
  },
  {
    invariant: 'I5',
    off: 'the key does not change with the version',
    file: 'src/plan/key.ts',
    find: 'canonicalJson([1, purchase.campaign,',
    replace: 'canonicalJson([2, purchase.campaign,',
    seenBy: {
      file: 'test/plan/key.test.ts',
      title: 'the key of a purchase never changes: another one would pay again',
    },
  },
  {
    invariant: 'I5',
    off: 'the order of keys is none',
    file: 'src/graph/fingerprint.ts',
    find: "hash('sha256', canonicalJson(covered))",
    replace: "hash('sha256', JSON.stringify(covered))",
    seenBy: {
      file: fingerprint,
      title: 'does not depend on the order of keys, quotes, comments, anchors and line ends',
    },
  },
  {
    invariant: 'I6',
    off: 'everything that is paid for is covered',
    file: 'src/graph/fingerprint.ts',
    find: 'request: step.paidRequest };',
    replace: "request: { prompt: step.paidRequest.prompt ?? '' } };",
    seenBy: { file: fingerprint, title: 'depends on every field that is paid for' },
  },
  {
    invariant: 'I6',
    off: 'a reference means what it refers to, not its name',
    file: 'src/graph/fingerprint.ts',
    find: "key === '$ref' && typeof item === 'string' ? replace(item) : visit(item)",
    replace: "key === '$ref' && typeof item === 'string' ? item : visit(item)",
    seenBy: { file: fingerprint, title: 'a change travels to the steps that refer to it' },
  },
  {
    invariant: 'I7',
    off: 'two jobs of one purchase are two facts',
    file: 'src/lock/join.ts',
    find: "const name = jobId ?? (mayBeCharged(purchase) ? (send ?? '') : key);",
    replace: "const name = mayBeCharged(purchase) ? (send ?? '') : key;",
    seenBy: { file: 'test/lock/join.test.ts', title: 'keeps every job id' },
  },
  {
    invariant: 'I7',
    off: 'a lock that git put back is joined with what the run knows',
    file: 'src/cli/settle-lock.ts',
    find: 'joinLocks(reading.lock, ledger.lock)',
    replace: 'reading.lock',
    seenBy: {
      file: 'test/cli/resume.test.ts',
      title: 'with a lock that git put back in the middle of a run: both are joined, no id is lost',
    },
    built: true,
  },
  {
    invariant: 'I8',
    off: 'the state that is further wins',
    file: 'src/lock/join.ts',
    find: 'const further = ranks[a.state] >= ranks[b.state] ? a : b;',
    replace: 'const further = ranks[a.state] >= ranks[b.state] ? b : a;',
    seenBy: {
      file: 'test/lock/join.test.ts',
      title: 'never moves a state back, and never forgets an intent that has no answer',
    },
  },
  {
    invariant: 'I9',
    off: 'the lock is replaced by a rename',
    file: 'src/disk/replace.ts',
    find: 'await renameFile(temporary, path);',
    replace: `const there = await open(path, 'w');
    for (let at = 0; at < bytes.length; at += 1000) await there.write(bytes.subarray(at, at + 1000));
    await there.close();
    await unlink(temporary);`,
    seenBy: {
      file: 'test/disk/replace.test.ts',
      title: 'shows whoever looks all of the old or all of the new text',
    },
  },
  {
    invariant: 'I9',
    off: 'the new lock is synced before it gets the name, and the name after',
    file: 'src/disk/replace.ts',
    find: '    await handle.sync();\n',
    replace: '',
    seenBy: {
      file: 'test/disk/replace.test.ts',
      title: 'syncs the file before it is renamed, and the folder after',
    },
  },
  {
    invariant: 'I10',
    off: 'a length that was announced is held against what came',
    file: 'src/disk/save-output.ts',
    find: 'if (isCutShort(found.type, { head, tail, bytes })) {',
    replace: 'if (isCutShort(found.type, { head, tail, bytes }) && bytes < 0) {',
    seenBy: {
      file: 'test/disk/attacks.test.ts',
      title: 'a picture that is cut in its middle is refused, also when its length was announced honestly',
    },
  },
  {
    invariant: 'I10',
    off: 'outputs on disk are looked at by their bytes',
    file: 'src/disk/check-outputs.ts',
    find: "if (stats.size !== bytes) return 'changed';",
    replace: "if (stats.size > 0 || bytes > 0) return 'intact';",
    seenBy: { file: whole, title: 'I10 is not said while an output is damaged: it is fetched again first' },
    built: true,
  },
  {
    invariant: 'I11',
    off: 'a download has another name until it is whole',
    file: 'src/disk/save-output.ts',
    find: "const temporary = join(folder, temporaryName('part'));",
    replace: "const temporary = base.concat('.png');\n  temporaryName;\n  join;",
    seenBy: { file: 'test/disk/outputs.test.ts', title: 'has no final name when it is killed in the middle' },
  },
  {
    invariant: 'I12',
    off: 'a torn tail is cut before anything is appended',
    file: 'src/disk/lock-file.ts',
    find: 'if (isTorn) await handle.truncate(this.#size);',
    replace: '',
    seenBy: { file: 'test/disk/lock-file.test.ts', title: 'ends a last line that has no LF, and cuts a torn one' },
  },
  {
    invariant: 'I12',
    off: 'a last line that is no JSON is torn',
    file: 'src/lock/split-lines.ts',
    find: "(text.trim() === '' || isJson(text) || isConflictMarker(text))",
    replace: "(text.trim() !== '' || isJson(text) || isConflictMarker(text))",
    seenBy: {
      file: 'test/lock/torn.test.ts',
      title: 'is found at every byte, and what is appended after the cut is kept',
    },
  },
  {
    invariant: 'I12',
    off: 'a line ends with CR, too, where an editor wrote it so',
    file: 'src/lock/split-lines.ts',
    find: 'Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1',
    replace: 'bytes.lastIndexOf(lineFeed) + (carriageReturn > 0 ? 1 : 0)',
    seenBy: {
      file: 'test/lock/edited-files.test.ts',
      title: 'is cut where a run was cut off afterwards, and nowhere else',
    },
  },
  {
    invariant: 'I22',
    off: 'the header names the service before anything is bought from it',
    file: 'src/cli/settle-lock.ts',
    find: 'const isClaimed = claims && (loaded.isOfAnother || loaded.isOlder);',
    replace: 'const isClaimed = claims && loaded.isOlder;',
    seenBy: {
      file: 'test/cli/service-moved.test.ts',
      title: 'and has nothing on record becomes the lock of this one, before anything is bought',
    },
    built: true,
  },
  {
    invariant: 'I12',
    off: 'only what an append of ours can have left is cut',
    file: 'src/lock/split-lines.ts',
    find: 'if (isWhole || isBegunLine(last, before)) {',
    replace: 'if (isWhole || last.length > 0 || isBegunLine(last, before)) {',
    seenBy: {
      file: 'test/lock/problems.test.ts',
      title: 'two lines in one is nothing that a run leaves: damage, and nothing is cut',
    },
  },
  {
    invariant: 'I13',
    off: 'a guard is placed only where there is none',
    file: 'src/disk/guard.ts',
    find: '    await link(temporary, path);\n',
    replace: '    await renameFile(temporary, path);\n    link;\n',
    seenBy: { file: 'test/disk/guard.test.ts', title: 'is had by one at a time' },
  },
  {
    invariant: 'I13',
    off: 'a holder that lives is not taken for dead',
    file: 'src/disk/process-identity.ts',
    find: "stat.started !== holder.started || stat.state === 'Z'",
    replace: "stat.started !== holder.started || stat.state === 'T' || stat.state === 'Z'",
    seenBy: { file: 'test/disk/guard.test.ts', title: 'keeps its guard while it is stopped' },
  },
  {
    invariant: 'I14',
    off: 'what does not fit is not reserved',
    file: 'src/engine/budget.ts',
    find: 'if (credits > this.left) return',
    replace: 'if (credits > this.left + 2) return',
    seenBy: {
      file: 'test/engine/budget.test.ts',
      title: 'spent and held never exceed the cap, for any interleaving of any steps',
    },
  },
  {
    invariant: 'I14',
    off: 'a price that nobody knows goes alone',
    file: 'src/engine/budget.ts',
    find: "if (this.#isCapped || (credits === null && held.class === price.class)) return { is: 'later' };",
    replace: "if (held.class === '') return { is: 'later' };",
    seenBy: { file: engine, title: 'holds although the price is not known before the first charge' },
  },
  {
    invariant: 'I15',
    off: '402 ends the buying',
    file: outcome,
    find: "error, stop: 'balance' }",
    replace: 'error }',
    seenBy: { file: engine, title: '402: no further create, what runs is collected, the next run makes a new attempt' },
  },
  {
    invariant: 'I15',
    off: '401 ends the buying',
    file: outcome,
    find: "error, stop: 'auth' }",
    replace: 'error }',
    seenBy: { file: 'test/run/outcome.test.ts', title: 'auth / fresh: refuse auth' },
  },
  {
    invariant: 'I16',
    off: 'a create is not sent for ever',
    file: outcome,
    find: 'const mostTries = 8;',
    replace: 'const mostTries = 80;',
    seenBy: { file: order, title: "I16 of '503' is met with a bounded number of requests" },
  },
  {
    invariant: 'I16',
    off: 'whoever is told to wait 0 seconds waits one',
    file: outcome,
    find: 'Math.max(1000, afterMs ??',
    replace: 'Math.max(0, afterMs ??',
    seenBy: { file: 'test/run/outcome.test.ts', title: 'a wait that a server asks for is neither busy nor endless' },
  },
  {
    invariant: 'I17',
    off: 'the key is taken out of what a service says',
    file: 'src/service/secrets.ts',
    find: "seen.replaceAll(spelling, '[key]')",
    replace: 'seen.replaceAll(spelling, spelling)',
    seenBy: {
      file: whole,
      title: 'I17 is in no output and no file, though the service says it back in every spelling',
    },
    built: true,
  },
  {
    invariant: 'I18',
    off: 'plan and apply decide with the same facts',
    file: 'src/cli/apply-campaign.ts',
    find: '      redo: options.redo ?? [],\n      ...selectionOf(options),\n',
    replace: "      redo: ['*'],\n      ...selectionOf(options),\n",
    seenBy: {
      file: 'test/cli/plan-apply.test.ts',
      title: 'for six generated campaigns, each after an earlier one was applied',
    },
    built: true,
  },
  {
    invariant: 'I19',
    off: 'a plan writes nothing',
    file: 'src/cli/commands/plan.ts',
    find: "  const format = options.json ? 'json' :",
    replace:
      "  await (await import('node:fs/promises')).writeFile('plan.json', '{}');\n  const format = options.json ? 'json' :",
    seenBy: { file: 'test/cli/answers.test.ts', title: 'plan, status and validate write nothing and need nobody' },
    built: true,
  },
  {
    invariant: 'I20',
    off: 'the key is made of what is bought, not of who buys it',
    file: 'src/plan/key.ts',
    find: 'canonicalJson([1, purchase.campaign,',
    replace: 'canonicalJson([process.pid, purchase.campaign,',
    seenBy: { file: 'test/cli/resume.test.ts', title: 'in a second clone: the same jobs' },
    built: true,
  },
  {
    invariant: 'I20',
    off: 'after a refusal the keys are walked from the first',
    file: sendCreate,
    find: 'return { next: underKey({ ...rest, refused: isWalked ? order.attempt : order.refused }, 1) };',
    replace: 'return { next: underKey(rest, order.attempt + 1) };',
    seenBy: {
      file: 'test/conduct/credit-wait.test.ts',
      title: 'each try walks the keys from the first, so that a clone finds what was bought',
    },
  },
  {
    invariant: 'I20',
    off: 'a key that was refused before may only have been repeated',
    file: sendCreate,
    find: 'if (isWalked && order.attempt <= order.refused) {',
    replace: 'if (isWalked && order.attempt < order.refused) {',
    seenBy: {
      file: 'test/conduct/credit-wait.test.ts',
      title: 'each try walks the keys from the first, so that a clone finds what was bought',
    },
  },
  {
    invariant: 'I21',
    off: 'an open send is a row of every plan',
    file: 'src/plan/assemble.ts',
    find: 'rows.push(...asks);',
    replace: '',
    seenBy: { file: sends, title: 'stays a row of the plan when its step is removed or not selected' },
  },
  {
    invariant: 'I21',
    off: 'an open send is asked about before anything else is bought at its address',
    file: 'src/engine/order-of-work.ts',
    find: '? [] : (asks.get(order.address) ?? []);',
    replace: '? [] : (asks.get(order.key) ?? []);',
    seenBy: {
      file: sends,
      title: 'stays a row of the plan when its step is edited, and is asked about before anything else is bought there',
    },
  },
  {
    invariant: 'I21',
    off: 'another account is not asked about a send',
    file: 'src/plan/open-sends.ts',
    find: 'return own === undefined || own === account;',
    replace: 'return own !== undefined || own === account;',
    seenBy: { file: sends, title: 'of another account is left to a person' },
  },
  {
    invariant: 'I22',
    off: 'a refusal of one send says nothing of another',
    file: 'src/lock/join.ts',
    find: 'return !(mayBeCharged(fact) && fact.send !== undefined && closed.has(fact.send));',
    replace: "return !(mayBeCharged(fact) && [...facts.values()].some(({ state }) => state === 'refused'));",
    seenBy: { file: sends, title: 'is not closed by a refusal of another branch, in either order of merging' },
  },
  {
    invariant: 'I22',
    off: 'each send of a kind without replay is held by itself',
    file: 'src/plan/held.ts',
    find: 'const name = jobId === undefined ? sendOf(purchase) :',
    replace: 'const name = jobId === undefined ? purchase.key :',
    seenBy: { file: sends, title: 'that both lost an answer of a kind without replay have two open sends' },
  },
  {
    invariant: 'I22',
    off: 'one id is the answer to one request',
    file: ledger,
    find: "if (!this.#journal.claimJob(order, job.jobId)) return 'taken';",
    replace: 'this.#journal.claimJob(order, job.jobId);',
    seenBy: { file: sends, title: 'two creates at once with one id: one of them stays open' },
  },
  {
    invariant: 'I24',
    off: 'what left once for an address never leaves again',
    file: 'src/plan/decide.ts',
    find: '  if (posted !== undefined) return posted;\n',
    replace: '',
    seenBy: postsModel,
  },
  {
    invariant: 'I24',
    off: 'a post whose answer was lost is not sent anew because its input changed',
    file: 'src/plan/posts.ts',
    find: '(isOpenSend)) {\n',
    replace: '(isOpenSend) && purchase !== undefined) {\n',
    seenBy: { file: 'test/plan/posts.test.ts', title: 'is for a person to decide: as it was before its input changed' },
  },
  {
    invariant: 'I24',
    off: 'what is forgotten is out all the same',
    file: 'src/plan/post-record.ts',
    find: 'export function sendsOf({ kind, purchases }: StepRecord): Purchase[] {\n',
    replace:
      'export function sendsOf({ kind, purchases: all }: StepRecord): Purchase[] {\n  const purchases = all.filter(({ forgotten }) => !forgotten);\n',
    seenBy: { file: 'test/plan/posts.test.ts', title: 'is not sent again because it was forgotten' },
  },
  {
    invariant: 'I24',
    off: 'no order of a post is carried out that nobody agreed to',
    file: 'src/run/step.ts',
    find: 'if (leaves && order.publish !== true) return',
    replace: 'if (leaves && order.attempt === 0) return',
    seenBy: { file: 'test/run/step.test.ts', title: 'that nobody agreed to is left, whoever hands it over' },
  },
  {
    invariant: 'I24',
    off: 'neither a budget nor --yes is a consent to publish',
    file: 'src/cli/agree.ts',
    find: "options.yes !== true ? 'asked' : 'missing'",
    replace: "options.yes !== true ? 'asked' : 'given'",
    seenBy: {
      file: postsCommand,
      title: 'is not that for credits: neither a budget nor --yes publishes, and the rest is done',
    },
    built: true,
  },
  {
    invariant: 'I24',
    off: 'a saved plan agrees to the posts that it names, and to no others',
    file: 'src/cli/check-saved-plan.ts',
    find: '=> saved.publishes.has(address))',
    replace: '=> saved.addresses.has(address))',
    seenBy: { file: postsCommand, title: 'a saved plan gives it that names them, once, and to nothing else' },
    built: true,
  },
  {
    invariant: 'I24',
    off: 'a selection that covers a post does not send it again',
    file: 'src/cli/redo-posts.ts',
    find: ' && !named.has(step.address)',
    replace: ' && named.size === 0',
    seenBy: { file: postsCommand, title: 'a saved plan that redoes it does so once' },
    built: true,
  },
];
