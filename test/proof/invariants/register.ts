/** A test that shows an invariant: its file, and its title or the beginning of one that a table completes. */
export interface Shown {
  file: string;
  title: string;
}

export interface Invariant {
  id: string;
  says: string;
  shown: readonly Shown[];
}

const engine = 'test/rooms/engine/run.test.ts';
const sends = 'test/rooms/engine/sends.test.ts';
const model = 'test/rooms/engine/model.test.ts';
const order = 'test/proof/invariants/order-of-acts.test.ts';
const whole = 'test/proof/invariants/command.test.ts';
const crash = 'test/proof/killed/at-a-write.test.ts';
const resume = 'test/command/resume.test.ts';
const answers = 'test/command/answers.test.ts';
const strace = 'test/proof/killed/at-a-system-call.test.ts';
const disk = 'test/proof/faults/disk.test.ts';
const git = 'test/command/git/clones.test.ts';
const lockFile = 'test/rooms/disk/lock-file.test.ts';
const outputs = 'test/rooms/disk/outputs.test.ts';
const join = 'test/rooms/lock/join.test.ts';
const guard = 'test/rooms/disk/guard.test.ts';
const committed = 'test/command/security/committed-state.test.ts';
const named = 'test/command/security/named-files.test.ts';
const oneRun = 'test/command/conduct/one-run.test.ts';
const posts = 'test/command/posts.test.ts';
const purchaseJournal = 'test/command/purchase-journal.test.ts';
const newerLock = 'test/command/newer-lock.test.ts';

/** What must hold, and where it is shown. `test/proof/controls` shows that each of these tests is able to fail. */
export const invariants: readonly Invariant[] = [
  {
    id: 'I1',
    says: 'at most one spend per account, fingerprint, generation and attempt, wherever a run is killed',
    shown: [
      { file: strace, title: 'I1 each step is booked once' },
      { file: crash, title: 'running again books 6 creates and ends in the same bytes' },
      { file: model, title: 'each request is paid for at most once, and no paid id is ever lost' },
      { file: model, title: 'posts, parts, uploads and kinds that cannot be asked again are bought at most once, too' },
    ],
  },
  {
    id: 'I2',
    says: 'no byte of a create leaves before its intent is durable; a failing write or fsync means nothing is sent',
    shown: [
      { file: strace, title: 'I2 every create leaves after the sync of its intent' },
      { file: order, title: 'I2 no create leaves before its intent is in the lock, on a slow disk either' },
      { file: order, title: 'I2 on a disk that fails at any line, nothing is sent that has no intent there' },
      { file: disk, title: 'I2 a lock that cannot be written or synced' },
      { file: lockFile, title: 'has every line synced before it says so, and groups those that wait' },
    ],
  },
  {
    id: 'I3',
    says: 'the job id is durable before its first poll',
    shown: [
      { file: order, title: 'I3 a job is not looked at before its id is in the lock' },
      { file: order, title: 'I3 whoever hears of a job finds its id on disk' },
      { file: strace, title: 'I3 no job is looked at before the sync of its id' },
    ],
  },
  {
    id: 'I4',
    says: 'an ambiguous create, or one whose key the service knows, is never sent under another key, nor outside of the table',
    shown: [
      { file: order, title: 'I4 a create is sent again under the same key and bytes, or not at all' },
      { file: 'test/rooms/run/outcome.test.ts', title: 'what follows from the answer to a create' },
      { file: engine, title: 'after 23 hours nobody sends it again: a person decides' },
      { file: engine, title: 'a token that cannot replay: one lost answer is enough, also after switching to a key' },
      { file: engine, title: 'eight lost answers: the step is unresolved, and the next run pays nothing more' },
    ],
  },
  {
    id: 'I5',
    says: 'the key and the bytes are pure functions of what is bought',
    shown: [
      { file: whole, title: 'I5 keys and bytes are the same in another folder, time zone, locale and hand' },
      {
        file: 'test/rooms/plan/key.test.ts',
        title: 'the key of a purchase never changes: another one would pay again',
      },
      {
        file: 'test/rooms/graph/fingerprint.test.ts',
        title: 'does not depend on the order of keys, quotes, comments, anchors and line ends',
      },
    ],
  },
  {
    id: 'I6',
    says: 'the fingerprint covers what is paid for and nothing else',
    shown: [
      {
        file: 'test/command/written-defaults.test.ts',
        title: 'a lock in which they are written out still matches: the manifest %s',
      },
      {
        file: 'test/rooms/engine/kept-forms.test.ts',
        title: 'asks about a send from before under its own key, with its own bytes',
      },
      { file: 'test/rooms/graph/fingerprint.test.ts', title: 'does not depend on what is not paid for' },
      { file: 'test/rooms/graph/fingerprint.test.ts', title: 'depends on every field that is paid for' },
      { file: 'test/rooms/graph/fingerprint.test.ts', title: 'a change travels to the steps that refer to it' },
    ],
  },
  {
    id: 'I7',
    says: 'a paid job id is never dropped: fold, merge, compaction, rename, redo',
    shown: [
      { file: join, title: 'keeps every job id' },
      { file: git, title: 'I7 two branches that bought' },
      { file: 'test/rooms/lock/git.test.ts', title: '$name' },
      { file: resume, title: 'with a lock that git put back in the middle of a run: both are joined, no id is lost' },
    ],
  },
  {
    id: 'I8',
    says: 'the state of a step only moves forward',
    shown: [{ file: join, title: 'never moves a state back' }],
  },
  {
    id: 'I9',
    says: 'the lock on disk is always a complete old or new version, with at worst a torn last line',
    shown: [
      { file: 'test/rooms/disk/replace.test.ts', title: 'shows whoever looks all of the old or all of the new text' },
      { file: 'test/rooms/disk/replace.test.ts', title: 'keeps the old file and no temporary one after %s' },
      {
        file: lockFile,
        title: 'keeps what it called durable, and the old file when there is no room for a new one',
      },
      { file: strace, title: 'I1 each step is booked once' },
    ],
  },
  {
    id: 'I10',
    says: 'exit 0 means that every output has the recorded size and digest',
    shown: [
      {
        file: whole,
        title: 'I10 means that every output has the recorded size and digest, whatever the downloads were like',
      },
      { file: whole, title: 'I10 is not said while an output is damaged: it is fetched again first' },
      { file: engine, title: 'a broken body is fetched again, and the job kept if it never comes whole' },
    ],
  },
  {
    id: 'I11',
    says: 'nothing partial ever has its final name',
    shown: [
      { file: outputs, title: 'has no final name when it is killed in the middle' },
      { file: outputs, title: '$name leaves no file' },
      { file: strace, title: 'I1 each step is booked once' },
    ],
  },
  {
    id: 'I12',
    says: 'any cut of what a run appends to the lock recovers to a prefix; damage before it, or of a finished lock, stops the run before anything is sent',
    shown: [
      {
        file: 'test/rooms/lock/torn.test.ts',
        title: 'is found at every byte, and what is appended after the cut is kept',
      },
      { file: lockFile, title: 'ends a last line that has no LF, and cuts a torn one' },
      { file: 'test/rooms/lock/torn.test.ts', title: 'I12 the end of a finished file is lost, not torn' },
      {
        file: 'test/rooms/lock/edited-files.test.ts',
        title: 'is refused where its last line tells of a job that no line before announces, at whatever byte',
      },
      {
        file: resume,
        title: 'with a damaged line in the middle, or a lock of the future: exit 65, nothing sent, nothing changed',
      },
    ],
  },
  {
    id: 'I13',
    says: 'two runs never hold one lock',
    shown: [
      { file: guard, title: 'is had by one at a time' },
      { file: guard, title: 'keeps its guard while it is stopped' },
      { file: guard, title: 'is not judged from another pid namespace (root)' },
      { file: resume, title: 'two runs at once: the second waits its time and names the first' },
      { file: oneRun, title: 'I13 a run that is suspended keeps its lock' },
      { file: oneRun, title: 'I13 a run whose event loop is blocked keeps its lock' },
      { file: oneRun, title: 'I13 the way to the folder makes no difference' },
      { file: oneRun, title: 'I13 nor does the clock' },
      { file: oneRun, title: 'I13 a run whose guard was removed by hand buys nothing more' },
    ],
  },
  {
    id: 'I14',
    says: 'spent and reserved credits stay within the budget at every instant; a price that rises up to 8-fold passes it by what one create is charged above its reservation at most',
    shown: [
      {
        file: 'test/rooms/engine/budget.test.ts',
        title: 'spent and held never exceed the cap, for any interleaving of any steps',
      },
      {
        file: 'test/rooms/engine/budget.test.ts',
        title: 'prices that rise exceed the cap by what one step is charged above its price, and no more',
      },
      {
        file: 'test/command/untold-charges.test.ts',
        title: 'a charge that is not told is held, and said; a higher budget goes on, and the balance tells the others',
      },
      { file: engine, title: 'spent and held stay within the budget at every moment' },
      { file: engine, title: 'two lost answers of an unknown price hold everything that is left' },
    ],
  },
  {
    id: 'I15',
    says: '402 and 401 in the middle: no further create, everything that runs is still collected',
    shown: [
      { file: engine, title: '402: no further create, what runs is collected, the next run makes a new attempt' },
      { file: engine, title: '401 in the middle: paid jobs are still collected' },
      {
        file: 'test/command/conduct/ends.test.ts',
        title: 'I15 a key revoked in the middle: exit 77, no create and no endless look, and the next run collects',
      },
      {
        file: 'test/command/conduct/credit-wait.test.ts',
        title: 'I15 no create leaves after the answer, not even one that was waiting for its turn',
      },
    ],
  },
  {
    id: 'I16',
    says: 'a storm of 5xx or 429 is met with a bounded rate of requests',
    shown: [
      { file: order, title: 'I16 of $name is met with a bounded number of requests' },
      { file: 'test/rooms/run/outcome.test.ts', title: 'a wait that a server asks for is neither busy nor endless' },
      {
        file: 'test/rooms/service/watch.test.ts',
        title: '%s for ever: the host is given up after a bounded number of looks',
      },
    ],
  },
  {
    id: 'I17',
    says: 'the key appears in no output, file, error or report',
    shown: [
      {
        file: 'test/command/security/attacks.test.ts',
        title: 'I17 a canary key and signed links are nowhere after a whole campaign with faults',
      },
      { file: whole, title: 'I17 is in no output and no file, though the service says it back in every spelling' },
      { file: 'test/command/service-commands.test.ts', title: 'a refused key is 77 everywhere, and is never shown' },
    ],
  },
  {
    id: 'I18',
    says: 'what plan shows is what apply does',
    shown: [
      {
        file: 'test/command/plan-apply.test.ts',
        title: 'for six generated campaigns, each after an earlier one was applied',
      },
    ],
  },
  {
    id: 'I19',
    says: 'plan, status and validate write nothing and need no network',
    shown: [
      {
        file: 'test/command/conduct/ends.test.ts',
        title: 'I19 commands that only look write nothing and ask the service nothing',
      },
      { file: answers, title: 'plan, status and validate write nothing and need nobody' },
      { file: 'test/command/read-only.test.ts', title: 'work on a file system that is mounted for reading (root)' },
    ],
  },
  {
    id: 'I20',
    says: 'two clones that apply one manifest with one account within 24 hours pay each image and song once: where the bytes of a request are the same they get the same jobs, and where a link in them was signed anew the key is known, and nothing is bought',
    shown: [
      { file: git, title: 'I20 two clones with one account buy each image and each song once' },
      { file: resume, title: 'in a second clone: the same jobs' },
      { file: resume, title: 'without its lock, within a day: the service hands the same jobs out again' },
    ],
  },
  {
    id: 'I21',
    says: 'an open send is never forgotten: a row of every plan and run, whatever became of its step, until its own answer or a decision about it',
    shown: [
      {
        file: sends,
        title:
          'stays a row of the plan when its step is edited, and is asked about before anything else is bought there',
      },
      { file: sends, title: 'stays a row of the plan when its step is removed or not selected' },
      { file: sends, title: 'of another account is left to a person' },
    ],
  },
  {
    id: 'I22',
    says: 'a merge loses no open send, no job id and no held credit, and after it nothing is paid that any side has paid or may have paid',
    shown: [
      { file: sends, title: 'is not closed by a refusal of another branch, in either order of merging' },
      { file: sends, title: 'that both sent a kind without replay keep both charges' },
      { file: sends, title: 'that both lost an answer of a kind without replay have two open sends' },
      { file: sends, title: 'two creates at once with one id: one of them stays open' },
      {
        file: 'test/rooms/lock/histories.test.ts',
        title: 'a decision outlives its step’s rename, and the other sends of it',
      },
    ],
  },
  {
    id: 'I23',
    says: 'what somebody else can commit may change what a plan says, and never what a run does beside it',
    shown: [
      { file: committed, title: 'is never sent, neither as it is nor behind a link' },
      { file: committed, title: 'changes nothing of what a run does or says' },
      { file: committed, title: 'gc deletes none of them; what was saved from here it does' },
      { file: committed, title: 'apply moves none of them: it copies' },
      { file: committed, title: 'apply replaces none of them: it keeps what was there under another name' },
      { file: named, title: 'is a new file, or one of events, and a run that is turned away leaves it alone' },
      { file: named, title: 'as a pipe that nobody writes to is waited for by no command' },
      { file: named, title: 'as a link out of the tree is neither read nor written' },
      { file: 'test/rooms/manifest/json-schema.test.ts', title: 'gives up on what grows without end' },
      { file: 'test/command/saved-plan.test.ts', title: 'that buys what it does not show' },
      {
        file: 'test/rooms/report/safe-text.test.ts',
        title: 'holds no order to a build system, as a key or as a value',
      },
    ],
  },
  {
    id: 'I24',
    says: 'a post of a campaign is sent at most once for ever – another one only by its very address, or where a person says that it is another one –, and never by a consent given for credits',
    shown: [
      {
        file: 'test/rooms/engine/posts-model.test.ts',
        title: 'I24 whatever happens, in whatever order, a post is out once at most, and never without a consent',
      },
      {
        file: posts,
        title: 'is not that for credits: neither a budget nor --yes publishes, and the rest is done',
      },
      { file: posts, title: 'is left to a person, whatever is tried' },
      { file: posts, title: 'named one by one it is, each time with a consent' },
      {
        file: 'test/command/conduct/publish.test.ts',
        title: 'posts have a question of their own: how many, to which accounts, when',
      },
    ],
  },
  {
    id: 'I25',
    says: 'every command, address and selection that is printed does what it says when pasted',
    shown: [
      { file: 'test/rooms/plan/names.test.ts', title: 'selects its step and nothing else, however it was printed' },
      {
        file: 'test/command/printed-commands.test.ts',
        title: 'after failures: one mends them all, and it is about play money',
      },
      { file: 'test/command/printed-commands.test.ts', title: 'of decisions that are refused' },
    ],
  },
  {
    id: 'I26',
    says: 'no input of a service or a disk ends a run with a stack: the words are ours, and the ids are on record',
    shown: [
      {
        file: 'test/command/conduct/broken-run.test.ts',
        title: 'a library that %s ends a run as runs end: what is paid is on record, and said to be',
      },
      {
        file: 'test/rooms/engine/broken-steps.test.ts',
        title: 'ends that step alone, and pays nothing twice (%s the call)',
      },
      { file: 'test/rooms/service/download.test.ts', title: '%s ends while its reader is behind' },
      {
        file: 'test/command/conduct/odd-downloads.test.ts',
        title: 'files with %s, all at once, from a storage beside the service, of which one is cut at first',
      },
    ],
  },
  {
    id: 'I27',
    says: 'nothing is bought that hangs on a gate which people have not decided, and nothing after it that the plan did not name',
    shown: [
      {
        file: 'test/rooms/plan/gates.test.ts',
        title: 'I27 nothing is bought that hangs on an open gate, and nothing without saying what it is made from',
      },
      {
        file: 'test/rooms/plan/gates.test.ts',
        title: 'I27 a plan made before any verdict names, at its price, what one purchase of each step buys after',
      },
      {
        file: 'test/rooms/engine/gates-model.test.ts',
        title:
          'I27 whatever people decide between runs: a plan is carried out as it is, and what is made is made from what is picked',
      },
      {
        file: 'test/rooms/campaign/live-model.test.ts',
        title: 'it buys what apply, pick and apply by hand buy, all of it named in the plan that was shown first',
      },
      {
        file: 'test/rooms/campaign/live-run.test.ts',
        title: 'nothing is bought or posted from what was rejected before it left',
      },
    ],
  },
  {
    id: 'I28',
    says: 'of a task with a canary nothing is bought beside it until as many steps of that price as the manifest says have proven it',
    shown: [
      {
        file: 'test/rooms/engine/canaries.test.ts',
        title: 'I28 a run ends, buys what its plan says, and the others only when enough have proven it',
      },
      {
        file: 'test/rooms/engine/canary-runs.test.ts',
        title: 'keeps its seat when it failed, whatever is selected; another request begins anew',
      },
    ],
  },
  {
    id: 'I29',
    says: 'the review page answers itself and the person who opened it, and nobody else writes a verdict or reads a picture',
    shown: [
      { file: 'test/rooms/review/serve.test.ts', title: '%s is refused, and nothing is told' },
      { file: 'test/rooms/review/serve.test.ts', title: 'with %s are refused and written nowhere' },
      { file: 'test/rooms/review/serve.test.ts', title: 'nothing but 127.0.0.1 is listened on' },
      {
        file: 'test/proof/browser/review-attacks.test.ts',
        title: 'from another port of this machine, with the token known: nothing is read, and nothing is written',
      },
      {
        file: 'test/proof/browser/review-attacks.test.ts',
        title: 'under a foreign name that leads to this machine: refused',
      },
    ],
  },
  {
    id: 'I30',
    says: 'a verdict that was answered is on record, whatever ends the run then',
    shown: [
      {
        file: 'test/rooms/campaign/live-model.test.ts',
        title:
          'nothing is bought that was not named, nothing twice, and no verdict that was answered is lost, killed or not',
      },
      {
        file: 'test/command/decisions/apply-review.test.ts',
        title: 'killed at any write: nothing is paid twice, no verdict that was answered is lost, and apply goes on',
      },
    ],
  },
  {
    id: 'I31',
    says: 'a line of a run on an engine is written by the head of the highest epoch, and by nobody else',
    shown: [
      {
        file: 'test/rooms/cluster/lock-file-contract.test.ts',
        title: 'are refused once they belong to another, and everything after that',
      },
      {
        file: 'test/cluster/freeze.test.ts',
        title: 'at call %i: another takes over, and nothing is bought twice when it wakes up',
      },
    ],
  },
  {
    id: 'I32',
    says: 'so is how a step has ended',
    shown: [
      {
        file: 'test/rooms/cluster/runs.test.ts',
        title: 'knows how its orders have ended: the first word counts, and only that of its head',
      },
      {
        file: 'test/cluster/freeze.test.ts',
        title: 'at call %i: another takes over, and nothing is bought twice when it wakes up',
      },
    ],
  },
  {
    id: 'I33',
    says: 'so is what is told of a run',
    shown: [
      {
        file: 'test/rooms/cluster/runs.test.ts',
        title: 'tells its events in order, a few rows for many, until its head is another',
      },
      {
        file: 'test/cluster/freeze.test.ts',
        title: 'at call %i: another takes over, and nothing is bought twice when it wakes up',
      },
    ],
  },
  {
    id: 'I34',
    says: 'so is the end of a run',
    shown: [
      {
        file: 'test/rooms/cluster/runs.test.ts',
        title: 'takes its bodies and links along when it ends, and nothing when its head is another',
      },
      { file: 'test/cluster/chaos.test.ts', title: 'seed %i: as if nothing had happened' },
    ],
  },
  {
    id: 'I35',
    says: 'a create of a head leaves only while nobody else can have taken its place',
    shown: [
      {
        file: 'test/rooms/service/create-connections.test.ts',
        title: 'I35 %s: whether it may leave is asked when its connection is there',
      },
      {
        file: 'test/cluster/freeze.test.ts',
        title: 'at call %i: another takes over, and nothing is bought twice when it wakes up',
      },
    ],
  },
  {
    id: 'I36',
    says: 'neither the key nor a link can be read in the tables of an engine',
    shown: [
      { file: 'test/rooms/cluster/values.test.ts', title: 'never looks the same twice, and shows nothing of the text' },
      {
        file: 'test/cluster/secrets.test.ts',
        title: 'neither the key, nor a part of it, nor any link is ever in the database, its log, or on a screen',
      },
    ],
  },
  {
    id: 'I37',
    says: 'an account has one head, and so one poller and one rate',
    shown: [
      {
        file: 'test/rooms/cluster/seat.test.ts',
        title: 'a job that was deleted is sent again, and a waiting one stays alone',
      },
      {
        file: 'test/cluster/workers.test.ts',
        title: 'two campaigns of an account: one poller, one cap of its own each, both budgets',
      },
    ],
  },
  {
    id: 'I38',
    says: 'a refusal that speaks of its key, or carries the id of a job, is none: it is a purchase whose job is to be found',
    shown: [
      { file: 'test/rooms/service/refusal.test.ts', title: 'a refusal that speaks of its key is a purchase' },
      { file: 'test/rooms/service/refusal.test.ts', title: 'a refusal that names a job is none' },
      { file: 'test/rooms/engine/known-keys.test.ts', title: 'is sent under no other key, by nobody, at any time' },
    ],
  },
  {
    id: 'I39',
    says: 'what somebody said yes to is a cap: no more is charged than the ceiling of the agreement, but for what was on its way when the charge became known that showed it',
    shown: [
      {
        file: 'test/rooms/engine/prices.test.ts',
        title:
          'I39 a price that was only expected: what it comes to by the first charge ends it, whatever else the caps allow',
      },
      {
        file: 'test/rooms/engine/prices.test.ts',
        title: 'I39 a dearer price of one kind leaves no more for another than was agreed to',
      },
      {
        file: 'test/rooms/engine/takeovers.test.ts',
        title: 'I39 whoever takes the run over goes on under the same ceiling',
      },
      {
        file: 'test/command/ceiling.test.ts',
        title: 'I39 what was charged under a plan counts when it is applied again',
      },
    ],
  },
  {
    id: 'I40',
    says: 'a missing record is no proof: on the machine that paid, the purchase journal restores a lock that is lost, older, moved, renamed, linked or copied; elsewhere a missing lock next to outputs, or one that git has, stops the run',
    shown: [
      { file: purchaseJournal, title: 'restores nine kinds %s, whatever became of the lock' },
      {
        file: purchaseJournal,
        title: 'has runs of one campaign through three paths at once buy each key once, and the budget stays whole',
      },
      {
        file: 'test/proof/killed/at-a-system-call.test.ts',
        title:
          'I40 each step is booked once at every write of the journal and of the limits, also where the lock is lost then',
      },
      {
        file: purchaseJournal,
        title:
          'is empty on another machine: a lock that is missing beside outputs stops the run, and names the ways on',
      },
      {
        file: 'test/rooms/campaign/lost-lock.test.ts',
        title: 'a file where a step saves, with bytes that its kind makes',
      },
    ],
  },
  {
    id: 'I41',
    says: 'while nobody knows whether a post is out none goes to its accounts, and a new one beside one that is out and has lost its step waits for a person',
    shown: [
      {
        file: 'test/rooms/plan/posts.test.ts',
        title: 'I41 none goes to any of its accounts, whatever its address, its words and the options',
      },
      {
        file: 'test/rooms/plan/posts.test.ts',
        title: 'I41 stands beside a new one to its accounts, which waits for a person',
      },
      {
        file: 'test/rooms/engine/posts-model.test.ts',
        title: 'I24 whatever happens, in whatever order, a post is out once at most, and never without a consent',
      },
      {
        file: 'test/command/conduct/renamed-posts.test.ts',
        title: 'I41 of several to one account none follows one whose answer was lost',
      },
    ],
  },
  {
    id: 'I42',
    says: 'what a newer version wrote survives an older one; a decision of an unknown kind stops spending at its address',
    shown: [
      { file: newerLock, title: 'I42 what a newer version wrote survives runs, decisions and renames' },
      { file: newerLock, title: 'I42 a decision of an unknown kind stops what would be bought or posted there' },
      {
        file: 'test/rooms/plan/unknown-decisions.test.ts',
        title: 'I42 nothing is bought at an address with a decision of an unknown kind',
      },
      { file: join, title: 'does not depend on the order' },
    ],
  },
  {
    id: 'I43',
    says: 'nothing is bought without a consent: --yes of whoever types, a yes on a terminal, or one to exactly this plan, lock and account, in the library as well; a send that only the lock knows of takes one, too',
    shown: [
      { file: 'test/command/consent.test.ts', title: '%s is no consent: exit 5, and no create' },
      {
        file: 'test/command/consent.test.ts',
        title: 'a call of the library is no consent where a user must consent: MB3007, and no create',
      },
      { file: 'test/command/approve.test.ts', title: 'is carried out by whoever applies it, and nothing else is' },
      {
        file: 'test/command/approve.test.ts',
        title: 'counts for the account that was approved, and for no other',
      },
      {
        file: 'test/command/approve.test.ts',
        title: 'an approval of somebody else, or that was edited or renamed, is none',
      },
      {
        file: 'test/command/strange-sends.test.ts',
        title: 'I43 a send that only the lock knows of is asked about by whoever agrees to what it may cost',
      },
      { file: 'test/command/strange-sends.test.ts', title: 'I43 nor is one asked about that stands beside every step' },
    ],
  },
  {
    id: 'I44',
    says: 'what a person spends and holds in all campaigns on a machine passes no MEDIABATCH_LIMIT, but by a charge above its price',
    shown: [
      { file: 'test/rooms/disk/spending.test.ts', title: 'never passes the limit, held or charged' },
      {
        file: 'test/rooms/disk/spending.test.ts',
        title: 'twelve processes at once, some killed: never more, nothing left over (%s price)',
      },
      {
        file: 'test/command/limit.test.ts',
        title: 'I44 three campaigns at once never pass the limit of a day, nor does what follows',
      },
      {
        file: 'test/command/limit.test.ts',
        title: 'I44 who is killed has spent it, also in a run that knows nothing of it',
      },
    ],
  },
  {
    id: 'I45',
    says: 'a run on an engine is over when the engine says so: it is given up there, with the right of its head to write, or its workers buy on beside the next run',
    shown: [
      {
        file: 'test/rooms/cluster/unlock.test.ts',
        title:
          'I45 a run that its engine has open is not given free; where that is forced it ends there, and its lines come here',
      },
      {
        file: 'test/rooms/cluster/unlock.test.ts',
        title: 'I45 an engine that %s may have the run open: only force gives the lock free, and says what it costs',
      },
      {
        file: 'test/cluster/around.test.ts',
        title: 'a run is given up while its workers work: they stop, and nothing is bought twice',
      },
    ],
  },
  {
    id: 'I46',
    says: 'what the record of a run on an engine has lost – with a database that was put back, or with a lock that git wrote – is known before it would be bought again',
    shown: [
      {
        file: 'test/rooms/cluster/settle.test.ts',
        title: 'I46 lines that git takes out of the lock are written again when the run %s',
      },
      {
        file: 'test/rooms/cluster/watch-run.test.ts',
        title: 'rows that a database gives numbers of before are heard at the end',
      },
      {
        file: 'test/rooms/cluster/put-back.test.ts',
        title: 'I46 a run whose record lacks what its store has seen is put aside until a lock gives it back',
      },
      {
        file: 'test/rooms/cluster/put-back.test.ts',
        title:
          'I46 whoever attaches gives an open run what only the lock here knows, and its head loses the right to write',
      },
      {
        file: 'test/rooms/cluster/put-back.test.ts',
        title: 'I46 a run without a store in a database that was put back waits for whoever has seen all of it',
      },
      {
        file: 'test/rooms/cluster/put-back.test.ts',
        title:
          'I46 whoever watches keeps beside the lock how much there was: a snapshot that knows less is found when they attach',
      },
      {
        file: 'test/rooms/cluster/which-server.test.ts',
        title:
          'I46 a server that began a new timeline – promoted, or brought back from an archive – is another one; one that starts again is not',
      },
      {
        file: 'test/rooms/cluster/which-server.test.ts',
        title: 'I46 a database whose tables were made anew is another one',
      },
      {
        file: 'test/cluster/around.test.ts',
        title: 'an older copy of the database is put back: nothing is bought before what came since is known',
      },
    ],
  },
  {
    id: 'I47',
    says: 'no purchase is made by two heads on one engine, whatever the keys and the names of the service that they have',
    shown: [
      {
        file: 'test/rooms/cluster/runs.test.ts',
        title: 'I47 with a purchase that another key is buying is refused, of two at once as well',
      },
      {
        file: 'test/cluster/around.test.ts',
        title: 'two keys of one account submit one campaign: the second is refused',
      },
    ],
  },
  {
    id: 'I48',
    says: 'files of a run on an engine stay in its store, whoever else writes into the store or the database',
    shown: [
      {
        file: 'test/rooms/cluster/store.test.ts',
        title: 'I48 nothing goes through a link that somebody put in the place of the campaign’s folder',
      },
      {
        file: 'test/rooms/cluster/store.test.ts',
        title: 'I48 a campaign that a database calls %j has no folder in the store',
      },
    ],
  },
  {
    id: 'I49',
    says: 'what the campaigns of an account spend and hold on an engine passes no limit that its workers were told, whoever is killed, but by a charge above its price',
    shown: [
      {
        file: 'test/rooms/cluster/account-spending.test.ts',
        title: 'never passes the limit, held or charged',
      },
      {
        file: 'test/rooms/cluster/account-spending.test.ts',
        title: 'is held by a head that was killed between its hold and its create, until the lock tells the next one',
      },
      {
        file: 'test/cluster/limit.test.ts',
        title: 'two campaigns at once never pass the limit of their account, whatever is killed',
      },
    ],
  },
  {
    id: 'I50',
    says: 'what a run on an engine buys, where to and within which budget, nobody changes who has the database alone',
    shown: [
      {
        file: 'test/rooms/cluster/sealed-plan.test.ts',
        title: 'I50 a run of which somebody has changed %s in the database is not gone on with',
      },
      { file: 'test/rooms/cluster/sealed-plan.test.ts', title: 'I50 orders that are %s are not carried out' },
      { file: 'test/rooms/cluster/sealed-plan.test.ts', title: 'I50 a run of which orders are missing is put aside' },
    ],
  },
  {
    id: 'I51',
    says: 'nothing new is sent for a paused run on an engine, whichever head it has; what is paid is collected',
    shown: [
      {
        file: 'test/rooms/cluster/pause.test.ts',
        title: 'I51 a paused run sends nothing new, under the next head either, and goes on when it is resumed',
      },
    ],
  },
];
