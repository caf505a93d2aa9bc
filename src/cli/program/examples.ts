import type { Command } from 'commander';
import { faint, line, table } from '../../report/document.ts';
import { terminalText } from '../../report/render/terminal-text.ts';
import type { Style } from '../../report/style.ts';

/**
 * A line for a shell, and what it does. `not run`: it needs a real service or something that happens by accident; `until
 * Ctrl-C`: it ends when somebody ends it; `at gates`: it is about draft-to-final; `asks`: it waits for a yes.
 */
export type Example = readonly [line: string, about: string, how?: 'not run' | 'until Ctrl-C' | 'at gates' | 'asks'];

/** Examples by the full name of a command. A test runs those of each command in a folder of the quickstart, or at gates. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  init: [
    ['mediabatch init spring', 'a small campaign, in a new folder'],
    ['mediabatch init grid --example product-grid', 'another one; --list shows all'],
    ['mediabatch init launch --from-csv products.csv', 'a picture for each row of your own table'],
  ],
  validate: [
    ['mediabatch validate', 'campaign.yaml of this folder'],
    ['mediabatch validate --sandbox', 'by the document of the embedded service, too'],
    ['mediabatch validate --var-file north.yaml', 'with the variables of a market'],
    ['mediabatch validate --format github', 'annotates lines in a pull request'],
  ],
  schema: [
    ['mediabatch schema helpers', 'what templates can do'],
    ['mediabatch schema kinds', 'what can be made, with every field'],
    ['mediabatch schema > mediabatch.schema.json', 'for editors, as init writes it'],
  ],
  plan: [
    ['mediabatch plan', 'what a run would do, and what it costs'],
    ['mediabatch plan --select +cover', 'the cover, with what it is made from'],
    ['mediabatch plan --sandbox --out campaign.plan.json', 'to be reviewed, then applied exactly so'],
    ['mediabatch plan --sandbox --compare HEAD', 'what changed since the last commit'],
    ['mediabatch plan --sandbox --compare HEAD --format markdown', 'for a comment on a pull request'],
  ],
  apply: [
    ['mediabatch apply --sandbox', 'a rehearsal with play money', 'asks'],
    ['mediabatch apply --sandbox --yes --redo hero@lamp,9:16', 'buys one picture again'],
    ['mediabatch apply --sandbox --review', 'draft, pick, final: a page opens, the run waits', 'not run'],
    ['mediabatch apply --max-credits 50', 'for real, with a cap for this run', 'not run'],
    ['mediabatch apply campaign.plan.json', 'what was planned, and nothing else', 'not run'],
  ],
  approve: [
    ['mediabatch approve campaign.plan.json', 'shows it, and asks', 'not run'],
    ['mediabatch approve campaign.plan.json --rows', 'every prompt, text, voice and model', 'not run'],
    ['mediabatch approve campaign.plan.json --valid 12h', 'for today only', 'not run'],
    ['mediabatch approve --list', 'what was approved here'],
    ['mediabatch approve --revoke campaign.plan.json', 'takes it back', 'not run'],
  ],
  status: [
    ['mediabatch status', 'done, running, failed; credits'],
    ['mediabatch status --sandbox --list', 'step by step'],
    ['mediabatch status --sandbox --follow', 'the run in another terminal, as it goes on'],
    ['mediabatch status --sandbox --select kind:image --json', 'for a program'],
    ['mediabatch status --sandbox --graph', 'dependencies as Mermaid, for a README'],
    ['mediabatch status --graph --list --select +cover', 'one step with all it is made from'],
  ],
  review: [
    ['mediabatch review --sandbox', 'opens the page; Ctrl-C ends it', 'not run'],
    ['mediabatch review --no-open --port 4020', 'prints the address only', 'not run'],
    ['mediabatch review -s hero', 'one task of many', 'not run'],
  ],
  report: [
    ['mediabatch report --sandbox --out gallery', 'a folder for any browser'],
    ['mediabatch report --sandbox --single-file gallery.html', 'one file, small pictures only'],
    ['mediabatch report --compare main --copy', 'before and after, to be sent as a folder', 'not run'],
  ],
  runs: [
    ['mediabatch runs', 'when, how they ended, what they cost'],
    ['mediabatch runs --sandbox --json', 'rehearsals, for a program'],
  ],
  'runs show': [
    ['mediabatch runs show k3f9', 'the end of its id will do', 'not run'],
    ['mediabatch runs show --sandbox 2026-11-22-0435-k3f9 --json', 'for a program', 'not run'],
  ],
  cost: [
    ['mediabatch cost --sandbox --by kind,month', 'where credits went'],
    ['mediabatch cost --sandbox --all --by campaign,month', 'of every campaign of this repository'],
    ['mediabatch cost --sandbox --since HEAD --format csv', 'since the last commit, for a spreadsheet'],
  ],
  outputs: [
    ['mediabatch outputs --sandbox', 'what there is, and what it was made for'],
    ['mediabatch outputs --sandbox --out outputs.csv', 'for a spreadsheet'],
    ['mediabatch outputs --sandbox -s kind:image --picked --format json', 'for a program'],
    ['mediabatch outputs --sandbox --sidecar', 'and beside each file what is known'],
  ],
  deliver: [
    ['mediabatch deliver --sandbox --to delivery --picked', 'all but what was not picked', 'at gates'],
    ["mediabatch deliver --sandbox --to shop -s song --layout 'songs/{{key}}'", 'under names of your own'],
    ['mediabatch deliver --sandbox --to delivery --dry-run', 'which files; copies nothing', 'at gates'],
  ],
  explain: [
    ['mediabatch explain hero@lamp,1:1', 'why it would be bought'],
    ['mediabatch explain --sandbox song@spring', 'the same with play money'],
    ['mediabatch explain hero@lamp,1:1 --request', 'the request as it is sent'],
    ['mediabatch explain hero@lamp,1:1 --origins', 'where each of its values comes from'],
    ['mediabatch explain --origins --json', 'every step with all its values, for a program'],
  ],
  accept: [
    ['mediabatch accept --sandbox --select state:changed --dry-run', 'all that changed; records nothing yet'],
    ['mediabatch accept --sandbox hero@lamp,1:1', 'a picture that was retouched by hand'],
  ],
  pick: [
    ['mediabatch pick --sandbox teaser', 'approves it', 'at gates'],
    ["mediabatch pick --sandbox 'draft@*/1' --note 'seen by Ada'", 'of each product this take, and why', 'at gates'],
    ['mediabatch pick --sandbox --from ada.json --from bo.json', 'where two people agree', 'at gates'],
    ['mediabatch pick --sandbox draft@lamp/2 --undo', 'its gate is open again', 'at gates'],
  ],
  reject: [
    ['mediabatch reject --sandbox draft@lamp', 'all of its takes; --redo draft@lamp buys others', 'at gates'],
    ['mediabatch reject --sandbox draft@lamp/1 --note dark', 'says why', 'at gates'],
  ],
  pin: [
    ['mediabatch pin --sandbox hero@lamp,9:16', 'an approved picture stays'],
    ['mediabatch pin --sandbox --select kind:music', 'every song'],
    ['mediabatch pin --sandbox hero@clock,1:1 --undo', 'the manifest decides again'],
  ],
  move: [
    ['mediabatch move --sandbox song@winter song@autumn', 'it is the song of autumn now'],
    ['mediabatch move song@winter song@autumn --dry-run', 'shows it, records nothing', 'not run'],
  ],
  forget: [
    ['mediabatch forget --sandbox hero@vase,1:1', 'as if it had never been bought'],
    ['mediabatch forget --sandbox --orphans', 'everything that the manifest no longer has'],
  ],
  adopt: [
    ['mediabatch adopt --sandbox --dry-run', 'which jobs fit; records nothing'],
    ['mediabatch adopt --job 68d1f0c2', 'of several candidates this one', 'not run'],
    ['mediabatch adopt hero@lamp,1:1 --job 68d1f0c2 --dry-run', 'a job that was bought elsewhere', 'not run'],
    ['mediabatch adopt song@spring --job 68d1f0c2 --credits 5 --offline', 'without querying the service', 'not run'],
  ],
  resolve: [
    ['mediabatch resolve song@spring --job 68d1f0c2 --credits 5', 'it was charged, and this is its job', 'not run'],
    ['mediabatch resolve song@spring --not-spent', 'it was not charged', 'not run'],
    ['mediabatch resolve song@spring --spend-again', 'buy it, whatever happened', 'not run'],
  ],
  unlock: [
    ['mediabatch unlock --id 4f1c2b7a', 'the id that the refusal showed', 'not run'],
    ['mediabatch unlock --sandbox --id 4f1c2b7a', 'the same with play money', 'not run'],
  ],
  gc: [
    ['mediabatch gc --sandbox --dry-run', 'files that no step refers to'],
    ['mediabatch gc --sandbox --yes', 'deletes it without asking'],
    ['mediabatch gc --sandbox --unpicked --yes', 'takes that lost at their gates', 'at gates'],
    ['mediabatch gc --sandbox --kept --yes', 'what newer outputs replaced'],
  ],
  destroy: [
    ['mediabatch destroy --sandbox song@spring --yes', 'the record of one song at the service'],
    ['mediabatch destroy --orphans', 'what the manifest no longer has; asks first', 'not run'],
  ],
  list: [
    ['mediabatch list voices --gender female', 'find a voice'],
    ['mediabatch list jobs --sandbox --limit 5', 'the newest jobs'],
  ],
  'list voices': [
    ['mediabatch list voices --gender female --accent british', 'a choice of them'],
    ['mediabatch list voices --json', 'for a program'],
  ],
  'list models': [
    ['mediabatch list models --kind image', 'with their credits'],
    ['mediabatch list models --json', 'for a program'],
  ],
  'list accounts': [
    ['mediabatch list accounts', 'where posts can go', 'not run'],
    ['mediabatch list accounts --sandbox', 'those of the embedded service'],
  ],
  'list jobs': [
    ['mediabatch list jobs --sandbox --limit 5', 'the newest'],
    ['mediabatch list jobs --unknown', 'bought, and on record in no lock here', 'not run'],
  ],
  'list uploads': [
    ['mediabatch list uploads', 'where the service has a list', 'not run'],
    ['mediabatch list uploads --json', 'for a program', 'not run'],
  ],
  upload: [
    ['mediabatch upload --sandbox logo.png', 'prints its URL'],
    ['mediabatch upload --sandbox --json logo.png', 'for a program'],
  ],
  worker: [
    ['mediabatch worker', 'MEDIABATCH_ENGINE is set', 'not run'],
    ['mediabatch worker --engine postgres://me@db/media --store /mnt/media', 'and fetches files', 'not run'],
    ['mediabatch worker --engine postgres://me@db/media --exit-when-idle', 'for CI', 'not run'],
    ['mediabatch worker --store s3://media/spring --log json', 'for log collectors', 'not run'],
    ['mediabatch worker --limit 400/day,2000/month', 'whatever the campaigns', 'not run'],
    ['mediabatch worker --port 9102 --host 0.0.0.0', 'health and figures for Prometheus', 'not run'],
  ],
  cancel: [
    ['mediabatch cancel', 'MEDIABATCH_ENGINE is set', 'not run'],
    ['mediabatch cancel shop.yaml --engine postgres://me@db/media', 'that of another campaign', 'not run'],
  ],
  pause: [
    ['mediabatch pause', 'MEDIABATCH_ENGINE is set', 'not run'],
    ['mediabatch pause shop.yaml --engine postgres://me@db/media', 'that of another campaign', 'not run'],
  ],
  resume: [
    ['mediabatch resume', 'MEDIABATCH_ENGINE is set', 'not run'],
    ['mediabatch resume shop.yaml --engine postgres://me@db/media', 'that of another campaign', 'not run'],
  ],
  workers: [
    ['mediabatch workers', 'as it is now', 'not run'],
    ['mediabatch workers --engine postgres://me@db/media --json', 'for a program', 'not run'],
    ['mediabatch workers --campaign spring --state ended', 'earlier runs of one campaign', 'not run'],
    ['mediabatch workers --check', 'for monitoring: 69 if anything is wrong', 'not run'],
  ],
  engine: [
    ['mediabatch engine migrate', 'MEDIABATCH_ENGINE is set', 'not run'],
    ['mediabatch engine migrate --grant media', 'for the role of workers', 'not run'],
  ],
  'engine migrate': [
    ['mediabatch engine migrate', 'MEDIABATCH_ENGINE is set', 'not run'],
    [
      'mediabatch engine migrate --engine postgres://owner@db/media --grant media',
      'for the role of workers',
      'not run',
    ],
  ],
  doctor: [
    ['mediabatch doctor --sandbox', 'the locks of this folder and the embedded service'],
    ['mediabatch doctor', 'key, clock and service as well', 'not run'],
  ],
  sandbox: [
    ['mediabatch sandbox', 'on port 4010, with a page to look at', 'not run'],
    ['mediabatch sandbox --port 0 --credits 500 --speed 20', 'on a free port, and fast', 'until Ctrl-C'],
  ],
  help: [
    ['mediabatch help recovery', 'a page of the manual: what if it dies while paying?'],
    ['mediabatch help validate', 'what a command can do'],
    ['mediabatch help MB1203', 'what a code means'],
  ],
};

/** Ends the help of every command with its examples. */
export function addExamples(program: Command, style: () => Style): void {
  program.addHelpText('afterAll', ({ command }) => {
    const own = examples[fullName(command)];
    return own === undefined ? '' : examplesText(own, style());
  });
}

/** `list jobs`; of the program itself nothing. */
function fullName(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${fullName(parent)} ${command.name()}`.trim();
}

/** Every command by its full name: `list jobs`. */
export function namedCommands(command: Command, before: readonly string[] = []): [string, Command][] {
  return shownCommands(command).flatMap((one) => {
    const path = [...before, one.name()];
    return [[path.join(' '), one] as [string, Command], ...namedCommands(one, path)];
  });
}

/** Returns all commands that help shows. */
export function shownCommands(command: Command): readonly Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => visible.includes(one));
}

function examplesText(own: readonly Example[], style: Style): string {
  const rows = own.map(([example, about]) => [example, faint(`# ${about}`)]);
  return `\n${terminalText([line('Examples:', [table([{ title: '' }, { title: '' }], rows)])], { style })}`;
}
