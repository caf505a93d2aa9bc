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
    const inputs = new ManifestInputs(this.#campaign.file);
    if (this.#known === undefined || !(await inputs.areAnsweredAlike(this.#known.asked))) {
      this.#known = await requireTracedGraph(this.#campaign);
    }
    return this.#known.graph;
  }
}
