import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { bin, root } from '../../rig/command.ts';
import { startProgram } from '../../rig/program.ts';

/** A step of a workflow or of a composite action, as far as these examples go. */
interface Step {
  id?: string;
  name?: string;
  if?: string;
  uses?: string;
  run?: string;
  shell?: string;
  env?: Readonly<Record<string, string>>;
  with?: Readonly<Record<string, unknown>>;
  'working-directory'?: string;
}

/** What became of a step. `with`: of an action of somebody else, which is not run. */
export interface Done {
  name: string;
  outcome: 'success' | 'failure' | 'skipped';
  code: number;
  said: string;
  with: Readonly<Record<string, string>>;
}

export interface Job {
  done: readonly Done[];
  /** Exit code of the first step that failed; else 0. */
  code: number;
  summary: string;
  said: string;
  step(name: string): Done;
}

export interface JobOptions {
  /** Where the repository is checked out. */
  folder: string;
  /** A folder for everything else. */
  temporary: string;
  /** Values of expressions: `github.token`, `matrix.campaign`. */
  values: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  /** Of the action, instead of what the workflow says. */
  inputs?: Readonly<Record<string, string>>;
  /** Told of the process of a step once it runs. */
  onStart?(step: string, pid: number): void;
}

const examples = join(root, 'examples', 'github');

/** Steps of all jobs of a workflow, or of an action, with the environment that they share. */
export function readSteps(name: string): { steps: Step[]; env: Record<string, string>; text: string } {
  const text = readFileSync(join(examples, name), 'utf8');
  const { jobs = {}, env = {}, runs } = parse(text) as Workflow & Partial<Action>;
  return { steps: runs?.steps ?? Object.values(jobs).flatMap(({ steps }) => steps), env, text };
}

interface Workflow {
  jobs?: Record<string, { steps: Step[] }>;
  env?: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
}

function readAction(): Action {
  return parse(readFileSync(join(examples, 'action.yml'), 'utf8')) as Action;
}

/** Runs the shell steps of a workflow as GitHub's runner does; only actions of somebody else are not run. */
export async function runJob(name: string, options: JobOptions): Promise<Job> {
  const { steps, env } = readSteps(name);
  const temporary = options.temporary;
  mkdirSync(temporary, { recursive: true });
  const machine = new Machine({ ...options, env: { ...env, ...options.env } });
  const done = await machine.run(steps, { ...options.values });
  return {
    done,
    code: done.find(({ code }) => code !== 0)?.code ?? 0,
    summary: readIfThere(join(temporary, 'summary')),
    said: done.map(({ said }) => said).join(''),
    step(wanted) {
      const found = done.find((one) => one.name === wanted);
      if (found === undefined) throw new Error(`no step ${wanted} among ${done.map((one) => one.name).join(', ')}`);
      return found;
    },
  };
}

class Machine {
  readonly #options: JobOptions;

  constructor(options: JobOptions) {
    this.#options = options;
  }

  /** Leaves the outputs of its steps in `values`. */
  async run(steps: readonly Step[], values: Record<string, string>): Promise<Done[]> {
    values['runner.temp'] = this.#options.temporary;
    const done: Done[] = [];
    for (const step of steps) {
      const failed = done.some(({ outcome }) => outcome === 'failure');
      const isDue = isTrue(step.if ?? 'success()', { values, failed });
      const results = isDue ? await this.#step(step, values) : [skipped(step)];
      done.push(...results);
      const outcome = results.find((one) => one.outcome === 'failure')?.outcome ?? results.at(-1)?.outcome ?? 'skipped';
      if (step.id !== undefined) values[`steps.${step.id}.outcome`] = outcome;
    }
    return done;
  }

  async #step(step: Step, values: Record<string, string>): Promise<Done[]> {
    const fill = (text: unknown) => fillIn(String(text), values);
    const given = Object.fromEntries(Object.entries(step.with ?? {}).map(([name, value]) => [name, fill(value)]));
    if (step.uses === './.github/actions/mediabatch-plan') return this.#action(step, { given, values });
    if (step.run === undefined) {
      return [{ ...skipped(step), name: step.name ?? step.uses ?? '', outcome: 'success', with: given }];
    }
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, fill(value)]));
    const { outputs, ...done } = await this.#shell(step, env, fill(step['working-directory'] ?? this.#options.folder));
    for (const [name, value] of outputs) values[`steps.${step.id}.outputs.${name}`] = value;
    return [{ ...done, name: step.name ?? '', outcome: done.code === 0 ? 'success' : 'failure', with: {} }];
  }

  async #action(step: Step, { given, values }: { given: Record<string, string>; values: Record<string, string> }) {
    const { inputs, outputs, runs } = readAction();
    const inner: Record<string, string> = Object.fromEntries(
      Object.entries(values).filter(([name]) => name.startsWith('github.')),
    );
    for (const [name, { default: usual = '' }] of Object.entries(inputs)) {
      inner[`inputs.${name}`] = this.#options.inputs?.[name] ?? given[name] ?? fillIn(usual, values);
    }
    const done = await this.run(runs.steps, inner);
    for (const [name, { value }] of Object.entries(outputs)) {
      values[`steps.${step.id}.outputs.${name}`] = fillIn(value, inner);
    }
    return done;
  }

  async #shell(step: Step, env: Record<string, string>, cwd: string) {
    const { temporary, onStart, env: around } = this.#options;
    const files = {
      output: join(temporary, 'output'),
      path: join(temporary, 'path'),
      script: join(temporary, 'step.sh'),
    };
    writeFileSync(files.output, '');
    writeFileSync(files.script, step.run ?? '');
    const added = readIfThere(files.path).split('\n').filter(Boolean).reverse();
    const words = step.shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail'] : ['-e'];
    const { child, ended } = startProgram(['bash', ...words, files.script], {
      cwd,
      env: {
        HOME: temporary,
        GITHUB_OUTPUT: files.output,
        GITHUB_PATH: files.path,
        GITHUB_STEP_SUMMARY: join(temporary, 'summary'),
        RUNNER_TEMP: temporary,
        ...around,
        ...env,
        PATH: [...added, standIns(temporary), process.env.PATH].join(delimiter),
      },
    });
    if (child.pid !== undefined && onStart !== undefined) {
      // What a test does at the start of a step is done before the step does anything.
      child.kill('SIGSTOP');
      onStart(step.name ?? '', child.pid);
      child.kill('SIGCONT');
    }
    const { code, said } = await ended;
    const lines = readIfThere(files.output).split('\n').filter(Boolean);
    const outputs = lines.map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    });
    return { code: code ?? 255, said, outputs };
  }
}

/** In place of npm, which would ask the registry: installs the command that was built here. */
function standIns(temporary: string): string {
  const folder = join(temporary, 'stand-ins');
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  write(
    join(folder, 'npm'),
    `test "$1 $2" = "ci --ignore-scripts" && grep -q '"node_modules/mediabatch"' package-lock.json || exit 64
mkdir -p node_modules/.bin && cp "$(dirname "$0")/mediabatch" node_modules/.bin/`,
  );
  write(join(folder, 'mediabatch'), `exec ${process.execPath} ${bin} "$@"`);
  write(join(folder, 'sleep'), 'exit 0');
  return folder;
}

/** What a repository has that names mediabatch among its packages. */
export const packageFiles = {
  'package.json': '{ "private": true, "devDependencies": { "mediabatch": "0.1.0" } }\n',
  'package-lock.json': '{ "lockfileVersion": 3, "packages": { "node_modules/mediabatch": { "version": "0.1.0" } } }\n',
};

function write(path: string, script: string): void {
  writeFileSync(path, `#!/bin/bash\n${script}\n`);
  chmodSync(path, 0o755);
}

function skipped({ name, uses, id }: Step): Done {
  return { name: name ?? uses ?? id ?? '', outcome: 'skipped', code: 0, said: '', with: {} };
}

/** Fills in `${{ … }}`. Throws for an expression that this test gives no value. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{\s*(.+?)\s*\}\}/g, (_all, expression: string) => lookUp(expression, values));
}

function lookUp(expression: string, values: Readonly<Record<string, string>>): string {
  const value = values[expression];
  if (value !== undefined) return value;
  // An output that a step did not set, or of a step that was skipped.
  if (/^steps\.\w+\.(?:outputs\.\w+|outcome)$/.test(expression)) return '';
  throw new Error(`no value for ${expression}`);
}

/** Conditions of these examples: comparisons and `always()`, joined by `&&`. */
function isTrue(text: string, { values, failed }: { values: Record<string, string>; failed: boolean }): boolean {
  const condition = /^\$\{\{\s*(.*?)\s*\}\}$/.exec(text)?.[1] ?? text;
  if (failed && !condition.includes('always()')) return false;
  return condition.split(' && ').every((term) => {
    if (term === 'always()' || term === 'success()') return true;
    const [, left = '', sign, right] = /^(\S+) (==|!=) '(.*)'$/.exec(term) ?? [];
    if (sign === undefined) throw new Error(`cannot read the condition ${term}`);
    return (lookUp(left, values) === right) === (sign === '==');
  });
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

interface Comment {
  databaseId: number;
  body: string;
  viewerDidAuthor: boolean;
}

type Reply = [status: number, body: unknown];

/** A stand-in for GitHub's API, with one pull request, on a socket that the real gh takes for the network. */
export class GitHub {
  readonly comments: Comment[] = [];
  /** Methods and paths, in order. */
  readonly asked: string[] = [];
  /** A token that may only read. */
  readOnly = false;
  #next = 1;

  /** Serves it, and gives the environment in which gh talks to it. */
  static async start(folder: string): Promise<{ github: GitHub; env: Record<string, string>; stop(): void }> {
    const github = new GitHub();
    const socket = join(folder, 'api.sock');
    const server = createServer((request, response) => void github.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const config = join(folder, 'gh');
    mkdirSync(config);
    writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${socket}\n`);
    const env = { GH_CONFIG_DIR: config, GH_REPO: 'team/shop', GH_NO_UPDATE_NOTIFIER: '1' };
    return { github, env, stop: () => server.close() };
  }

  say(body: string, { viewerDidAuthor }: { viewerDidAuthor: boolean }): void {
    this.comments.push({ databaseId: this.#next++, body, viewerDidAuthor });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '' } = request;
    const [status, body] = this.#reply(method, url, Buffer.concat(chunks));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 204 ? '' : JSON.stringify(body));
  }

  #reply(method: string, path: string, bytes: Buffer): Reply {
    if (path === '/graphql') return [200, this.#query(JSON.parse(bytes.toString('utf8')))];
    this.asked.push(`${method} ${path}`);
    if (method !== 'GET' && this.readOnly) return [403, { message: 'Resource not accessible by integration' }];
    const written = /\/issues\/(?:7\/comments|comments\/(\d+))$/.exec(path);
    if (written === null) return [404, { message: 'Not Found' }];
    const { body } = JSON.parse(bytes.toString('utf8')) as { body: string };
    if (body.length > 65_536) return [422, { message: 'body is too long (maximum is 65536 characters)' }];
    const known = this.comments.find(({ databaseId }) => String(databaseId) === written[1]);
    if (known === undefined) this.say(body, { viewerDidAuthor: true });
    else known.body = body;
    return [200, {}];
  }

  #query({ query, variables }: { query: string; variables: { endCursor?: string | null } }): unknown {
    if (!query.includes('comments(first: 100')) return { data: { repository: {} } };
    const from = Number(variables.endCursor ?? 0);
    const nodes = this.comments.slice(from, from + 100);
    const pageInfo = { hasNextPage: from + 100 < this.comments.length, endCursor: String(from + 100) };
    return { data: { repository: { pullRequest: { comments: { nodes, pageInfo } } } } };
  }
}
