import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { outputsToCheck } from '../plan/assemble.ts';
import { type Situation, situate, withFiles } from '../plan/situation/situation.ts';
import { requireGraph } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { inspectOutputs } from './outputs-on-disk.ts';
import { type Answer, agreeToMove, holdGuard, type MoveQuestion } from './read-lock.ts';
import { type LockTerms, type RestoredLock, requireRestoredLock } from './restore-purchases.ts';

export interface HoldTerms {
  /** How long to wait, in ms, while another run has locked the campaign. Defaults to 0. */
  lockTimeoutMs?: number | undefined;
  /** True to return decisions without recording them. */
  dryRun?: boolean | undefined;
  /** Digest of the service that the lock must belong to. Omitted if the command needs no service. */
  service?: string | undefined;
  /** Asks the user to confirm that the service has a new URL. Defaults to `no`. */
  askAboutMove?: ((question: MoveQuestion) => Promise<Answer>) | undefined;
}

export class Session {
  readonly campaign: OpenCampaign;
  /** Graph to which no review decisions have been applied yet. */
  readonly graph: Graph;
  readonly loaded: RestoredLock;
  #situation: Situation | undefined;

  constructor(campaign: OpenCampaign, graph: Graph, loaded: RestoredLock) {
    this.campaign = campaign;
    this.graph = graph;
    this.loaded = loaded;
  }

  static async open(campaign: OpenCampaign, { graph, ...terms }: LockTerms & { graph?: Graph } = {}): Promise<Session> {
    const own = graph ?? (await requireGraph(campaign));
    return new Session(campaign, own, await requireRestoredLock(campaign, own, terms));
  }

  static async withLock<T>(
    campaign: OpenCampaign,
    terms: HoldTerms,
    use: (session: Session) => Promise<T>,
  ): Promise<T> {
    const { lockTimeoutMs = 0, dryRun = false, service, askAboutMove } = terms;
    const graph = await requireGraph(campaign);
    const guard = dryRun ? undefined : await holdGuard(campaign.paths.lock, lockTimeoutMs, campaign.notify);
    try {
      const session = await Session.open(campaign, { graph, service, serviceMoved: askAboutMove !== undefined });
      if (askAboutMove !== undefined && !dryRun) await agreeToMove(session.loaded, campaign, askAboutMove);
      return await use(session);
    } finally {
      await guard?.release();
    }
  }

  get lock(): Lock {
    return this.loaded.lock;
  }

  get situation(): Situation {
    this.#situation ??= situate(this.graph, this.lock);
    return this.#situation;
  }

  async inspect() {
    const { states, facts } = await inspectOutputs(outputsToCheck(this.situation.matches), this.campaign);
    return { states, situation: withFiles(this.situation, facts) };
  }
}
