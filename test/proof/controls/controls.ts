import type { Shown } from '../invariants/register.ts';
import type { MarkName, Switch } from './marks.ts';

/** A protection that is switched off. */
export interface Control {
  /** In its file, at the protected line. */
  mark: MarkName;
  off: string;
  file: string;
  /** What comes in place of the line or of a part of it. */
  switch: Switch;
  /** What must then fail. */
  seenBy: Shown;
  /** The test runs the built command, so the altered sources are built first. */
  built?: true;
}

export function invariantOf({ mark }: Pick<Control, 'mark'>): string {
  return mark.split(' ')[0] ?? mark;
}

const engine = 'test/rooms/engine/run.test.ts';
const order = 'test/proof/invariants/order-of-acts.test.ts';
const whole = 'test/proof/invariants/command.test.ts';
const fingerprint = 'test/rooms/graph/fingerprint.test.ts';
const outcome = 'src/run/outcome.ts';
const sendCreate = 'src/run/send-create.ts';
const recordJob = 'src/run/record-job.ts';
const ledger = 'src/engine/local-ledger.ts';
const sends = 'test/rooms/engine/sends.test.ts';
const postsCommand = 'test/command/posts.test.ts';
const postsModel = {
  file: 'test/rooms/engine/posts-model.test.ts',
  title: 'I24 whatever happens, in whatever order, a post is out once at most, and never without a consent',
};

/** The same bytes under the final name, piece by piece. */
const slowly = `const there = await open(path, 'w');
    for (let at = 0; at < bytes.length; at += 1000) await there.write(bytes.subarray(at, at + 1000));
    await there.close();
    await unlink(temporary);`;

export const controls: readonly Control[] = [
  {
    mark: 'I1',
    off: 'a lost answer is asked for under the key of its intent',
    file: 'src/plan/purchases/make-order.ts',
    switch: { part: '? known', by: '? { attempt: known.attempt + 1, key: known.key.slice(0, -1) }' },
    seenBy: {
      file: 'test/rooms/engine/model.test.ts',
      title: 'each request is paid for at most once, and no paid id is ever lost',
    },
  },
  {
    mark: 'I1',
    off: 'a refusal does not settle an earlier create of the same key whose answer was lost',
    file: outcome,
    switch: { part: '(searches && (', by: '(searches || (' },
    seenBy: { file: 'test/rooms/run/outcome.test.ts', title: 'invalid / replayed: give-up' },
  },
  {
    mark: 'I1',
    off: 'a job that runs is attached to',
    file: 'src/plan/decide.ts',
    switch: { line: 'return buyAgain(match, purchase);' },
    seenBy: {
      file: 'test/rooms/engine/model.test.ts',
      title: 'posts, parts, uploads and kinds that cannot be asked again are bought at most once, too',
    },
  },
  {
    mark: 'I1 (redo)',
    off: 'a job that runs is collected before --redo buys another',
    file: 'src/plan/decide.ts',
    switch: { part: "&& purchase.state !== 'running'", by: '' },
    seenBy: { file: 'test/rooms/plan/decide.test.ts', title: 'running' },
  },
  {
    mark: 'I1',
    off: 'a create that nobody can ask for again is a person’s to decide about',
    file: 'src/engine/journal.ts',
    switch: { part: "('unresolved' as const)", by: "('intent' as const)" },
    seenBy: {
      file: 'test/rooms/engine/run.test.ts',
      title: 'a token that cannot replay: one lost answer is enough, also after switching to a key',
    },
  },
  {
    mark: 'I2',
    off: 'a line of the lock is synced before it counts, seen from outside',
    file: 'src/disk/lock/lock-file.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/proof/killed/at-a-system-call.test.ts',
      title: 'I2 every create leaves after the sync of its intent',
    },
    built: true,
  },
  {
    mark: 'I2',
    off: 'the create waits for its intent',
    file: sendCreate,
    switch: { part: 'const id = await ', by: "const id = known?.id ?? 'unknown';\n  void " },
    seenBy: { file: order, title: 'I2 no create leaves before its intent is in the lock, on a slow disk either' },
  },
  {
    mark: 'I2',
    off: 'a line of the lock is synced before it counts',
    file: 'src/disk/lock/lock-file.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/disk/lock-file.test.ts',
      title: 'has every line synced before it says so, and groups those that wait',
    },
  },
  {
    mark: 'I2',
    off: 'a failed write of the lock is told',
    file: 'src/engine/local-ledger.ts',
    switch: { line: 'if (error !== undefined) return;' },
    seenBy: { file: order, title: 'I2 on a disk that fails at any line, nothing is sent that has no intent there' },
  },
  {
    mark: 'I3 (id)',
    off: 'the first look waits for the id on disk',
    file: recordJob,
    switch: { line: 'void ledger.created(order, made.job, answered);' },
    seenBy: { file: order, title: 'I3 a job is not looked at before its id is in the lock' },
  },
  {
    mark: 'I3 (told)',
    off: 'a job is told of after its id is on disk',
    file: recordJob,
    switch: {
      part: ' made.job;',
      by: " made.job;\n  emit({ event: 'job-created', address: order.address, jobId, credits: made.job.credits, balance });",
    },
    seenBy: { file: order, title: 'I3 whoever hears of a job finds its id on disk' },
  },
  {
    mark: 'I4',
    off: 'what cannot be replayed is not sent again',
    file: outcome,
    switch: { part: '&&', by: '||' },
    seenBy: { file: order, title: 'I4 a create is sent again under the same key and bytes, or not at all' },
  },
  {
    mark: 'I4',
    off: 'an old intent is left to a person',
    file: 'src/plan/purchases/open-sends.ts',
    switch: { part: '&&', by: '||' },
    seenBy: { file: engine, title: 'after 23 hours nobody sends it again: a person decides' },
  },
  {
    mark: 'I4',
    off: 'bytes with a link of then are kept',
    file: 'src/engine/local-ledger.ts',
    switch: { line: '' },
    seenBy: { file: engine, title: 'a request with a link in it is sent again with the link of then' },
  },
  {
    mark: 'I5',
    off: 'the key knows nothing of the machine',
    file: 'src/plan/purchases/key.ts',
    switch: { part: 'purchase.campaign', by: "purchase.campaign + (process.env.TZ ?? '')" },
    seenBy: { file: whole, title: 'I5 keys and bytes are the same in another folder, time zone, locale and hand' },
    built: true,
  },
  {
    mark: 'I5',
    off: 'the key does not change with the version',
    file: 'src/plan/purchases/key.ts',
    switch: { part: '[1,', by: '[2,' },
    seenBy: {
      file: 'test/rooms/plan/key.test.ts',
      title: 'the key of a purchase never changes: another one would pay again',
    },
  },
  {
    mark: 'I5',
    off: 'the order of keys is none',
    file: 'src/graph/render/fingerprint.ts',
    switch: { part: 'canonicalJson(', by: 'JSON.stringify(' },
    seenBy: {
      file: fingerprint,
      title: 'does not depend on the order of keys, quotes, comments, anchors and line ends',
    },
  },
  {
    mark: 'I6 (request)',
    off: 'everything that is paid for is covered',
    file: 'src/graph/render/fingerprint.ts',
    switch: { part: 'step.paidRequest', by: "{ prompt: step.paidRequest.prompt ?? '' }" },
    seenBy: { file: fingerprint, title: 'depends on every field that is paid for' },
  },
  {
    mark: 'I6 (reference)',
    off: 'a reference means what it refers to, not its name',
    file: 'src/graph/render/fingerprint.ts',
    switch: { part: 'replace(item)', by: 'item' },
    seenBy: { file: fingerprint, title: 'a change travels to the steps that refer to it' },
  },
  {
    mark: 'I7',
    off: 'two jobs of one purchase are two facts',
    file: 'src/lock/join-purchases.ts',
    switch: { part: 'purchase.jobId', by: 'purchase.jobId.slice(0, 1)' },
    seenBy: { file: 'test/rooms/lock/join.test.ts', title: 'keeps every job id' },
  },
  {
    mark: 'I7',
    off: 'a lock that git put back is joined with what the run knows',
    file: 'src/campaign/settle.ts',
    switch: { part: 'joinLocks(reading.lock, ledger.lock)', by: 'reading.lock' },
    seenBy: {
      file: 'test/command/resume.test.ts',
      title: 'with a lock that git put back in the middle of a run: both are joined, no id is lost',
    },
    built: true,
  },
  {
    mark: 'I8',
    off: 'the state that is further wins',
    file: 'src/lock/join-purchases.ts',
    switch: { part: '? a : b', by: '? b : a' },
    seenBy: {
      file: 'test/rooms/lock/join.test.ts',
      title: 'never moves a state back',
    },
  },
  {
    mark: 'I9 (rename)',
    off: 'the lock is replaced by a rename',
    file: 'src/disk/fs/replace.ts',
    switch: { line: slowly },
    seenBy: {
      file: 'test/rooms/disk/replace.test.ts',
      title: 'shows whoever looks all of the old or all of the new text',
    },
  },
  {
    mark: 'I9 (sync)',
    off: 'the new lock is synced before it gets the name, and the name after',
    file: 'src/disk/fs/replace.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/disk/replace.test.ts',
      title: 'syncs the file before it is renamed, and the folder after',
    },
  },
  {
    mark: 'I10',
    off: 'a length that was announced is held against what came',
    file: 'src/disk/outputs/save-output.ts',
    switch: { part: '(isCutShort', by: '(bytes < 0 && isCutShort' },
    seenBy: {
      file: 'test/rooms/disk/attacks.test.ts',
      title: 'a picture that is cut in its middle is refused, also when its length was announced honestly',
    },
  },
  {
    mark: 'I10',
    off: 'outputs on disk are looked at by their bytes',
    file: 'src/disk/outputs/check-outputs.ts',
    switch: { line: "if (stats.size > 0 || bytes > 0) return 'intact';" },
    seenBy: { file: whole, title: 'I10 is not said while an output is damaged: it is fetched again first' },
    built: true,
  },
  {
    mark: 'I10',
    off: 'a run on an engine is not done while files of it are elsewhere',
    file: 'src/campaign/on-engine/watch-engine.ts',
    switch: { part: 'exitCodes.someFailed', by: 'exit' },
    seenBy: {
      file: 'test/rooms/cluster/settle.test.ts',
      title: 'I10 is not said while files of a run are where another apply was attached',
    },
  },
  {
    mark: 'I11',
    off: 'a download has another name until it is whole',
    file: 'src/disk/outputs/save-output.ts',
    switch: { line: "const temporary = base.concat('.png');" },
    seenBy: { file: 'test/rooms/disk/outputs.test.ts', title: 'has no final name when it is killed in the middle' },
  },
  {
    mark: 'I12',
    off: 'a torn tail is cut before anything is appended',
    file: 'src/disk/lock/lock-file.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/disk/lock-file.test.ts',
      title: 'ends a last line that has no LF, and cuts a torn one',
    },
  },
  {
    mark: 'I12 (JSON)',
    off: 'a last line that is no JSON is torn',
    file: 'src/lock/split-lines.ts',
    switch: { part: "text.trim() === ''", by: "text.trim() !== ''" },
    seenBy: {
      file: 'test/rooms/lock/torn.test.ts',
      title: 'is found at every byte, and what is appended after the cut is kept',
    },
  },
  {
    mark: 'I12 (CR)',
    off: 'a line ends with CR, too, where an editor wrote it so',
    file: 'src/lock/split-lines.ts',
    switch: { part: 'bytes.lastIndexOf(carriageReturn)', by: '-1' },
    seenBy: {
      file: 'test/rooms/lock/edited-files.test.ts',
      title: 'is cut where a run was cut off afterwards, and nowhere else',
    },
  },
  {
    mark: 'I22',
    off: 'the header names the service before anything is bought from it',
    file: 'src/campaign/settle.ts',
    switch: { part: ' && loaded.isOfAnother', by: ' && false' },
    seenBy: {
      file: 'test/command/service-moved.test.ts',
      title: 'and has nothing on record becomes the lock of this one, before anything is bought',
    },
    built: true,
  },
  {
    mark: 'I12 (cut)',
    off: 'only what an append of ours can have left is cut',
    file: 'src/lock/split-lines.ts',
    switch: { part: '!isWhole && !isBegunLine', by: '!isWhole && last.length === 0 && !isBegunLine' },
    seenBy: {
      file: 'test/rooms/lock/problems.test.ts',
      title: 'two lines in one is nothing that a run leaves: damage, and nothing is cut',
    },
  },
  {
    mark: 'I13',
    off: 'a guard is placed only where there is none',
    file: 'src/disk/lock/guard.ts',
    switch: { part: 'link(', by: 'renameFile(' },
    seenBy: { file: 'test/rooms/disk/guard.test.ts', title: 'is had by one at a time' },
  },
  {
    mark: 'I13',
    off: 'a holder that lives is not taken for dead',
    file: 'src/disk/lock/process-identity.ts',
    switch: { part: "stat.state === 'Z'", by: "stat.state === 'T' || stat.state === 'Z'" },
    seenBy: { file: 'test/rooms/disk/guard.test.ts', title: 'keeps its guard while it is stopped' },
  },
  {
    mark: 'I14 (cap)',
    off: 'what does not fit is not reserved',
    file: 'src/engine/budget.ts',
    switch: { part: 'this.left', by: 'this.left + 2' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'spent and held never exceed the cap, for any interleaving of any steps',
    },
  },
  {
    mark: 'I14 (price)',
    off: 'a price that nobody knows goes alone',
    file: 'src/engine/budget.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'spent and held never exceed the cap, for any interleaving of any steps',
    },
  },
  {
    mark: 'I14 (trial)',
    off: 'under a cap the first step of each price goes alone, whoever said what it costs',
    file: 'src/engine/budget.ts',
    switch: { part: '.every((other) => this.#metBy(other) > 0)', by: '.length < 1000' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'prices that are too low exceed the cap by what one step is charged above its price, and no more',
    },
  },
  {
    mark: 'I14 (ramp)',
    off: 'under a cap those on their way grow with each charge that meets its reservation',
    file: 'src/engine/budget.ts',
    switch: { part: '< 2 ** met', by: '< 1000' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'charges that meet their reservations let 1, 2, 4, … go; one that does not, 1',
    },
  },
  {
    mark: 'I14 (worst)',
    off: 'under a cap what is on its way is never more than what is left could pay for at the worst',
    file: 'src/engine/budget.ts',
    switch: { part: 'worstFactor *', by: '' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'prices that rise exceed the cap by what one step is charged above its price, and no more',
    },
  },
  {
    mark: 'I14 (free)',
    off: 'what is said to be free does not begin when the cap is passed',
    file: 'src/engine/budget.ts',
    switch: { part: 'this.#leftBesideGuesses >= 0', by: 'true' },
    seenBy: { file: 'test/rooms/engine/budget.test.ts', title: 'what is said to be free goes alone until it was' },
  },
  {
    mark: 'I14 (list)',
    off: 'what is listed above what is left holds the first step back',
    file: 'src/plan/prices/fund.ts',
    switch: { part: 'Math.max(1, price?.likely ?? 1)', by: '1' },
    seenBy: {
      file: 'test/rooms/engine/prices.test.ts',
      title: 'a list price above what is left holds the first step back, in plan and run alike',
    },
  },
  {
    mark: 'I14 (listed)',
    off: 'what is listed above what is left by now holds the first step back, too',
    file: 'src/engine/budget.ts',
    switch: { part: 'Math.max(1, likely)', by: '1' },
    seenBy: {
      file: 'test/rooms/engine/budget.test.ts',
      title: 'a list holds the first step back that costs more than is left, and reserves nothing',
    },
  },
  {
    mark: 'I14 (hints)',
    off: 'what is only listed or was charged elsewhere reserves nothing',
    file: 'src/plan/prices/prices.ts',
    switch: { part: 'credits: null', by: 'credits: other?.high ?? null' },
    seenBy: {
      file: 'test/rooms/engine/prices.test.ts',
      title: 'the charge in another lock that is wrong: the first step goes alone, and the budget holds',
    },
  },
  {
    mark: 'I14 (held)',
    off: 'a charge that nobody tells is held at the highest price that anything names for its kind',
    file: 'src/plan/prices/held.ts',
    switch: { part: '?? price?.held', by: '' },
    seenBy: {
      file: 'test/rooms/plan/held.test.ts',
      title: 'is held at the highest price that anything names for its kind',
    },
  },
  {
    mark: 'I14 (told)',
    off: 'a list may not tell less than what is known',
    file: 'src/engine/local-ledger.ts',
    switch: { part: 'Math.max(credits, reserved ?? 0)', by: 'credits' },
    seenBy: { file: engine, title: 'what a list tells of a charge is believed upwards where a price is known' },
  },
  {
    mark: 'I14 (again)',
    off: 'a key that is sent again, and charged nothing then, was charged before',
    file: 'src/run/send-create.ts',
    switch: { part: "create.is === 'sent' && answer.job.credits === 0", by: 'false' },
    seenBy: {
      file: engine,
      title: 'a key that is sent again and charged nothing then was charged before, at a price that is known',
    },
  },
  {
    mark: 'I14 (adopt)',
    off: 'what a service tells of a job afterwards may not be less than what is known',
    file: 'src/plan/prices/prices.ts',
    switch: { part: 'Math.max(told, credits ?? 0)', by: 'told' },
    seenBy: {
      file: 'test/rooms/plan/prices.test.ts',
      title: 'is believed upwards when it is told of a job afterwards',
    },
  },
  {
    mark: 'I14 (balance)',
    off: 'a fall of the balance that is beyond all measure is believed to be others’',
    file: 'src/engine/local-ledger.ts',
    switch: { part: 'fall > most', by: 'fall < 0' },
    seenBy: {
      file: 'test/rooms/engine/charge.test.ts',
      title: 'a fall of the balance beyond all measure tells nothing',
    },
  },
  {
    mark: 'I14 (ceiling)',
    off: 'a charge above what the plan says ends the creates of its price',
    file: 'src/engine/agreed-ceiling.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/prices.test.ts',
      title: 'ends the creates of its price, and the next plan knows it',
    },
  },
  {
    mark: 'I14 (saved)',
    off: 'the ceilings that a saved plan shows hold where nobody knows the list of the service',
    file: 'src/plan/agreement.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/command/prices.test.ts',
      title: 'a ceiling of a saved plan holds when it is applied again, and where nobody knows of it',
    },
  },
  {
    mark: 'I15 (402)',
    off: '402 ends the buying',
    file: outcome,
    switch: { part: ", stop: 'balance'", by: '' },
    seenBy: { file: engine, title: '402: no further create, what runs is collected, the next run makes a new attempt' },
  },
  {
    mark: 'I15 (401)',
    off: '401 ends the buying',
    file: outcome,
    switch: { part: ", stop: 'auth'", by: '' },
    seenBy: { file: 'test/rooms/run/outcome.test.ts', title: 'auth / fresh: refuse auth' },
  },
  {
    mark: 'I16 (tries)',
    off: 'a create is not sent for ever',
    file: outcome,
    switch: { part: '8', by: '80' },
    seenBy: { file: order, title: "I16 of '503' is met with a bounded number of requests" },
  },
  {
    mark: 'I16 (wait)',
    off: 'whoever is told to wait 0 seconds waits one',
    file: outcome,
    switch: { part: '1000', by: '0' },
    seenBy: {
      file: 'test/rooms/run/outcome.test.ts',
      title: 'a wait that a server asks for is neither busy nor endless',
    },
  },
  {
    mark: 'I17',
    off: 'the key is taken out of what a service says',
    file: 'src/service/secrets.ts',
    switch: { part: "'[key]'", by: 'spelling' },
    seenBy: {
      file: whole,
      title: 'I17 is in no output and no file, though the service says it back in every spelling',
    },
    built: true,
  },
  {
    mark: 'I17 (links)',
    off: 'what signs a link is taken out of what a service says, before it comes into lock and history',
    file: 'src/service/secrets.ts',
    switch: { part: 'links.', by: 'text.' },
    seenBy: {
      file: 'test/command/history.test.ts',
      title: 'what signs a link is neither in the history nor in the lock',
    },
    built: true,
  },
  {
    mark: 'I18',
    off: 'plan and apply decide with the same facts',
    file: 'src/campaign/hold-and-plan.ts',
    switch: { part: 'chosen,', by: "chosen, redo: ['*']," },
    seenBy: {
      file: 'test/command/plan-apply.test.ts',
      title: 'for six generated campaigns, each after an earlier one was applied',
    },
    built: true,
  },
  {
    mark: 'I19',
    off: 'a plan writes nothing',
    file: 'src/cli/commands/plan.ts',
    switch: {
      part: 'await outAs(',
      by: "await (await import('node:fs/promises')).writeFile('plan.json', '{}');\n  await outAs(",
    },
    seenBy: { file: 'test/command/answers.test.ts', title: 'plan, status and validate write nothing and need nobody' },
    built: true,
  },
  {
    mark: 'I20',
    off: 'the key is made of what is bought, not of who buys it',
    file: 'src/plan/purchases/key.ts',
    switch: { part: '[1,', by: '[process.pid,' },
    seenBy: { file: 'test/command/resume.test.ts', title: 'in a second clone: the same jobs' },
    built: true,
  },
  {
    mark: 'I20 (walk)',
    off: 'after a refusal the keys are walked from the first',
    file: sendCreate,
    switch: { line: 'return { next: underKey(rest, order.attempt + 1) };' },
    seenBy: {
      file: 'test/command/conduct/credit-wait.test.ts',
      title: 'each try walks the keys from the first, so that a clone finds what was bought',
    },
  },
  {
    mark: 'I20 (repeated)',
    off: 'a key that was refused before may only have been repeated',
    file: sendCreate,
    switch: { part: '<=', by: '<' },
    seenBy: {
      file: 'test/command/conduct/credit-wait.test.ts',
      title: 'a refusal that the service repeats is passed by, and a clone finds what was bought',
    },
  },
  {
    mark: 'I21',
    off: 'an open send is a row of every plan',
    file: 'src/plan/assemble.ts',
    switch: { line: '' },
    seenBy: { file: sends, title: 'stays a row of the plan when its step is removed or not selected' },
  },
  {
    mark: 'I21',
    off: 'an open send is asked about before anything else is bought at its address',
    file: 'src/engine/order-of-work.ts',
    switch: { part: 'order.address', by: 'order.key' },
    seenBy: {
      file: 'test/rooms/engine/order-of-work.test.ts',
      title: 'I21 what is bought at an address waits for whoever asks about an open send of it',
    },
  },
  {
    mark: 'I21',
    off: 'another account is not asked about a send',
    file: 'src/plan/purchases/open-sends.ts',
    switch: { part: 'own === undefined', by: 'own !== undefined' },
    seenBy: { file: sends, title: 'of another account is left to a person' },
  },
  {
    mark: 'I22',
    off: 'a refusal of one send says nothing of another',
    file: 'src/lock/join.ts',
    switch: { part: '({ send }) => !closed.has(send)', by: '() => refusals.size === 0' },
    seenBy: { file: sends, title: 'is not closed by a refusal of another branch, in either order of merging' },
  },
  {
    mark: 'I22',
    off: 'each send of a kind without replay is held by itself',
    file: 'src/plan/prices/held.ts',
    switch: { part: 'purchase.send', by: 'purchase.key' },
    seenBy: { file: sends, title: 'that both lost an answer of a kind without replay have two open sends' },
  },
  {
    mark: 'I22',
    off: 'one id is the answer to one request',
    file: ledger,
    switch: { line: 'this.#journal.claimJob(order, job.jobId);' },
    seenBy: { file: sends, title: 'two creates at once with one id: one of them stays open' },
  },
  {
    mark: 'I22',
    off: 'a decision about a send goes along with a rename, and so does the refusal that keeps it on record',
    file: 'src/plan/rows/orphans.ts',
    switch: { line: 'facts.has(factOf(one));' },
    seenBy: {
      file: 'test/rooms/lock/histories.test.ts',
      title: 'a decision outlives its step’s rename, and the other sends of it',
    },
  },
  {
    mark: 'I24',
    off: 'what left once for an address never leaves again',
    file: 'src/plan/decide.ts',
    switch: { line: '' },
    seenBy: postsModel,
  },
  {
    mark: 'I24',
    off: 'a post whose answer was lost is not sent anew because its input changed',
    file: 'src/plan/posts/posts.ts',
    switch: { part: '(isOpenSend)', by: '(isOpenSend) && purchase !== undefined' },
    seenBy: {
      file: 'test/rooms/plan/posts.test.ts',
      title: 'is for a person to decide: as it was before its input changed',
    },
  },
  {
    mark: 'I24',
    off: 'what is forgotten is out all the same',
    file: 'src/plan/posts/post-record.ts',
    switch: { part: 'purchases', by: 'purchases.filter(({ forgotten }) => !forgotten)' },
    seenBy: { file: 'test/rooms/plan/posts.test.ts', title: 'is not sent again because it was forgotten' },
  },
  {
    mark: 'I24',
    off: 'no order of a post is carried out that nobody agreed to',
    file: 'src/run/step.ts',
    switch: { part: 'order.publish !== true', by: 'order.attempt === 0' },
    seenBy: { file: 'test/rooms/run/step.test.ts', title: 'that nobody agreed to is left, whoever hands it over' },
  },
  {
    mark: 'I24',
    off: 'neither a budget nor --yes is a consent to publish',
    file: 'src/cli/agree.ts',
    switch: { part: "'missing'", by: "'given'" },
    seenBy: {
      file: postsCommand,
      title: 'is not that for credits: neither a budget nor --yes publishes, and the rest is done',
    },
    built: true,
  },
  {
    mark: 'I24',
    off: 'a selection that covers a post does not send it again',
    file: 'src/campaign/make-plan.ts',
    switch: { part: '!named.has(step.address)', by: 'named.size === 0' },
    seenBy: { file: postsCommand, title: 'a saved plan that redoes it does so once' },
    built: true,
  },
  {
    mark: 'I23',
    off: 'what is kept in .mediabatch carries the seal of whoever kept it',
    file: 'src/disk/state/sealed-file.ts',
    switch: { part: 'timingSafeEqual(head, bytes.subarray(0, headLength))', by: 'head.length > 0' },
    seenBy: {
      file: 'test/rooms/disk/sealed-file.test.ts',
      title: 'counts for nothing, and what was kept here for all',
    },
  },
  {
    mark: 'I23',
    off: 'a kept body is one of the planned request',
    file: 'src/run/kept-body.ts',
    switch: { line: 'return body;' },
    seenBy: { file: 'test/rooms/run/kept-body.test.ts', title: 'is not taken with another text' },
  },
  {
    mark: 'I23',
    off: 'only files that were saved from here are moved',
    file: 'src/disk/outputs/relocate-output.ts',
    switch: { part: ' && saved.has(from.path, from.sha256)', by: '' },
    seenBy: {
      file: 'test/rooms/disk/relocate.test.ts',
      title: 'copies a file that was not saved from here, whatever the lock says, and says so',
    },
  },
  {
    mark: 'I23',
    off: 'only files that were saved from here are replaced',
    file: 'src/disk/fs/put-in-place.ts',
    switch: { part: ' && saved.has(name, old.sha256)', by: '' },
    seenBy: {
      file: 'test/rooms/disk/outputs.test.ts',
      title: 'replaces no file that was not saved from here, though the lock says that it may',
    },
  },
  {
    mark: 'I23',
    off: 'only files that were saved from here are deleted',
    file: 'src/campaign/find-leftovers.ts',
    switch: { part: 'saved.has(path, digest.sha256)', by: 'digest.bytes >= 0' },
    seenBy: {
      file: 'test/command/leftovers.test.ts',
      title: 'a file that the lock names, with its true digest, and that was not saved from here',
    },
  },
  {
    mark: 'I23',
    off: 'events are opened by the run that holds the lock',
    file: 'src/cli/recorder.ts',
    switch: { line: 'const sink = told(() => target.open());\n  return () => sink;' },
    seenBy: {
      file: 'test/command/security/named-files.test.ts',
      title: 'is a new file, or one of events, and a run that is turned away leaves it alone',
    },
    built: true,
  },
  {
    mark: 'I23',
    off: 'a way that begins in a repository stays there',
    file: 'src/disk/fs/own-tree.ts',
    switch: { part: 'real === wanted', by: 'real !== undefined' },
    seenBy: { file: 'test/rooms/disk/own-tree.test.ts', title: 'out/file: leads out of' },
  },
  {
    mark: 'I23 (size)',
    off: 'a schema of somebody else has a size',
    file: 'src/manifest/check/metered-schema.ts',
    switch: { part: '> mostParts)', by: '> 1e9)' },
    seenBy: { file: 'test/rooms/manifest/json-schema.test.ts', title: 'is none when it has more than' },
  },
  {
    mark: 'I23 (references)',
    off: 'a part of a schema that is not counted is not referred to',
    file: 'src/manifest/check/metered-schema.ts',
    switch: { line: '' },
    seenBy: { file: 'test/rooms/manifest/json-schema.test.ts', title: 'is none when it which is no schema' },
  },
  {
    mark: 'I23',
    off: 'a saved plan does what it shows',
    file: 'src/campaign/saved-plan.ts',
    switch: { part: 'findContradiction(plan)', by: "['', undefined][1]" },
    seenBy: { file: 'test/command/saved-plan.test.ts', title: 'refuses one with a smaller total' },
    built: true,
  },
  {
    mark: 'I23',
    off: 'JSON orders no build system about',
    file: 'src/report/safe-text.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/report/safe-text.test.ts',
      title: 'holds no order to a build system, as a key or as a value',
    },
  },
  {
    mark: 'I25',
    off: 'an address that exists is always that address',
    file: 'src/plan/select/names.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/plan/names.test.ts',
      title: 'selects its step and nothing else, however it was printed',
    },
  },
  {
    mark: 'I25',
    off: 'advice after play money is about play money',
    file: 'src/cli/paste.ts',
    switch: { part: "campaign: 'always'", by: "campaign: 'never'" },
    seenBy: {
      file: 'test/command/printed-commands.test.ts',
      title: 'after failures: one mends them all, and it is about play money',
    },
    built: true,
  },
  {
    mark: 'I26 (step)',
    off: 'a mistake of ours in one step stops the run',
    file: 'src/run/step.ts',
    switch: { part: '|| !isDefect(error)', by: '|| isDefect(error)' },
    seenBy: {
      file: 'test/rooms/engine/broken-steps.test.ts',
      title: 'ends that step alone, and pays nothing twice (before the call)',
    },
  },
  {
    mark: 'I26 (open)',
    off: 'of a step that a mistake of ours broke off while a send is open, nothing is said to be charged',
    file: 'src/run/step.ts',
    switch: { part: 'isOpenSend(left)', by: 'isOpenSend(left) && false' },
    seenBy: {
      file: 'test/rooms/engine/broken-steps.test.ts',
      title: 'ends that step alone, and pays nothing twice (after the call)',
    },
  },
  {
    mark: 'I26',
    off: 'an error that nobody awaits does not end the process',
    file: 'src/cli/signals.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/command/conduct/broken-run.test.ts',
      title:
        'a library that throws at an event of its own ends a run as runs end: what is paid is on record, and said to be',
    },
    built: true,
  },
  {
    mark: 'I26',
    off: 'a body that broke once never looks whole',
    file: 'src/service/download.ts',
    switch: { part: '(error) => finish({ error })', by: '() => finish({})' },
    seenBy: {
      file: 'test/rooms/service/download.test.ts',
      title: 'cut before its length ends while its reader is behind (HTTP/1.1)',
    },
  },
  {
    mark: 'I27',
    off: 'what hangs on an open gate waits',
    file: 'src/plan/gates/block-at-gates.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/plan/gates.test.ts',
      title: 'I27 nothing is bought that hangs on an open gate, and nothing without saying what it is made from',
    },
  },
  {
    mark: 'I27 (saved)',
    off: 'a saved plan is stale when the gates that it counted on are gone',
    file: 'src/campaign/save-plan.ts',
    switch: { line: 'const gates: string[] = [];' },
    seenBy: {
      file: 'test/command/decisions/gates.test.ts',
      title: 'a saved plan names what follows a gate: picks do not make it stale, and it buys it once',
    },
    built: true,
  },
  {
    mark: 'I27 (run)',
    off: 'a run takes in only what its plan named, at no higher price',
    file: 'src/plan/gates/take-in.ts',
    switch: { part: 'own.covers(row)', by: 'true' },
    seenBy: {
      file: 'test/rooms/campaign/live-run.test.ts',
      title: 'a charge above what the plan says is the last one of its price',
    },
  },
  {
    mark: 'I27 (made)',
    off: 'a run takes in nothing that would be made from what is to be made anew',
    file: 'src/plan/gates/take-in.ts',
    switch: { line: 'return false;' },
    seenBy: {
      file: 'test/rooms/campaign/live-run.test.ts',
      title: 'what would be made from what is to be made anew is for the next run',
    },
  },
  {
    mark: 'I27 (taken back)',
    off: 'a run lets go of what is made from a pick that was taken back before it left',
    file: 'src/plan/gates/take-in.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/campaign/live-run.test.ts',
      title: 'nothing is bought or posted from what was rejected before it left',
    },
  },
  {
    mark: 'I28',
    off: 'a canary that was tried keeps its seat',
    file: 'src/plan/gates/canaries.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/canary-runs.test.ts',
      title: 'keeps its seat when it failed, whatever is selected; another request begins anew',
    },
  },
  {
    mark: 'I28 (failed)',
    off: 'behind a canary that failed before nothing is bought',
    file: 'src/plan/gates/hold-for-canaries.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/canary-runs.test.ts',
      title: 'keeps its seat when it failed, whatever is selected; another request begins anew',
    },
  },
  {
    mark: 'I28 (run)',
    off: 'others wait in the run until their canary is done and fits',
    file: 'src/engine/order-of-work.ts',
    switch: { part: 'waitsFor(order)', by: 'order.needs' },
    seenBy: {
      file: 'test/rooms/engine/canary-runs.test.ts',
      title: 'sends it alone, and fills the slots with the others as soon as its file is saved',
    },
  },
  {
    mark: 'I28 (saved)',
    off: 'a saved plan is stale when the canaries that it counted on are gone',
    file: 'src/campaign/save-plan.ts',
    switch: { line: 'const canaries: string[] = [];' },
    seenBy: {
      file: 'test/command/decisions/canaries.test.ts',
      title: 'a saved plan goes on where it stopped, and counts on its canaries',
    },
    built: true,
  },
  {
    mark: 'I29 (host)',
    off: 'only names of this machine are answered',
    file: 'src/review/serve/read-request.ts',
    switch: { line: '' },
    seenBy: { file: 'test/rooms/review/serve.test.ts', title: 'a foreign name is refused, and nothing is told' },
  },
  {
    mark: 'I29 (origin)',
    off: 'a page of another origin is not answered',
    file: 'src/review/serve/read-request.ts',
    switch: { line: '' },
    seenBy: { file: 'test/rooms/review/serve.test.ts', title: 'another port is refused, and nothing is told' },
  },
  {
    mark: 'I29 (token)',
    off: 'who does not know the token is not answered',
    file: 'src/review/serve/read-request.ts',
    switch: { line: '' },
    seenBy: { file: 'test/rooms/review/serve.test.ts', title: 'another token is refused, and nothing is told' },
  },
  {
    mark: 'I29 (site)',
    off: 'what another site makes a browser ask is not answered',
    file: 'src/review/serve/read-request.ts',
    switch: { line: 'return true;' },
    seenBy: { file: 'test/rooms/review/serve.test.ts', title: 'another site is refused, and nothing is told' },
  },
  {
    mark: 'I29 (once)',
    off: 'what programs are called with opens the page once',
    file: 'src/review/serve/serve-review.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/review/serve.test.ts',
      title: 'the entrance leads to the page once, and only whoever may ask',
    },
  },
  {
    mark: 'I29 (bytes)',
    off: 'what a page shows has the bytes that a verdict is about',
    file: 'src/review/serve/send-file.ts',
    switch: { part: 'digest.sha256 === sha256', by: 'digest.sha256 !== undefined' },
    seenBy: {
      file: 'test/rooms/review/serve.test.ts',
      title: 'of which other bytes of the same length have taken the place are not sent',
    },
  },
  {
    mark: 'I29',
    off: 'nobody else can reach it',
    file: 'src/review/serve/serve-review.ts',
    switch: { part: "'127.0.0.1'", by: "'0.0.0.0'" },
    seenBy: { file: 'test/rooms/review/serve.test.ts', title: 'nothing but 127.0.0.1 is listened on' },
  },
  {
    mark: 'I29',
    off: 'what could be run is not shown as that',
    file: 'src/review/serve/send-file.ts',
    switch: { part: 'shown.includes(type)', by: 'true' },
    seenBy: {
      file: 'test/rooms/review/serve.test.ts',
      title: 'what the lock calls image/svg+xml is never shown as that',
    },
  },
  {
    mark: 'I23',
    off: 'a line of the lock shows media files only',
    file: 'src/disk/outputs/placed-files.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/review/campaign-host.test.ts',
      title: 'a file that is missing, of another size, a link or no media is not served',
    },
  },
  {
    mark: 'I30',
    off: 'a verdict is on disk before it is answered',
    file: 'src/engine/journal.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/campaign/live-model.test.ts',
      title:
        'nothing is bought that was not named, nothing twice, and no verdict that was answered is lost, killed or not',
    },
  },
  {
    mark: 'I31',
    off: 'a line is written by the head of the highest epoch alone',
    file: 'src/cluster/head/lines.ts',
    switch: { part: 'FROM held ON', by: 'FROM mediabatch.account WHERE id = $1 ON' },
    seenBy: {
      file: 'test/rooms/cluster/lock-file-contract.test.ts',
      title: 'are refused once they belong to another, and everything after that',
    },
  },
  {
    mark: 'I32',
    off: 'an end is written by the head of the highest epoch alone',
    file: 'src/cluster/runs/runs.ts',
    switch: { part: 'FROM held, unnest', by: 'FROM mediabatch.account AS held, unnest' },
    seenBy: {
      file: 'test/rooms/cluster/runs.test.ts',
      title: 'knows how its orders have ended: the first word counts, and only that of its head',
    },
  },
  {
    mark: 'I33',
    off: 'an event is written by the head of the highest epoch alone',
    file: 'src/cluster/runs/events.ts',
    switch: { part: 'FROM held ON', by: 'FROM mediabatch.account WHERE id = $1 ON' },
    seenBy: {
      file: 'test/rooms/cluster/runs.test.ts',
      title: 'tells its events in order, a few rows for many, until its head is another',
    },
  },
  {
    mark: 'I34',
    off: 'a run is ended by the head of the highest epoch alone',
    file: 'src/cluster/runs/runs.ts',
    switch: { part: ' AND EXISTS (SELECT FROM held)', by: '' },
    seenBy: {
      file: 'test/rooms/cluster/runs.test.ts',
      title: 'takes its bodies and links along when it ends, and nothing when its head is another',
    },
  },
  {
    mark: 'I35',
    off: 'whether a create may still leave is asked right before it is written',
    file: 'src/service/exchange.ts',
    switch: { part: 'this.#mayLeave?.() !== false', by: 'true' },
    seenBy: {
      file: 'test/rooms/service/create-connections.test.ts',
      title: 'I35 a kind without replay: whether it may leave is asked when its connection is there',
    },
  },
  {
    mark: 'I36',
    off: 'what a database keeps of links and bodies is sealed',
    file: 'src/cluster/seal.ts',
    switch: { part: 'cipher.update(bytes)', by: 'bytes' },
    seenBy: {
      file: 'test/rooms/cluster/values.test.ts',
      title: 'never looks the same twice, and shows nothing of the text',
    },
  },
  {
    mark: 'I37',
    off: 'an account has one head, and so one poller',
    file: 'src/cluster/database/boss.ts',
    switch: { part: 'exclusive', by: 'standard' },
    seenBy: {
      file: 'test/rooms/cluster/seat.test.ts',
      title: 'a job that was deleted is sent again, and a waiting one stays alone',
    },
  },
  {
    mark: 'I4 (path)',
    off: 'another path is tried only where the first one does not exist',
    file: 'src/service/create.ts',
    switch: { part: "answer.is !== 'no-route'", by: "answer.is === 'accepted'" },
    seenBy: { file: 'test/rooms/service/refusal.test.ts', title: 'is not followed by another after a lost answer' },
  },
  {
    mark: 'I45',
    off: 'a run that is given up takes the right to write from its head',
    file: 'src/cluster/runs/runs.ts',
    switch: { line: '      `UPDATE mediabatch.account SET epoch = epoch' },
    seenBy: {
      file: 'test/rooms/cluster/unlock.test.ts',
      title:
        'I45 a run that its engine has open is not given free; where that is forced it ends there, and its lines come here',
    },
    built: true,
  },
  {
    mark: 'I45 (asked)',
    off: 'an engine that does not answer is not taken for gone',
    file: 'src/campaign/on-engine/give-up-run.ts',
    switch: { part: " || (found.is === 'not asked' && !request.force)", by: '' },
    seenBy: {
      file: 'test/rooms/cluster/unlock.test.ts',
      title:
        'I45 an engine that cannot be reached may have the run open: only force gives the lock free, and says what it costs',
    },
    built: true,
  },
  {
    mark: 'I46 (again)',
    off: 'all lines are read again when a run has ended',
    file: 'src/cluster/runs/watch-run.ts',
    switch: { part: 'await onLines(await readAllLines(database, id))', by: '0' },
    seenBy: {
      file: 'test/rooms/cluster/watch-run.test.ts',
      title: 'rows that a database gives numbers of before are heard at the end',
    },
  },
  {
    mark: 'I46 (left)',
    off: 'a lock that another program writes ends nobody who watches',
    file: 'src/campaign/on-engine/mirrored-lock.ts',
    switch: { part: 'if (!(error instanceof LockChangedError)) ', by: '' },
    seenBy: {
      file: 'test/rooms/cluster/settle.test.ts',
      title: 'I46 lines that git takes out of the lock are written again when the run ends',
    },
  },
  {
    mark: 'I47',
    off: 'what another key is buying is not bought by a second head',
    file: 'src/cluster/runs/twin-run.ts',
    switch: { part: 'mine.get(digest)', by: 'undefined' },
    seenBy: {
      file: 'test/rooms/cluster/runs.test.ts',
      title: 'I47 with a purchase that another key is buying is refused, of two at once as well',
    },
  },
  {
    mark: 'I46 (mark)',
    off: 'a record that lacks what its store has seen is no record to go on with',
    file: 'src/cluster/store/run-mark.ts',
    switch: { part: 'if (isWhole) ', by: '' },
    seenBy: {
      file: 'test/rooms/cluster/put-back.test.ts',
      title: 'I46 a run whose record lacks what its store has seen is put aside until a lock gives it back',
    },
  },
  {
    mark: 'I46 (server)',
    off: 'a database in the place of another one is not gone on with',
    file: 'src/cluster/database/which-server.ts',
    switch: { part: 'now[part] === undefined ||', by: 'true ||' },
    seenBy: {
      file: 'test/rooms/cluster/put-back.test.ts',
      title: 'I46 a run without a store in a database that was put back waits for whoever has seen all of it',
    },
  },
  {
    mark: 'I46 (seen)',
    off: 'a snapshot that knows less than was seen here is found',
    file: 'src/campaign/on-engine/give-back.ts',
    switch: { part: 'seen !== undefined && (await', by: 'false && (await' },
    seenBy: {
      file: 'test/rooms/cluster/put-back.test.ts',
      title:
        'I46 whoever watches keeps beside the lock how much there was: a snapshot that knows less is found when they attach',
    },
  },
  {
    mark: 'I46 (vouched)',
    off: 'only who has seen all of a record vouches for it',
    file: 'src/campaign/on-engine/give-back.ts',
    switch: {
      part: 'seen !== undefined && isSameServer(server, seen.server) && countJobs(known()) >= seen.jobs',
      by: 'true',
    },
    seenBy: {
      file: 'test/rooms/cluster/put-back.test.ts',
      title: 'I46 a run without a store in a database that was put back waits for whoever has seen all of it',
    },
  },
  {
    mark: 'I46 (given)',
    off: 'what only the lock here knows is given to an open run',
    file: 'src/campaign/on-engine/give-back.ts',
    switch: { line: '  return;' },
    seenBy: {
      file: 'test/rooms/cluster/put-back.test.ts',
      title:
        'I46 whoever attaches gives an open run what only the lock here knows, and its head loses the right to write',
    },
  },
  {
    mark: 'I50',
    off: 'a header is that of its run',
    file: 'src/cluster/runs/header.ts',
    switch: { part: 'throw changedPlan(run);', by: 'return {} as RunHeader;' },
    seenBy: {
      file: 'test/rooms/cluster/sealed-plan.test.ts',
      title: 'I50 a run of which somebody has changed the ceiling in the database is not gone on with',
    },
  },
  {
    mark: 'I50 (orders)',
    off: 'orders are those of their run',
    file: 'src/cluster/runs/orders.ts',
    switch: { line: '    if (opened === undefined) continue;' },
    seenBy: {
      file: 'test/rooms/cluster/sealed-plan.test.ts',
      title: 'I50 orders that are those of another run are not carried out',
    },
  },
  {
    mark: 'I50 (missing)',
    off: 'all orders are there',
    file: 'src/cluster/head/head-run.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/cluster/sealed-plan.test.ts',
      title: 'I50 a run of which orders are missing is put aside',
    },
  },
  {
    mark: 'I48',
    off: 'nothing goes through a link in the place of a campaign’s folder',
    file: 'src/cluster/store/store.ts',
    switch: { part: 'lstatOrAbsent(folder)?.isSymbolicLink() === true', by: 'false' },
    seenBy: {
      file: 'test/rooms/cluster/store.test.ts',
      title: 'I48 nothing goes through a link that somebody put in the place of the campaign’s folder',
    },
  },
  {
    mark: 'I48 (name)',
    off: 'a name of a campaign leads nowhere else',
    file: 'src/cluster/store/store.ts',
    switch: { line: '  const isName = campaign !== undefined;' },
    seenBy: {
      file: 'test/rooms/cluster/store.test.ts',
      title: 'I48 a campaign that a database calls "../escaped" has no folder in the store',
    },
  },
  {
    mark: 'I38 (key)',
    off: 'a refusal that speaks of its key is a purchase',
    file: 'src/service/create.ts',
    switch: { part: "keyTalk === 'known'", by: 'false' },
    seenBy: { file: 'test/rooms/service/refusal.test.ts', title: 'a refusal that speaks of its key is a purchase' },
  },
  {
    mark: 'I38 (id)',
    off: 'a refusal that names a job is none',
    file: 'src/service/create.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/service/refusal.test.ts',
      title: 'its charge and the id of its record are taken, and an id in a Location',
    },
  },
  {
    mark: 'I38 (hold)',
    off: 'a key that is known is held, and no other is tried',
    file: outcome,
    switch: { line: "return { do: 'refuse', error: describeKnown(answer) };" },
    seenBy: {
      file: 'test/rooms/engine/known-keys.test.ts',
      title: 'is sent under no other key, by nobody, at any time',
    },
  },
  {
    mark: 'I38 (held)',
    off: 'that a key is known stays on record, so that nobody sends it again when the service has forgotten it',
    file: ledger,
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/known-keys.test.ts',
      title: 'is sent under no other key, by nobody, at any time',
    },
  },
  {
    mark: 'I43',
    off: 'a send that only the lock knows of takes a consent beside its step',
    file: 'src/plan/prices/spend-consent.ts',
    switch: { part: ' && order.send.isStrange !== true', by: '' },
    built: true,
    seenBy: {
      file: 'test/command/strange-sends.test.ts',
      title: 'I43 nor is one asked about that stands beside every step',
    },
  },
  {
    mark: 'I43 (account)',
    off: 'an approval counts for the account that was approved',
    file: 'src/campaign/approvals.ts',
    switch: { line: '  const isOther = false;' },
    built: true,
    seenBy: {
      file: 'test/command/approve.test.ts',
      title: 'counts for the account that was approved, and for no other',
    },
  },
  {
    mark: 'I43 (library)',
    off: 'a call of the library is no consent where a user must consent',
    file: 'src/campaign/apply.ts',
    switch: { line: '  const collected = allowPosts(plan);' },
    seenBy: {
      file: 'test/command/consent.test.ts',
      title: 'a call of the library is no consent where a user must consent: MB3007, and no create',
    },
  },
  {
    mark: 'I40 (restored)',
    off: 'what the purchase journal knows, and the lock does not, is in the plan',
    file: 'src/campaign/restore-purchases.ts',
    switch: { line: '    return loaded;' },
    built: true,
    seenBy: {
      file: 'test/command/purchase-journal.test.ts',
      title: 'says in text, Markdown and JSON what is restored, and a plan writes nothing',
    },
  },
  {
    mark: 'I40 (reserved)',
    off: 'a key is reserved in the purchase journal before it is sent',
    file: ledger,
    switch: { line: "    const found = { is: 'reserved' } as Awaited<ReturnType<PurchaseJournal['reserve']>>;" },
    built: true,
    seenBy: {
      file: 'test/command/purchase-journal.test.ts',
      title: 'has runs of one campaign through three paths at once buy each key once, and the budget stays whole',
    },
  },
  {
    mark: 'I40 (journal)',
    off: 'the purchase journal has each send and job of the lock',
    file: 'src/engine/journal.ts',
    switch: { part: 'isPaid && this.#purchases?.add(line, text)', by: 'isPaid && undefined' },
    built: true,
    seenBy: {
      file: 'test/command/purchase-journal.test.ts',
      title: 'has another name, another account or --new buy separately; --new says what it does not restore, once',
    },
  },
  {
    mark: 'I40 (engine)',
    off: 'what earlier runs of a campaign bought on an engine is restored',
    file: 'src/cluster/head/account-spending.ts',
    switch: { part: 'isAnswered(records, { ...options, isOurs: true })', by: 'records.length > 99' },
    seenBy: {
      file: 'test/rooms/cluster/account-spending.test.ts',
      title:
        'I40 a key that an earlier run of the campaign bought is restored, and one that it left open is asked about',
    },
  },
  {
    mark: 'I40 (files)',
    off: 'on another machine outputs where steps save tell that a lock was lost',
    file: 'src/campaign/lost-lock.ts',
    switch: { part: 'await findFiles(campaign, plan)', by: '[] as string[]' },
    seenBy: { file: 'test/rooms/campaign/lost-lock.test.ts', title: 'a file where a step saves' },
  },
  {
    mark: 'I40 (git)',
    off: 'on another machine the lock that git has tells that one was lost',
    file: 'src/campaign/lost-lock.ts',
    switch: { part: 'await findCommitted(campaign)', by: 'undefined as Awaited<ReturnType<typeof findCommitted>>' },
    seenBy: {
      file: 'test/rooms/campaign/lost-lock.test.ts',
      title: 'the lock of the last commit, or of the one before it was removed',
    },
  },
  {
    mark: 'I43 (sent here)',
    off: 'an open create is recovered without an approval where this machine has sent it',
    file: 'src/campaign/approvals.ts',
    switch: { part: 'known.get(order.send.id) ?? Number.NEGATIVE_INFINITY', by: 'known.get(order.send.id) ?? now' },
    built: true,
    seenBy: {
      file: 'test/command/purchase-journal.test.ts',
      title: 'a lock line that was refused here, edited into an open create, takes an approval (A1)',
    },
  },
  {
    mark: 'I44',
    off: 'what all campaigns spend and hold stays below the limit',
    file: 'src/disk/state/spending-sums.ts',
    switch: { part: 'credits > left', by: 'credits < 0' },
    seenBy: { file: 'test/rooms/disk/spending.test.ts', title: 'never passes the limit, held or charged' },
  },
  {
    mark: 'I44 (asked)',
    built: true,
    off: 'a run asks the ledger of all campaigns before a create leaves',
    file: ledger,
    switch: {
      part: 'await this.#holdCredits(order, { credits: answer.credits, isSent: isOpen })',
      by: "'held' as HoldAnswer",
    },
    seenBy: {
      file: 'test/command/limit.test.ts',
      title: 'I44 three campaigns at once never pass the limit of a day, nor does what follows',
    },
  },
  {
    mark: 'I49',
    off: 'what an account spends is on record before it leaves',
    file: 'src/cluster/head/account-spending.ts',
    switch: { part: 'await written', by: 'written.catch(() => undefined)' },
    seenBy: {
      file: 'test/rooms/cluster/account-spending.test.ts',
      title: 'is written by one head alone: what another one has taken over adds nothing, and lets nothing leave',
    },
  },
  {
    mark: 'I49 (fenced)',
    off: 'what an account spends is written by the head of the highest epoch alone',
    file: 'src/cluster/head/account-spending.ts',
    switch: { part: 'FROM held ON', by: 'FROM mediabatch.account WHERE id = $1 ON' },
    seenBy: {
      file: 'test/rooms/cluster/account-spending.test.ts',
      title: 'is written by one head alone: what another one has taken over adds nothing, and lets nothing leave',
    },
  },
  {
    mark: 'I51',
    off: 'a paused run sends nothing new',
    file: 'src/cluster/head/head-run.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/cluster/pause.test.ts',
      title: 'I51 a paused run sends nothing new, under the next head either, and goes on when it is resumed',
    },
  },
  {
    mark: 'I42',
    off: 'a decision of an unknown kind is not ignored',
    file: 'src/plan/purchases/open-sends.ts',
    switch: { line: ';' },
    seenBy: {
      file: 'test/rooms/plan/unknown-decisions.test.ts',
      title: 'I42 nothing is bought at an address with a decision of an unknown kind',
    },
  },
  {
    mark: 'I42',
    off: 'fields that a newer version wrote are joined',
    file: 'src/lock/join-purchases.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/lock/read.test.ts',
      title: 'keeps what it does not know wherever a newer version may have put it',
    },
  },
  {
    mark: 'I41 (open)',
    off: 'a post waits for one to its accounts of which nobody knows whether it is out',
    file: 'src/plan/posts/hold-posts.ts',
    switch: { part: 'mayMeet(one.accounts, accounts)', by: '!mayMeet(one.accounts, one.accounts)' },
    seenBy: {
      file: 'test/rooms/plan/posts.test.ts',
      title: 'I41 none goes to any of its accounts, whatever its address, its words and the options',
    },
  },
  {
    mark: 'I41 (lost)',
    off: 'a new post beside one that is out and has lost its step waits',
    file: 'src/plan/posts/hold-posts.ts',
    switch: { line: '' },
    seenBy: postsModel,
  },
  {
    mark: 'I41 (retaken)',
    off: 'a post is found whose address another one has taken',
    file: 'src/plan/posts/hold-posts.ts',
    switch: { part: 'likeness > Math.max(likeOwn, leastLikeness)', by: 'likeness < 0' },
    seenBy: { file: 'test/rooms/plan/posts.test.ts', title: 'is found also where another step has taken its address' },
  },
  {
    mark: 'I41 (run)',
    off: 'posts to one account leave one by one',
    file: 'src/engine/hold-posts.ts',
    switch: { part: 'isFree ? []', by: 'isFree || held.length >= 0 ? []' },
    seenBy: {
      file: 'test/command/conduct/renamed-posts.test.ts',
      title: 'I41 of several to one account none follows one whose answer was lost',
    },
    built: true,
  },
  {
    mark: 'I39 (alike)',
    off: 'what failed five times for one reason is bought no more',
    file: 'src/engine/breaker.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/rooms/engine/breaker.test.ts',
      title: 'I39 is not bought forty times: after five of a task and price, none done, the others wait',
    },
  },
  {
    mark: 'I39',
    off: 'no create leaves that would pass what was agreed to',
    file: 'src/engine/agreed-ceiling.ts',
    switch: { part: 'cost > 0', by: 'cost < 0' },
    seenBy: {
      file: 'test/rooms/engine/prices.test.ts',
      title: 'I39 a dearer price of one kind leaves no more for another than was agreed to',
    },
  },
  {
    mark: 'I39 (again)',
    off: 'what was charged under an agreement counts when its plan is carried out again',
    file: 'src/campaign/hold-and-plan.ts',
    switch: { line: '' },
    seenBy: {
      file: 'test/command/ceiling.test.ts',
      title: 'I39 what was charged under a plan counts when it is applied again',
    },
  },
  {
    mark: 'I39 (resumed)',
    off: 'what earlier heads of a run were charged counts against its ceiling',
    file: 'src/run/resume-plan.ts',
    switch: { line: '  const ceiling = plan.totals.ceiling;' },
    seenBy: {
      file: 'test/rooms/engine/takeovers.test.ts',
      title: 'I39 whoever takes the run over goes on under the same ceiling',
    },
  },
  {
    mark: 'I12 (record)',
    off: 'the beginning of a record that was complete is no append',
    file: 'src/lock/read.ts',
    switch: { line: 'return false;' },
    seenBy: {
      file: 'test/rooms/lock/torn.test.ts',
      title: 'I12 the end of a finished file is lost, not torn',
    },
  },
  {
    mark: 'I20 (first)',
    off: 'a key that is known is asked with the bytes that it came with first',
    file: sendCreate,
    switch: { line: 'return false;' },
    seenBy: {
      file: 'test/rooms/engine/known-keys.test.ts',
      title: 'finds its job where only the lock is of yesterday: its first bytes are still here',
    },
  },
];
