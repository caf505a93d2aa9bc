import { requireTracedGraph } from '../campaign/load-manifest.ts';
import { type Asked, ManifestInputs } from '../campaign/manifest-inputs.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import type { Graph } from '../graph/graph.ts';

/** The graph of a manifest that somebody may be editing: it is made anew only when a file that it is made from has changed. */
export class LatestGraph {
  readonly #campaign: OpenCampaign;
  #known: { graph: Graph; asked: readonly Asked[] } | undefined;

  constructor(campaign: OpenCampaign) {
    this.#campaign = campaign;
  }

  /** Rejects with a `CampaignError` while the manifest has mistakes. */
  async get(): Promise<Graph> {
    if (this.#known === undefined || !(await this.#isAnsweredAlike(this.#known.asked))) {
      this.#known = await requireTracedGraph(this.#campaign);
    }
    return this.#known.graph;
  }

  async #isAnsweredAlike(asked: readonly Asked[]): Promise<boolean> {
    const inputs = new ManifestInputs(this.#campaign.file);
    for (const question of asked) if (!(await inputs.isAnsweredAlike(question))) return false;
    return true;
  }
}
