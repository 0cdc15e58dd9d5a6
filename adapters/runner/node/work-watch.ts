import type { NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';

interface WorkWatchOptions {
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly nodeId: string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
  /** A question is about to be asked: its answer knows everything that the server has acknowledged before. */
  readonly onAsk: () => void;
}

const retryPause = 500;

/** Asks the server for the work of a node: at first for everything, then for what has changed since. */
export class WorkWatch {
  readonly #options: WorkWatchOptions;
  /** Index that is waited after; 0 asks for everything. */
  #after = 0;
  /** Aborted when everything is to be asked for instead. */
  #asking = new AbortController();

  constructor(options: WorkWatchOptions) {
    this.#options = options;
  }

  /** The next answer; undefined when the watch has ended. */
  async next(): Promise<NodeWorkList | undefined> {
    const { link, clock, nodeId, signal, onFailure, onAsk } = this.#options;
    while (!signal.aborted) {
      this.#asking = new AbortController();
      const { signal: overtaken } = this.#asking;
      onAsk();
      const listed = await link.work({ nodeId, after: this.#after }, AbortSignal.any([signal, overtaken]));
      if (signal.aborted) return undefined;
      if (overtaken.aborted) continue;
      if (listed.isOk()) {
        this.#after = listed.value.index;
        return listed.value;
      }
      // The server may come back with an older store, whose indexes are lower and report something else.
      this.#after = 0;
      await onFailure(listed.error);
      await clock.sleep(retryPause, signal);
    }
    return undefined;
  }

  /** The server may have forgotten what there was to report: the next answer is everything. */
  startOver(): void {
    this.#after = 0;
    this.#asking.abort();
  }
}
