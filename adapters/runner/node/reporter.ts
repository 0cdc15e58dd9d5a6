import type { AllocationReport, FailureOutput } from '../../../src/agent/link/node-work.js';
import { reportsOfOneMessage } from '../../../src/agent/link/relay.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Background } from '../waiting.js';

/** The reporter's view of an allocation. */
export interface Reported {
  readonly isDone: boolean;
  report(): AllocationReport;
  /** The last output of the task that failed, if one did. */
  failureOutput(): Promise<FailureOutput | undefined>;
}

interface ReporterOptions {
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly background: Background;
  readonly nodeId: string;
  readonly find: (allocationId: string) => Reported | undefined;
  /** Ended allocations whose folders still exist. */
  readonly kept: () => readonly string[];
  /** Called when the server has acknowledged a report: `unknown` allocations do not exist on this node for the server. */
  readonly onReported: (reported: { readonly ended: readonly string[]; readonly unknown: readonly string[] }) => void;
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
}

const retryPause = 500;
/** The most allocations in one report: the server stores a report in one write. */
const reportedAtOnce = 32;

/**
 * Reports changes to the server, one report at a time: changes during a report are part of the next one. A
 * failed report is repeated with the state at that time.
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

  /** Forgets an allocation that the server no longer managed and that has ended. */
  ended(allocationId: string): void {
    this.#gone.add(allocationId);
    this.#wake();
  }

  /** Asks the server which of the kept ended allocations it no longer knows. */
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
        // Changes in the same turn of the event loop share a report.
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
    const { link, clock, nodeId, find, onReported, onFailure } = this.#options;
    const { changed, ended, kept } = this.#takeNews();
    const found = changed.flatMap((id) => find(id) ?? []);
    if (found.length === 0 && ended.length === 0 && kept.length === 0) return;
    // Both are read now: an allocation may end while the report is under way.
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
      return onReported({ ended: over, unknown: outcome.value.unknown });
    }
    for (const id of changed) this.#changed.add(id);
    for (const id of ended) this.#gone.add(id);
    this.#asksForKept ||= kept.length > 0;
    await onFailure(outcome.error);
    await clock.sleep(retryPause, this.#closed.signal);
  }

  /** The next batch of changes; the last batch also asks about the kept allocations. */
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
