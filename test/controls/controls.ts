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
const buy = 'src/run/buy.ts';

export const controls: readonly Control[] = [
  {
    invariant: 'I1',
    off: 'a lost answer is asked for under the key of its intent',
    file: 'src/plan/decide.ts',
    find: 'attempt: purchase.attempt, key: purchase.key }',
    replace: 'attempt: purchase.attempt + 1 }',
    seenBy: {
      file: 'test/engine/model.test.ts',
      title: 'each request is paid for at most once, and no paid id is ever lost',
    },
  },
  {
    invariant: 'I1',
    off: 'a refusal does not settle an earlier create of the same key whose answer was lost',
    file: outcome,
    find: "const isOpen = maybeSent && !(searches && (why === 'invalid' || why === 'route'));",
    replace: "const isOpen = maybeSent && !(searches || why === 'invalid');",
    seenBy: { file: 'test/run/outcome.test.ts', title: 'invalid / replayed: give-up' },
  },
  {
    invariant: 'I1',
    off: 'what was refused under an old name keeps its key from being used again',
    file: 'src/plan/match.ts',
    find: '    for (const { fingerprint } of countedPurchases(record)) {\n',
    replace:
      "    for (const { fingerprint } of countedPurchases(record).filter(({ state }) => state !== 'refused')) {\n",
    seenBy: {
      file: 'test/plan/match.test.ts',
      title: 'takes what was refused, so that its key is not used again, but rather what was not',
    },
  },
  {
    invariant: 'I1',
    off: 'a job that failed stays failed, whatever was refused before it',
    file: 'src/plan/match.ts',
    find: '  return same[0];\n',
    replace: "  return same.find(({ state }) => state === 'refused') ?? same[0];\n",
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
    find: "state: request.replays ? 'intent' : 'unresolved',",
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
    file: buy,
    find: 'await ledger.intent(order,',
    replace: 'void ledger.intent(order,',
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
    find: `      this.stopSpending('disk', error instanceof Error ? error.message : String(error));
      throw error;`,
    replace: '',
    seenBy: { file: order, title: 'I2 on a disk that fails at any line, nothing is sent that has no intent there' },
  },
  {
    invariant: 'I3',
    off: 'the first look waits for the id on disk',
    file: buy,
    find: 'await ledger.created(order, answer.job);',
    replace: 'void ledger.created(order, answer.job);',
    seenBy: { file: order, title: 'I3 a job is not looked at before its id is in the lock' },
  },
  {
    invariant: 'I3',
    off: 'a job is told of after its id is on disk',
    file: buy,
    find: '  const { jobId, credits, balance } = answer.job;\n',
    replace:
      "  const { jobId, credits, balance } = answer.job;\n  emit({ event: 'job-created', address: order.address, jobId, credits, balance });\n",
    seenBy: { file: order, title: 'I3 whoever hears of a job finds its id on disk' },
  },
  {
    invariant: 'I4',
    off: 'what cannot be replayed is not sent again',
    file: outcome,
    find: 'return replays && Math.abs(ageMs) < replayWindowMs;',
    replace: 'return Math.abs(ageMs) < replayWindowMs;',
    seenBy: { file: order, title: 'I4 a create is sent again under the same key and bytes, or not at all' },
  },
  {
    invariant: 'I4',
    off: 'an old intent is left to a person',
    file: 'src/plan/decide.ts',
    find: 'const inWindow = Math.abs(facts.now - sentAt) < replayWindowMs;',
    replace: 'const inWindow = Math.abs(facts.now - sentAt) < Number.POSITIVE_INFINITY;',
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
    find: "purchase.jobId ?? ''}`;",
    replace: "''}`;",
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
    find: 'if (this.#isCapped || (credits === null && held.class === price.class)) return this.#waitForPrice(address);',
    replace: "if (held.class === '') return this.#waitForPrice(address);",
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
    find: '        redo: options.redo ?? [],\n        ...selectionOf(options),\n',
    replace: "        redo: ['*'],\n        ...selectionOf(options),\n",
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
    invariant: 'I26',
    off: 'an error that nobody awaits does not end the process',
    file: 'src/cli/last-resort.ts',
    find: "  process.on('uncaughtException', onError);\n",
    replace: '',
    seenBy: {
      file: 'test/conduct/broken-run.test.ts',
      title:
        'a library that throws at an event of its own ends a run as runs end: what is paid is on record, and said to be',
    },
    built: true,
  },
  {
    invariant: 'I26',
    off: 'a body that broke once never looks whole',
    file: 'src/service/read-body.ts',
    find: "  stream.on('error', (error) => finish({ error }));\n",
    replace: "  stream.on('error', () => finish({}));\n",
    seenBy: {
      file: 'test/service/download.test.ts',
      title: 'cut before its length ends while its reader is behind (HTTP/1.1)',
    },
  },
];
