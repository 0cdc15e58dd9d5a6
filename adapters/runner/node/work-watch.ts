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
  /** Called before each query: its answer reflects everything that the server acknowledged before. */
  readonly onAsk: () => void;
}

const retryPause = 500;

/** Queries the server for the work of a node: first for everything, then for changes. */
export class WorkWatch {
  readonly #options: WorkWatchOptions;
  /** Index of the blocking query; 0 asks for everything. */
  #after = 0;
  /** Aborted to ask for everything instead. */
  #asking = new AbortController();

  constructor(options: WorkWatchOptions) {
    this.#options = options;
  }

  /** The next answer; undefined after the end of the watch. */
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
      // The server may return with an older store, whose lower indexes mean other changes.
      this.#after = 0;
      await onFailure(listed.error);
      await clock.sleep(retryPause, signal);
    }
    return undefined;
  }

  /** The server may have lost reports: the next query asks for everything. */
  startOver(): void {
    this.#after = 0;
    this.#asking.abort();
  }
}
