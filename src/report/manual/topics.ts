export const topicGroups = {
  'First steps': {
    start: 'from an empty folder to the first pictures',
    manifest: 'keys of a campaign, requirements of files',
    cookbook: 'recipes by task, with common mistakes',
    rows: 'data files, keys, matrices, takes, addresses',
    templates: 'variables, references and helpers',
    kinds: 'kinds of media, with every field',
  },
  'Plans and credits': {
    plan: 'how to read a plan, and what changes it',
    selection: 'select steps of a campaign',
    cost: 'prices, budgets, spent credits',
    posts: 'publishing',
  },
  'Never twice': {
    recovery: 'recovery after a crash',
    sends: 'recover the lost answer to a create request',
    lock: 'the record of purchases',
    trust: 'untrusted files, consent and approvals',
  },
  'People decide': {
    gates: 'draft, pick, final; canaries',
    decisions: 'pin, accept, forget, move, adopt',
    looking: 'graph, gallery, list of outputs, history',
  },
  'In a team': {
    agents: 'what an agent may do, and what needs a person',
    ci: 'pull requests, unattended runs',
    engine: 'several machines: a database and workers',
    operate: 'an engine in production: database, limits, monitoring, TLS',
    sandbox: 'rehearse a campaign with sandbox credits',
    library: 'use mediabatch as a library',
    service: 'service URL, API key, API operations',
  },
  Reference: {
    keys: 'every key of a manifest',
    commands: 'every command with its options',
    exit: 'exit codes',
    codes: 'every code of an error or a warning',
    compatibility: 'compatibility between versions',
    numbers: 'benchmarks: time, memory, requests',
    polling: 'how often jobs are polled',
    why: 'comparison with scripts, make, Terraform and queues',
  },
} as const satisfies Record<string, Record<string, string>>;

export const topics: ReadonlyMap<string, string> = new Map(Object.values(topicGroups).flatMap(Object.entries));
