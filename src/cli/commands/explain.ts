import { manifestErrors, requireTracedGraph } from '../../campaign/load-manifest.ts';
import { makePlan } from '../../campaign/make-plan.ts';
import { findFinishedJobs } from '../../campaign/runs.ts';
import { requireStep } from '../../campaign/select-steps.ts';
import { Session } from '../../campaign/session.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { defined } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { jsonOf } from '../../report/document.ts';
import { expandJson, expandText, explainView, makeExpansion } from '../../report/plan/explain-text.ts';
import { type Flags, open, type StateOptions } from '../open.ts';
import { noticePrinter, outAs, outJson, type Terminal } from '../terminal.ts';
import { loadLocally } from './validate.ts';

type Context = { options: StateOptions & Flags<'request' | 'origins' | 'json'>; terminal: Terminal };

export async function explain(file: string, name: string | undefined, context: Context): Promise<void> {
  const { options, terminal } = context;
  if (options.origins === true) return printOrigins(file, name, context);
  if (name === undefined) {
    const hint = way(
      'give the address of a step, as the plan shows it, or print all values of every step',
      call('explain', '--origins'),
    );
    throw new CampaignError({ code: 'MB3000', message: 'explain: no step was given', hint, options: ['--origins'] });
  }
  const campaign = await open(file, options, terminal);
  const { graph, origins } = await requireTracedGraph(campaign);
  if (options.request === true) {
    const step = requireStep(name, graph);
    terminal.err(`${terminal.style.dim(`POST {base_url}${kinds[step.kind]?.create.paths[0] ?? ''}`)}\n`);
    outJson(terminal, step.request);
    return;
  }
  const session = await Session.open(campaign, { graph });
  const { plan } = await makePlan(session, { origins }, {});
  const step = requireStep(name, session.situation.graph);
  const { address } = step;
  const row = plan.rows.find((candidate) => candidate.address === address);
  if (row === undefined) throw new Error(`internal error: no row for ${address}`);
  const record = session.lock.steps.get(row.order?.movedFrom ?? address);
  const unsaved = (await findFinishedJobs(campaign.paths, session.lock)).get(row.order?.jobId ?? '');
  const explanation = { row, step, ...defined({ unsaved, record }) };
  await outAs(terminal, options, {
    text: () => explainView(explanation, terminal.paste),
    json: () => jsonOf('explanation', explanation),
  });
}

async function printOrigins(file: string, name: string | undefined, { options, terminal }: Context): Promise<void> {
  const { graph, manifest, origins, diagnostics, sources } = await loadLocally(file, options, terminal);
  if (graph === undefined || manifest === undefined || hasErrors(diagnostics)) {
    throw manifestErrors(file, { diagnostics, sources });
  }
  noticePrinter(terminal)({ is: 'diagnostics', diagnostics, sources });
  const whole = makeExpansion(graph, manifest, origins?.filesOf);
  const only = name === undefined ? undefined : requireStep(name, graph).address;
  const steps = whole.steps.filter(({ address }) => only === undefined || address === only);
  const expansion = { ...whole, steps };
  await outAs(terminal, options, { text: () => expandText(expansion), json: () => expandJson(expansion) });
}
