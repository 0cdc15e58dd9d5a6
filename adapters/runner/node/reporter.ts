import type { AllocationReport, FailureOutput } from '../../../src/agent/link/node-work.js';
import { reportsOfOneMessage } from '../../../src/agent/link/report-size.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Background } from '../background.js';

/** An allocation as the reporter sees it. */
export interface Reported {
  readonly isDone: boolean;
  report(): AllocationReport;
  /** What explains its end, if that was a failure. */
  failureOutput(): Promise<FailureOutput | undefined>;
}

interface ReporterOptions {
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly background: Background;
  readonly nodeId: string;
  readonly find: (allocationId: string) => Reported | undefined;
  /** Ended allocations whose folders are still there. */
  readonly kept: () => readonly string[];
  /** The server has the report: `ended` allocations are over for it, `unknown` ones are none of this node's. */
  readonly onTold: (told: { readonly ended: readonly string[]; readonly unknown: readonly string[] }) => void;
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
}

const retryPause = 500;
/** Allocations in one report: the server takes a report in one write. */
const reportedAtOnce = 32;

/**
 * Reports changes to the server, one report at a time: what changes while a report is under way is part of the next one. A
 * report that fails is made again from the state at that time.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #changed = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #closed = new AbortController();
  #asksForKept = false;
  #reporting: Promise<void> | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  changed(allocationId: string): void {
    this.#changed.add(allocationId);
    this.#wake();
  }

  /** Nothing is left of an allocation that the server had nothing more to do with. */
  ended(allocationId: string): void {
    this.#gone.add(allocationId);
    this.#wake();
  }

  /** Asks the server which of the ended allocations that are kept it knows no more. */
  askForKept(): void {
    this.#asksForKept = true;
    this.#wake();
  }

  /** Resolves when everything has been reported, or when the reporter is closed. */
  async flushed(): Promise<void> {
    while (this.#reporting !== undefined) await this.#reporting;
  }

  close(): void {
    this.#closed.abort();
  }

  #wake(): void {
    if (this.#reporting !== undefined || this.#closed.signal.aborted) return;
    this.#reporting = this.#reportAll();
    this.#options.background.run('reporting', this.#reporting);
  }

  async #reportAll(): Promise<void> {
    try {
      while (this.#hasNews() && !this.#closed.signal.aborted) {
        // Changes of this turn of the loop go together.
        await new Promise((resolve) => setImmediate(resolve));
        await this.#reportOnce();
      }
    } finally {
      this.#reporting = undefined;
    }
  }

  #hasNews(): boolean {
    return this.#changed.size > 0 || this.#gone.size > 0 || this.#asksForKept;
  }

  async #reportOnce(): Promise<void> {
    const { link, clock, nodeId, find, onTold, onFailure } = this.#options;
    const { changed, ended, kept } = this.#takeNews();
    const found = changed.flatMap((id) => find(id) ?? []);
    if (found.length === 0 && ended.length === 0 && kept.length === 0) return;
    // Both are read now: an allocation may continue to its end while the report is under way.
    const states = found.map((allocation) => ({ allocation, done: allocation.isDone, report: allocation.report() }));
    const all = await Promise.all(states.map(withOutput));
    const reports = reportsOfOneMessage(all);
    for (const { report } of all.slice(reports.length)) this.#changed.add(report.allocationId);
    const outcome = await link.report({
      nodeId,
      reports: reports.map(({ report }) => report),
      ...(ended.length === 0 ? {} : { ended }),
      ...(kept.length === 0 ? {} : { kept }),
    });
    if (outcome.isOk()) {
      const over = reports.filter(({ done }) => done).map(({ report }) => report.allocationId);
      return onTold({ ended: over, unknown: outcome.value.unknown });
    }
    for (const id of changed) this.#changed.add(id);
    for (const id of ended) this.#gone.add(id);
    this.#asksForKept ||= kept.length > 0;
    await onFailure(outcome.error);
    await clock.sleep(retryPause, this.#closed.signal);
  }

  /** Some changes; with the last of them, what else there is to report. */
  #takeNews(): { readonly changed: string[]; readonly ended: string[]; readonly kept: readonly string[] } {
    const changed = [...this.#changed].slice(0, reportedAtOnce);
    for (const id of changed) this.#changed.delete(id);
    if (this.#changed.size > 0) return { changed, ended: [], kept: [] };
    const ended = [...this.#gone];
    const kept = this.#asksForKept ? this.#options.kept() : [];
    this.#gone.clear();
    this.#asksForKept = false;
    return { changed, ended, kept };
  }
}

interface ReportedState {
  readonly allocation: Reported;
  readonly done: boolean;
  readonly report: AllocationReport;
}

async function withOutput({ allocation, done, report }: ReportedState): Promise<Omit<ReportedState, 'allocation'>> {
  const output = done ? await allocation.failureOutput() : undefined;
  return { done, report: output === undefined ? report : { ...report, output } };
}
