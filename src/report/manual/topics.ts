/** The manual's pages in the order in which they are read: a file `src/manual/NAME.md` each, and what it answers. */
export const topicGroups = {
  'First steps': {
    start: 'from an empty folder to the first pictures',
    why: 'in what this is better than a script, make or a queue, and in what not',
    manifest: 'what a campaign is made of',
    cookbook: 'recipes by task, with what goes wrong',
    rows: 'data files, keys, matrices, takes, addresses',
    templates: 'variables, references and helpers',
    kinds: 'what can be made, with every field',
  },
  'Plans and credits': {
    plan: 'how a plan reads, and what changes it',
    selection: 'a part of a campaign',
    cost: 'prices, budgets, and where credits went',
    posts: 'what goes public',
  },
  'Never twice': {
    recovery: 'what if it dies while paying?',
    sends: 'how a lost answer is settled',
    lock: 'the file that knows what was bought',
    trust: 'what files from others can do',
  },
  'People decide': {
    gates: 'draft, pick, final; canaries',
    decisions: 'pin, accept, forget, move, import',
    looking: 'graph, review page, live plan, history',
  },
  'In a team': {
    agents: 'what an agent may do, and what needs a person',
    ci: 'pull requests, unattended runs',
    engine: 'several machines: a database and workers',
    operate: 'an engine in production: database, limits, monitoring, TLS',
    sandbox: 'the same with play money',
    library: 'the same from a program',
    service: 'keys, addresses, which operation is used for what',
    polling: 'how often it asks',
  },
  'To look things up': {
    keys: 'every key of a manifest',
    commands: 'every command with its options',
    exit: 'exit codes',
    codes: 'every code of an error or a warning',
    compatibility: 'what stays as it is from version to version',
    numbers: 'what a run takes: time, memory, looks at the service',
  },
} as const satisfies Record<string, Record<string, string>>;

/** Subjects of the pages, by their names. */
export const topics: ReadonlyMap<string, string> = new Map(Object.values(topicGroups).flatMap(Object.entries));
